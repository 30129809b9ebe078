/**
 * An immutable map whose changed copies share all unchanged parts. It is made for tables of 100,000 entries
 * in which few change while requests still read the previous state.
 */

/** Maximum average number of entries per shard. */
const SHARD_ENTRIES_MAX = 128;
/** Number of characters at the end of a key that are hashed: ids, digests and names differ there. */
const HASHED_CHARACTERS = 8;

type Shard<Value> = ReadonlyMap<string, Value>;

/** The values of a key in two maps; undefined in the map that lacks the key. */
export interface Difference<Value> {
  before: Value | undefined;
  after: Value | undefined;
}

/** Maps with one shard keep the order of insertion. The order of larger maps is fixed but arbitrary. */
export class PersistentMap<Value> {
  /** Number of entries. */
  readonly size: number;
  readonly #shards: readonly Shard<Value>[];

  private constructor(shards: readonly Shard<Value>[], size: number) {
    this.#shards = shards;
    this.size = size;
  }

  /** A map with these entries, without those of undefined values. */
  static from<Value>(entries: ReadonlyMap<string, Value | undefined>): PersistentMap<Value> {
    const shards = Array.from({ length: shardsFor(entries.size) }, () => new Map<string, Value>());
    let size = 0;
    for (const [key, value] of entries) {
      if (value === undefined) continue;
      shards[placeOf(key, shards.length)]?.set(key, value);
      size += 1;
    }
    return new PersistentMap(shards, size);
  }

  get(key: string): Value | undefined {
    return this.#shards[placeOf(key, this.#shards.length)]?.get(key);
  }

  *values(): Generator<Value, undefined> {
    for (const shard of this.#shards) yield* shard.values();
    return undefined;
  }

  /** A copy with these changes. A value is set under its key; undefined removes the key. */
  with(changes: ReadonlyMap<string, Value | undefined>): PersistentMap<Value> {
    // The first snapshot of a node may have a million entries, which are not copied into one map first.
    if (this.size === 0) return PersistentMap.from(changes);
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
   * The differences from an earlier map, by identity of values. Shared shards are skipped, so comparing a map
   * with its changed copy is fast.
   */
  *since(earlier: PersistentMap<Value>): Generator<Difference<Value>, undefined> {
    if (earlier.size === 0) {
      for (const after of this.values()) yield { before: undefined, after };
    } else if (earlier.#shards.length === this.#shards.length) {
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

/** Number of shards, a power of two, so that a growing map is rebuilt rarely. */
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
