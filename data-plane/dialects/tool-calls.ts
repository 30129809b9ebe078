/** Conversions of tool calls that several formats share. */
import { parseExactObject } from './fields.ts';
import type { JsonObject } from './fields.ts';

/** The arguments of a tool call as a JSON object. Text that is no JSON object becomes its member `input`. */
export function argumentsOf({ text, custom }: { text: string; custom?: boolean }): JsonObject {
  return (custom ? undefined : parseExactObject(text)) ?? { input: text };
}

/** An id for a tool call that the upstream sent without one, unique among the tool calls of all answers. */
export function generatedCallId(answerId: string, choice: number, call: number): string {
  return `call_${answerId.replaceAll(/[^A-Za-z0-9_-]/g, '_')}_${choice}_${call}`;
}
