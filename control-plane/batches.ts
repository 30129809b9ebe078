/**
 * Many fields of one operation that ask for one thing each become one question: what is asked in the same
 * turn is looked up together. Nothing is remembered: what comes after a mutation sees what it changed.
 */
import type { EntityManager } from '@mikro-orm/postgresql';

/** Looks up many keys at once; what is not there is left out. */
export type Lookup<Value> = (
  em: EntityManager,
  keys: readonly string[],
) => Promise<ReadonlyMap<string, Value>>;

interface Batch {
  keys: Set<string>;
  found: Promise<ReadonlyMap<string, unknown>>;
}

/** The lookups of one operation. */
export class Batches {
  readonly #em: EntityManager;
  readonly #open = new Map<unknown, Batch>();

  constructor(em: EntityManager) {
    this.#em = em;
  }

  /** What the lookup finds for the key, together with all other keys of this turn; undefined for nothing. */
  async load<Value>(lookup: Lookup<Value>, key: string): Promise<Value | undefined> {
    const open = this.#open.get(lookup) ?? this.#start(lookup);
    open.keys.add(key);
    // The batches of a lookup hold its values: they came from nowhere else.
    return ((await open.found) as ReadonlyMap<string, Value>).get(key);
  }

  #start<Value>(lookup: Lookup<Value>): Batch {
    const keys = new Set<string>();
    const found = turnEnd().then(() => {
      this.#open.delete(lookup);
      return lookup(this.#em, [...keys]);
    });
    const batch = { keys, found };
    this.#open.set(lookup, batch);
    return batch;
  }
}

/** After everything that graphql resolves in this turn, promises of lists included. */
function turnEnd(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
