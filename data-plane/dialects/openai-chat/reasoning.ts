/**
 * Thinking in the chat format. OpenAI has no place for it; `reasoning_content` (DeepSeek and others) carries
 * the visible text, `reasoning_details` (OpenRouter) what a provider must see again with the next turn.
 * https://openrouter.ai/docs/use-cases/reasoning-tokens
 */
import type { Seal } from '../canonical.ts';
import { isObject, objectsOf, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { openSeal, writeSeal } from '../seals.ts';
import { NAME } from './wire.ts';

/** Marks the details that we wrote, so that their data is read as an envelope. */
const FORMAT = 'gateway-v1';

export interface WireReasoning {
  text: string;
  /** What goes back to a chat upstream unchanged; '' where the upstream gave text alone. */
  details: JsonObject[];
}

/** The thinking that a message or a delta of a chat upstream holds, in whatever field it stands. */
export function readReasoning(message: JsonObject): WireReasoning {
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

/** The seal of thinking that came from a chat upstream. */
export function sealOf(details: JsonObject[]): Seal {
  return { dialect: NAME, value: details.length > 0 ? JSON.stringify(details) : '' };
}

/** The fields of an upstream message that give back what `sealOf` sealed. */
export function unsealed(text: string, seal: Seal): JsonObject {
  const details = detailsIn(seal.value);
  if (details.length === 0) return { reasoning_content: text };
  return { ...(text ? { reasoning: text } : {}), reasoning_details: details };
}

/** The details that `sealOf` wrote; clients can forge a seal, so it may hold anything. */
function detailsIn(value: string): JsonObject[] {
  try {
    return objectsOf(JSON.parse(value));
  } catch {
    return [];
  }
}

/**
 * The detail that carries a seal to a chat client; `callId` says which tool call it belongs to, else the
 * reasoning.
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

export interface KnownSeals {
  reasoning: Seal[];
  byCall: Map<string, Seal>;
  foreign: JsonObject[];
}

/** The seals among the details that a client sent back; `foreign` are details that are not ours. */
export function readDetails(value: unknown): KnownSeals {
  const known: KnownSeals = { reasoning: [], byCall: new Map(), foreign: [] };
  for (const detail of Array.isArray(value) ? value.filter(isObject) : []) {
    if (detail.format !== FORMAT || typeof detail.data !== 'string') known.foreign.push(detail);
    else if (typeof detail.id === 'string') known.byCall.set(detail.id, openSeal(detail.data, NAME).seal);
    else known.reasoning.push(openSeal(detail.data, NAME).seal);
  }
  return known;
}

/** Details arrive in pieces that share an index: their texts, summaries, data and signatures are joined. */
export function mergeDetails(known: JsonObject[], pieces: JsonObject[]): JsonObject[] {
  const merged = [...known];
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
