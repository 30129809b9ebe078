/** Encodes and decodes whole answers of the messages format. */
import type { Block, ChatRequest, ChatResponse, Usage } from '../canonical.ts';
import { writeJson } from '../exact-json.ts';
import { isObject, objectOf, objectsOf, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { openSeal, writeSeal } from '../seals.ts';
import { argumentsOf } from '../tool-calls.ts';
import { failureInsideAnswer, unreadableAnswer } from '../upstream-errors.ts';
import {
  NAME,
  readCitation,
  readFinish,
  readUsage,
  safeId,
  writeCitation,
  writeFinish,
  writeUsage,
} from './wire.ts';

/** Encodes the first choice of an answer as a `message` object; this format has no others. */
export function encodeResponse(response: ChatResponse, request: ChatRequest): JsonObject {
  const [choice = { blocks: [], finish: 'stop' as const }] = response.choices;
  return {
    ...messageHead(response, request),
    content: choice.blocks.flatMap(writeBlock),
    stop_reason: writeFinish(choice),
    stop_sequence: choice.stopSequence ?? null,
    usage: writeUsage(response),
  };
}

/** The first fields of a `message` object, whole or streamed. */
export function messageHead(
  { id, model }: { id: string; model: string },
  request: Pick<ChatRequest, 'model'>,
): JsonObject {
  return { id: id || 'msg_0', type: 'message', role: 'assistant', model: model || request.model };
}

function writeBlock(block: Block): JsonObject[] {
  const carrier = sealCarrier(block);
  switch (block.kind) {
    case 'text':
      return block.text ? [...carrier, writeText(block)] : carrier;
    case 'refusal':
    // Only the transcript of a medium can be encoded.
    case 'media':
      return block.text ? [{ type: 'text', text: block.text }] : [];
    case 'reasoning':
      return [writeReasoning(block)];
    case 'tool-call':
      return [
        ...carrier,
        { type: 'tool_use', id: safeId(block.id), name: block.name, input: argumentsOf(block) },
      ];
    case 'native':
      return block.dialect === NAME ? [block.value] : [];
  }
}

function writeText({ text, citations }: Block): JsonObject {
  return { type: 'text', text, ...(citations ? { citations: citations.map(writeCitation) } : {}) };
}

function writeReasoning({ text, seal, ...head }: Block): JsonObject {
  const value = seal ? writeSeal(seal, NAME) : '';
  if (head.kind === 'reasoning' && head.redacted) return { type: 'redacted_thinking', data: value };
  return { type: 'thinking', thinking: text, signature: value };
}

/**
 * The redacted block that carries the seal of a text or a tool call, if it has one. Clients send such blocks
 * back unchanged (seals.ts).
 */
export function sealCarrier({ kind, seal }: Pick<Block, 'kind' | 'seal'>): JsonObject[] {
  if (!seal || (kind !== 'text' && kind !== 'tool-call')) return [];
  return [{ type: 'redacted_thinking', data: writeSeal(seal, NAME, true) }];
}

/**
 * Decodes an upstream's answer. Throws `upstream_failed` or `upstream_busy` if the body is an error or no
 * answer.
 */
export function decodeResponse(wire: unknown): ChatResponse {
  const body = objectOf(wire);
  if (isObject(body.error)) throw failureInsideAnswer(textOf(body.error.type));
  if (!Array.isArray(body.content)) throw unreadableAnswer('no content');
  const blocks = [...objectsOf(body.content).map(readBlock), ...readRefusal(body)];
  const stopSequence = textOf(body.stop_sequence);
  const finish = readFinish(textOf(body.stop_reason), new Set(blocks.map(({ kind }) => kind)));
  const usage: Usage = readUsage(objectOf(body.usage));
  return {
    id: textOf(body.id),
    model: textOf(body.model),
    ...usage,
    choices: [{ blocks, finish, ...(stopSequence ? { stopSequence } : {}) }],
  };
}

/** The explanation of a refusal, which this format keeps outside the content. */
export function readRefusal({ stop_details: details }: JsonObject): Block[] {
  const { explanation } = objectOf(details);
  return typeof explanation === 'string' && explanation ? [{ kind: 'refusal', text: explanation }] : [];
}

/** Decodes a whole block of an upstream's answer. Blocks of unknown types become native. */
export function readBlock(wire: JsonObject): Block {
  switch (wire.type) {
    case 'text': {
      const citations = objectsOf(wire.citations).map(readCitation);
      return { kind: 'text', text: textOf(wire.text), ...(citations.length > 0 ? { citations } : {}) };
    }
    case 'thinking': {
      const signature = textOf(wire.signature);
      return {
        kind: 'reasoning',
        text: textOf(wire.thinking),
        ...(signature ? { seal: openSeal(signature, NAME).seal } : {}),
      };
    }
    case 'redacted_thinking': {
      return { kind: 'reasoning', redacted: true, text: '', seal: openSeal(textOf(wire.data), NAME).seal };
    }
    case 'tool_use': {
      const input = isObject(wire.input) ? writeJson(wire.input) : '{}';
      return { kind: 'tool-call', id: textOf(wire.id), name: textOf(wire.name), text: input };
    }
    default:
      return { kind: 'native', dialect: NAME, value: wire, text: '' };
  }
}
