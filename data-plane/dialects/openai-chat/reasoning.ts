/**
 * Encodes and decodes thinking in chat completions. OpenAI has no fields for it: `reasoning_content`
 * (DeepSeek and others) carries the visible text, `reasoning_details` (OpenRouter) the seals.
 * https://openrouter.ai/docs/use-cases/reasoning-tokens
 */
import type { Seal } from '../canonical.ts';
import { objectsOf, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { openSeal, writeSeal } from '../seals.ts';
import { NAME } from './wire.ts';

/** `format` of the details that the gateway writes. Their data is a seal's envelope. */
const FORMAT = 'gateway-v1';

interface WireReasoning {
  text: string;
  /** The upstream's `reasoning_details`, which must be sent back unchanged. */
  details: JsonObject[];
}

/** Decodes the thinking in a message or delta of a chat upstream, from any of the fields in use. */
export function readReasoning(message: JsonObject): WireReasoning {
  const {
    reasoning_content: content,
    reasoning,
    reasoning_details: given,
    thinking_blocks: blocks,
  } = message;
  if (!content && !reasoning && !given && !blocks) return { text: '', details: [] };
  const details = objectsOf(message.reasoning_details);
  const visible = textOf(message.reasoning_content) || textOf(message.reasoning);
  const text = visible || details.map((detail) => textOf(detail.text) || textOf(detail.summary)).join('');
  if (text || details.length > 0) return { text, details };
  return {
    text: objectsOf(message.thinking_blocks)
      .map((block) => textOf(block.thinking))
      .join(''),
    details,
  };
}

/** Joins Mistral's thinking: a text, or a list of text parts. */
export function thinkingText(value: unknown): string {
  return typeof value === 'string'
    ? value
    : objectsOf(value)
        .map(({ text }) => textOf(text))
        .join('');
}

/** The seal of a chat upstream's thinking; its value is '' if there are no details. */
export function sealOf(details: JsonObject[]): Seal {
  return { dialect: NAME, value: details.length > 0 ? JSON.stringify(details) : '' };
}

/**
 * Encodes all thinking of a message, with the details that `sealOf` put into the seals, as fields of an
 * upstream message. Empty if there is none. Blocks of thinking are joined, because there is one field.
 */
export function writeReasoning(thoughts: readonly { text: string; seal: Seal }[]): JsonObject {
  if (thoughts.length === 0) return {};
  const details = thoughts.flatMap(({ seal }) => detailsIn(seal.value));
  const text = joinThoughts(thoughts);
  if (details.length === 0) return { reasoning_content: text };
  return { ...(text ? { reasoning: text } : {}), reasoning_details: details };
}

/** Joins the texts of blocks of thinking, as the one text that this format has. */
export function joinThoughts(thoughts: readonly { text: string }[]): string {
  return thoughts
    .map(({ text }) => text)
    .filter(Boolean)
    .join('\n\n');
}

/** The details in a seal of `sealOf`. Empty if the value is invalid, because clients can forge seals. */
function detailsIn(value: string): JsonObject[] {
  try {
    return objectsOf(JSON.parse(value));
  } catch {
    return [];
  }
}

/**
 * Encodes a seal as a detail for chat clients: of the tool call `callId`, or of the reasoning if undefined.
 */
export function writeDetail(seal: Seal, callId?: string): JsonObject {
  const data = writeSeal(seal, NAME, true);
  return {
    type: 'reasoning.encrypted',
    format: FORMAT,
    data,
    ...(callId === undefined ? {} : { id: callId }),
  };
}

interface ReceivedSeals {
  /** Seals of reasoning that the gateway wrote. */
  reasoning: Seal[];
  /** Seals of tool calls that the gateway wrote, by call id. */
  byCall: Map<string, Seal>;
  /** Details that a chat upstream wrote. */
  upstream: JsonObject[];
}

/** Decodes the `reasoning_details` that a client sent back. */
export function readDetails(value: unknown): ReceivedSeals {
  const seals: ReceivedSeals = { reasoning: [], byCall: new Map(), upstream: [] };
  for (const detail of objectsOf(value)) {
    if (detail.format !== FORMAT || typeof detail.data !== 'string') seals.upstream.push(detail);
    else if (typeof detail.id === 'string') seals.byCall.set(detail.id, openSeal(detail.data, NAME).seal);
    else seals.reasoning.push(openSeal(detail.data, NAME).seal);
  }
  return seals;
}

/**
 * Adds streamed pieces to the details so far. Texts, summaries and data of pieces with one index are joined.
 */
export function mergeDetails(details: JsonObject[], pieces: JsonObject[]): JsonObject[] {
  const merged = [...details];
  for (const piece of pieces) {
    const at = merged.findIndex(
      ({ index, type }) => index !== undefined && index === piece.index && type === piece.type,
    );
    const before = merged[at];
    if (!before) merged.push(piece);
    else merged[at] = joinDetails(before, piece);
  }
  return merged;
}

function joinDetails(before: JsonObject, piece: JsonObject): JsonObject {
  const joined: JsonObject = { ...before };
  for (const [name, value] of Object.entries(piece)) {
    const isGrowing = ['text', 'summary', 'data'].includes(name) && typeof value === 'string';
    if (isGrowing) joined[name] = textOf(before[name]) + value;
    else if (value !== null && value !== undefined) joined[name] = value;
  }
  return joined;
}
