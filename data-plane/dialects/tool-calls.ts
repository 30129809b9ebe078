/** Conversions of tool calls that several formats share. */
import { randomUUID } from 'node:crypto';
import { parseExactObject } from './fields.ts';
import type { JsonObject } from './fields.ts';

/** The arguments of a tool call as a JSON object. Text that is no JSON object becomes its member `input`. */
export function argumentsOf({ text, custom }: { text: string; custom?: boolean }): JsonObject {
  return (custom ? undefined : parseExactObject(text)) ?? { input: text };
}

/**
 * An id for a tool call that the upstream sent without one. It is unique among the tool calls of all answers
 * if `answerId` is; an answer without an id gets a random one.
 */
export function generatedCallId(answerId: string, choice: number, call: number): string {
  const answer = answerId || randomUUID().replaceAll('-', '');
  return `call_${answer.replaceAll(/[^A-Za-z0-9_-]/g, '_')}_${choice}_${call}`;
}
