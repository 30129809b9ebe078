/** The objects of the processor: their ids, their references, and what an answer shows of them. */
import { randomBytes } from 'node:crypto';

/** An object of the processor. Members whose names begin with `_` are never shown. */
export type Thing = Record<string, unknown> & { id: string };

/** The state that all parts of the processor share. */
export interface Books {
  /** All objects by id, oldest first. */
  things: Map<string, Thing>;
  /** Origin of the pages, as the customer's browser reaches them. */
  origin: string;
  /** Reports an object in its present state to the webhook. */
  emit(type: string, thing: Thing): void;
}

/**
 * Members that contain another object. An answer contains only the id of that object, unless the caller
 * expands the member.
 */
const REFERENCES = new Set(['latest_charge', 'payment_method', 'source']);

/** An id that nobody can guess, such as `cs_4f…`. */
export function newId(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`;
}

/** The present time in seconds. */
export function now(): number {
  return Math.floor(Date.now() / 1000);
}

/** Stores the object, and returns it. */
export function add({ things }: Pick<Books, 'things'>, thing: Thing): Thing {
  things.set(thing.id, thing);
  return thing;
}

/** All objects of a kind, oldest first. */
export function allOf({ things }: Pick<Books, 'things'>, object: string): Thing[] {
  return [...things.values()].filter((thing) => thing['object'] === object);
}

/** A copy of the object as an answer shows it: references are ids, unless they are named in `expand`. */
export function viewOf(thing: Thing, expand: readonly string[] = []): Thing {
  const view: Thing = { id: thing.id };
  for (const [name, value] of Object.entries(thing)) {
    if (name.startsWith('_')) continue;
    if (!REFERENCES.has(name) || !isThing(value)) view[name] = structuredClone(value);
    else view[name] = expand.includes(name) ? viewOf(value) : value.id;
  }
  return view;
}

/** A copy of the object with hidden members, to be stored: references are ids. */
export function storedForm(thing: Thing): Thing {
  const entries = Object.entries(thing);
  const plain = entries.map(([name, value]) => [name, REFERENCES.has(name) ? idOf(value) : value]);
  return { ...Object.fromEntries(plain), id: thing.id };
}

/** Replaces the ids of references by the objects, after stored objects were read. */
export function relink({ things }: Pick<Books, 'things'>): void {
  for (const thing of things.values())
    for (const name of REFERENCES) {
      const id = thing[name];
      if (typeof id === 'string') thing[name] = things.get(id) ?? id;
    }
}

/** Whether the value is an object of the processor. */
export function isThing(value: unknown): value is Thing {
  return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string';
}

function idOf(value: unknown): unknown {
  return isThing(value) ? value.id : value;
}
