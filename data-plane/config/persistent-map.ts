/**
 * A map that never changes: the next one shares everything with it but what is different. For tables of
 * 100,000 entries of which one changes, and of which somebody still reads the state before.
 */

/** A map has so many shards that a shard holds this many entries at most on average. */
const SHARD_ENTRIES_MAX = 128;
/** Ids, digests and names differ at their ends. */
const HASHED_CHARACTERS = 8;

type Shard<Value> = ReadonlyMap<string, Value>;

/** What stands under a key in one map and in another; undefined where it is in one of them alone. */
export interface Difference<Value> {
  before: Value | undefined;
  after: Value | undefined;
}

/** Small ones keep the order in which keys came; large ones have an order, but none that means anything. */
export class PersistentMap<Value> {
  /** How many entries it has. */
  readonly size: number;
  readonly #shards: readonly Shard<Value>[];

  private constructor(shards: readonly Shard<Value>[], size: number) {
    this.#shards = shards;
    this.size = size;
  }

  /** A map of these entries; of two under one key the later one. */
  static from<Value>(entries: ReadonlyMap<string, Value>): PersistentMap<Value> {
    const shards = Array.from({ length: shardsFor(entries.size) }, () => new Map<string, Value>());
    for (const [key, value] of entries) shards[placeOf(key, shards.length)]?.set(key, value);
    return new PersistentMap(shards, entries.size);
  }

  get(key: string): Value | undefined {
    return this.#shards[placeOf(key, this.#shards.length)]?.get(key);
  }

  *values(): Generator<Value, undefined> {
    for (const shard of this.#shards) yield* shard.values();
    return undefined;
  }

  /** The map with these changes: a value is put in the place of what was there, undefined takes it away. */
  with(changes: ReadonlyMap<string, Value | undefined>): PersistentMap<Value> {
    const shards = [...this.#shards];
    const copies = new Map<number, Map<string, Value>>();
    let { size } = this;
    for (const [key, value] of changes) {
      const place = placeOf(key, shards.length);
      const copy = copies.get(place) ?? new Map(shards[place]);
      copies.set(place, copy);
      shards[place] = copy;
      size -= copy.size;
      if (value === undefined) copy.delete(key);
      else copy.set(key, value);
      size += copy.size;
    }
    if (shards.length >= shardsFor(size)) return new PersistentMap(shards, size);
    return PersistentMap.from(joined(shards));
  }

  /**
   * Where it differs from an earlier one by identity of values. What two maps share is not looked at, so a
   * map and the one that was made of it are compared at once.
   */
  *since(earlier: PersistentMap<Value>): Generator<Difference<Value>, undefined> {
    if (earlier.#shards.length === this.#shards.length) {
      for (const [at, shard] of this.#shards.entries()) {
        const old = earlier.#shards[at];
        if (old && old !== shard) yield* differences(old, shard);
      }
    } else {
      yield* differences(joined(earlier.#shards), joined(this.#shards));
    }
    return undefined;
  }
}

function* differences<Value>(old: Shard<Value>, now: Shard<Value>): Generator<Difference<Value>, undefined> {
  for (const [key, before] of old) {
    const after = now.get(key);
    if (before !== after) yield { before, after };
  }
  for (const [key, after] of now) if (!old.has(key)) yield { before: undefined, after };
  return undefined;
}

function joined<Value>(shards: readonly Shard<Value>[]): Shard<Value> {
  return new Map(shards.flatMap((shard) => [...shard]));
}

/** A power of two: each time a map outgrows its shards it gets twice as many, so that this is rare. */
function shardsFor(size: number): number {
  let count = 1;
  while (size > count * SHARD_ENTRIES_MAX) count *= 2;
  return count;
}

function placeOf(key: string, shards: number): number {
  if (shards === 1) return 0;
  let hash = 0;
  for (let at = Math.max(0, key.length - HASHED_CHARACTERS); at < key.length; at += 1)
    hash = Math.imul(hash, 31) + key.charCodeAt(at);
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return (hash ^ (hash >>> 15)) & (shards - 1);
}
