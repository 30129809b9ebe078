/**
 * Assembles tool call arguments that Vertex sends in pieces, each at a JSON path.
 * https://cloud.google.com/vertex-ai/generative-ai/docs
 */
import { isObject, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';

/** Maximum number of steps that are followed in a path. */
const MAX_STEPS = 64;
/** The largest list index that is accepted. */
const MAX_INDEX = 10_000;
const STEP = /\.([^.[\]]+)|\[(\d+)\]|\['([^']*)'\]/g;

type Step = string | number;

/** Writes the pieces into `target`. A string piece is appended to a string that is there already. */
export function applyPartialArguments(target: JsonObject, pieces: JsonObject[]): void {
  for (const piece of pieces) put(target, stepsOf(textOf(piece.jsonPath)), piece);
}

function stepsOf(path: string): Step[] {
  const steps = [...path.matchAll(STEP)].map(([, name, index, quoted]) => name ?? quoted ?? Number(index));
  return steps.slice(0, MAX_STEPS).filter((step) => typeof step === 'string' || step <= MAX_INDEX);
}

function put(target: JsonObject, steps: Step[], piece: JsonObject): void {
  const last = steps.at(-1);
  if (last === undefined) return;
  let holder: JsonObject | unknown[] = target;
  for (const [at, step] of steps.slice(0, -1).entries()) {
    const next = get(holder, step);
    const container: JsonObject | unknown[] =
      isObject(next) || Array.isArray(next) ? next : typeof steps[at + 1] === 'number' ? [] : {};
    set(holder, step, container);
    holder = container;
  }
  set(holder, last, valueOf(piece, get(holder, last)));
}

function valueOf(piece: JsonObject, before: unknown): unknown {
  if (typeof piece.stringValue === 'string') return textOf(before) + piece.stringValue;
  if ('numberValue' in piece) return piece.numberValue;
  if ('boolValue' in piece) return piece.boolValue;
  return 'nullValue' in piece ? null : (before ?? '');
}

function get(holder: JsonObject | unknown[], step: Step): unknown {
  if (Array.isArray(holder)) return typeof step === 'number' ? holder[step] : undefined;
  return Object.hasOwn(holder, step) ? holder[step] : undefined;
}

function set(holder: JsonObject | unknown[], step: Step, value: unknown): void {
  if (Array.isArray(holder)) {
    if (typeof step === 'number') holder[step] = value;
  } else Object.defineProperty(holder, step, { value, writable: true, enumerable: true, configurable: true });
}
