/** The state of the processor in a file, so that a demo survives a restart. It holds no card data. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Replay } from './api.ts';
import type { Pending } from './deliveries.ts';
import { allOf, isThing, now, relink, storedForm } from './things.ts';
import type { Thing } from './things.ts';

/** State that outlives a restart. */
export interface ProcessorState {
  things: Map<string, Thing>;
  replays: Map<string, Replay>;
  pending: Pending[];
}

/** Lifetime of an idempotency key in seconds: a day, like at the real processor. */
const REPLAY_S = 24 * 60 * 60;
const EVENTS_MAX = 1_000;

/** Reads the file. A missing or unreadable file is an empty state, so that a demo always starts. */
export function loadState(file: string | undefined): ProcessorState {
  const state: ProcessorState = { things: new Map(), replays: new Map(), pending: [] };
  const read = file && existsSync(file) ? parsed(readFileSync(file, 'utf8')) : undefined;
  if (!isStored(read)) return state;
  for (const thing of read.things) if (isThing(thing)) state.things.set(thing.id, thing);
  for (const [key, replay] of read.replays) state.replays.set(key, replay);
  state.pending.push(...read.pending.filter(({ eventId }) => state.things.has(eventId)));
  relink(state);
  return state;
}

/** Writes the file in one step, without old idempotency keys and old events. */
export function saveState(file: string, state: ProcessorState): void {
  prune(state);
  const stored: Stored = {
    things: [...state.things.values()].map(storedForm),
    replays: [...state.replays],
    pending: state.pending,
  };
  writeFileSync(`${file}.new`, JSON.stringify(stored), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function prune({ things, replays, pending }: ProcessorState): void {
  for (const [key, { at }] of replays) if (at < now() - REPLAY_S) replays.delete(key);
  const waiting = new Set(pending.map(({ eventId }) => eventId));
  const old = allOf({ things }, 'event').slice(0, -EVENTS_MAX);
  for (const { id } of old) if (!waiting.has(id)) things.delete(id);
}

interface Stored {
  things: unknown[];
  replays: [string, Replay][];
  pending: Pending[];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Only this program writes the file, so its lists are trusted once they are lists. */
function isStored(value: unknown): value is Stored {
  if (typeof value !== 'object' || value === null) return false;
  const { things, replays, pending } = value as Partial<Record<keyof Stored, unknown>>;
  return [things, replays, pending].every((list) => Array.isArray(list));
}
