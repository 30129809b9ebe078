/** Decodes whole answers of the Converse format. */
import type { Block, ChatResponse } from '../canonical.ts';
import { writeJson } from '../exact-json.ts';
import { isObject, objectOf, objectsOf, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { openSeal } from '../seals.ts';
import { unreadableAnswer } from '../upstream-errors.ts';
import {
  NAME,
  readCitation,
  readFinish,
  readMedia,
  readStopSequence,
  readUsage,
  reasoningOf,
} from './wire.ts';

/** Decodes an upstream's answer. Throws `upstream_failed` if the body is no answer. */
export function decodeResponse(wire: unknown): ChatResponse {
  const body = objectOf(wire);
  const { content } = objectOf(objectOf(body.output).message);
  if (!Array.isArray(content)) throw unreadableAnswer('no content');
  const blocks = objectsOf(content).map(readBlock);
  const stopSequence = readStopSequence(body);
  const finish = readFinish(textOf(body.stopReason), new Set(blocks.map(({ kind }) => kind)));
  return {
    // The format names neither the answer nor the model.
    id: '',
    model: '',
    ...readUsage(body),
    choices: [{ blocks, finish, ...(stopSequence ? { stopSequence } : {}) }],
  };
}

function readBlock(wire: JsonObject): Block {
  if (typeof wire.text === 'string') return { kind: 'text', text: wire.text };
  const thinking = reasoningOf(wire);
  if (thinking) return readReasoning(thinking);
  const call = objectOf(wire.toolUse);
  if (isObject(wire.toolUse) && call.type !== 'server_tool_use') {
    const input = isObject(call.input) ? writeJson(call.input) : '{}';
    return { kind: 'tool-call', id: textOf(call.toolUseId), name: textOf(call.name), text: input };
  }
  if (isObject(wire.citationsContent)) return readCited(wire.citationsContent);
  for (const type of ['image', 'audio'] as const) {
    const media = isObject(wire[type]) ? readMedia(type, objectOf(wire[type])) : undefined;
    if (media) return { kind: 'media', media, text: '' };
  }
  return { kind: 'native', dialect: NAME, value: wire, text: '' };
}

function readReasoning({ reasoningText, redactedContent }: JsonObject): Block {
  if (typeof redactedContent === 'string')
    return { kind: 'reasoning', redacted: true, text: '', seal: openSeal(redactedContent, NAME).seal };
  const { text, signature } = objectOf(reasoningText);
  const seal = textOf(signature);
  return { kind: 'reasoning', text: textOf(text), ...(seal ? { seal: openSeal(seal, NAME).seal } : {}) };
}

function readCited({ content, citations }: JsonObject): Block {
  const text = objectsOf(content)
    .map((part) => textOf(part.text))
    .join('');
  const found = objectsOf(citations).map(readCitation);
  return { kind: 'text', text, ...(found.length > 0 ? { citations: found } : {}) };
}
