/** Decodes the items of an answer's `output`. */
import type { Block } from '../canonical.ts';
import { objectsOf, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { readTokenLogprobs } from '../openai-answers.ts';
import { openSeal } from '../seals.ts';
import { NAME, readCitation } from './wire.ts';

/** Decodes one item of `output` into blocks. */
export function readItem(item: JsonObject): Block[] {
  switch (item.type) {
    case 'message':
      return objectsOf(item.content).flatMap(readContent);
    case 'reasoning':
      return readReasoningBlock(item);
    case 'function_call': {
      return [
        {
          kind: 'tool-call',
          id: callIdOf(item),
          name: textOf(item.name),
          text: textOf(item.arguments) || '{}',
        },
      ];
    }
    case 'custom_tool_call': {
      return [
        {
          kind: 'tool-call',
          id: callIdOf(item),
          name: textOf(item.name),
          text: textOf(item.input),
          custom: true,
        },
      ];
    }
    case 'image_generation_call':
      return [readImage(item)];
    default:
      return [{ kind: 'native', dialect: NAME, value: item, text: '' }];
  }
}

/** The id of a tool call; some providers only send the item's id. */
export function callIdOf(item: JsonObject): string {
  return textOf(item.call_id) || textOf(item.id);
}

function readContent(part: JsonObject): Block[] {
  if (part.type === 'refusal') return [{ kind: 'refusal', text: textOf(part.refusal) }];
  if (typeof part.text !== 'string') return [];
  const citations = objectsOf(part.annotations).map(readCitation);
  const logprobs = readTokenLogprobs(part.logprobs);
  return [
    {
      kind: 'text',
      text: part.text,
      ...(citations.length > 0 ? { citations } : {}),
      ...(logprobs ? { logprobs } : {}),
    },
  ];
}

function readReasoningBlock(item: JsonObject): Block[] {
  const { text, seal } = readReasoning(item);
  return text || seal ? [{ kind: 'reasoning', text, ...(seal ? { seal } : {}) }] : [];
}

/** The text of a reasoning item, in full or else its summary, and the item's seal. */
export function readReasoning(item: JsonObject): Pick<Block, 'text' | 'seal'> {
  const full = objectsOf(item.content)
    .map((part) => textOf(part.text))
    .join('');
  const summary = objectsOf(item.summary)
    .map((part) => textOf(part.text))
    .join('\n\n');
  const encrypted = textOf(item.encrypted_content);
  const { seal } = openSeal(encrypted, NAME, typeof item.id === 'string' ? item.id : undefined);
  return { text: full || summary, ...(encrypted ? { seal } : {}) };
}

function readImage(item: JsonObject): Block {
  const base64 = textOf(item.result);
  if (!base64) return { kind: 'native', dialect: NAME, value: item, text: '' };
  const format = textOf(item.output_format) || 'png';
  return {
    kind: 'media',
    media: { type: 'image', mediaType: `image/${format}`, source: { base64 } },
    text: '',
  };
}
