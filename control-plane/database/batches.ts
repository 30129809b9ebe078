/**
 * Combines lookups of many GraphQL fields into one query: keys that are requested in the same turn of the
 * event loop are looked up together. Results are not cached, so that fields after a mutation see its changes.
 */
import type { EntityManager } from '@mikro-orm/postgresql';

/** Looks up many keys at once; the result omits keys without a value. */
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

  /**
   * The lookup's value for the key, found together with the other keys of this iteration; undefined if there
   * is none.
   */
  async load<Value>(lookup: Lookup<Value>, key: string): Promise<Value | undefined> {
    const open = this.#open.get(lookup) ?? this.#start(lookup);
    open.keys.add(key);
    // The batch of a lookup has only values of this lookup, so the cast is safe.
    return ((await open.found) as ReadonlyMap<string, Value>).get(key);
  }

  #start<Value>(lookup: Lookup<Value>): Batch {
    const keys = new Set<string>();
    const found = iterationEnd().then(() => {
      this.#open.delete(lookup);
      return lookup(this.#em, [...keys]);
    });
    const batch = { keys, found };
    this.#open.set(lookup, batch);
    return batch;
  }
}

/**
 * Resolves after all fields that graphql resolves in this iteration of the event loop, including items of
 * lists.
 */
function iterationEnd(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
