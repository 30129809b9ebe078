/**
 * The live entries of the configuration in buckets. A bucket is never changed once a snapshot has it: a
 * change replaces it. So a snapshot of a million entries is a list of buckets, and each bucket is encoded
 * once for all nodes.
 */
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { ConfigEntry } from '@gateway/shared/node-api';
import type { LogRow } from '../database/config-log.ts';

const compress = promisify(gzip);

/** A row of an entry that exists. */
export type LiveRow = LogRow & { payload: NonNullable<LogRow['payload']> };

/** Entries of one part of a snapshot. */
export class Bucket {
  readonly rows: Map<string, LiveRow>;
  /** Whether a snapshot has this bucket, so that it must not be changed. */
  isShared = false;
  #packed: Promise<string> | undefined;

  constructor(rows: Map<string, LiveRow>) {
    this.rows = rows;
  }

  /** The entries, as nodes get them. */
  entries(): ConfigEntry[] {
    return Array.from(this.rows.values(), ({ kind, key, revision, payload }) => ({
      kind,
      key,
      revision,
      payload,
    }));
  }

  /** The JSON of the entries, compressed with gzip, in base64. Encoded at the first call of all nodes. */
  packed(): Promise<string> {
    this.#packed ??= pack(this.entries());
    return this.#packed;
  }
}

/** Compresses on another thread, with least effort: five times smaller at a twentieth of the time of most. */
async function pack(entries: readonly ConfigEntry[]): Promise<string> {
  const bytes = await compress(JSON.stringify(entries), { level: constants.Z_BEST_SPEED });
  return bytes.toString('base64');
}

/** All buckets of one state. */
export class Buckets {
  readonly #limit: number;
  readonly #buckets: Bucket[] = [];
  readonly #places = new Map<string, number>();
  /** Indexes of buckets with room. */
  readonly #vacant = new Set<number>();

  /** `limit`: maximum number of entries in a bucket. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The row of an entry; undefined if it does not exist. */
  get(id: string): LiveRow | undefined {
    const place = this.#places.get(id);
    return place === undefined ? undefined : this.#buckets[place]?.rows.get(id);
  }

  /** Adds or replaces an entry. */
  set(id: string, row: LiveRow): void {
    const place = this.#places.get(id) ?? this.#vacancy();
    this.#places.set(id, place);
    const { rows } = this.#writable(place);
    rows.set(id, row);
    if (rows.size >= this.#limit) this.#vacant.delete(place);
  }

  /** Removes an entry, if it exists. */
  delete(id: string): void {
    const place = this.#places.get(id);
    if (place === undefined) return;
    this.#places.delete(id);
    this.#writable(place).rows.delete(id);
    this.#vacant.add(place);
  }

  /** The buckets that have entries, for a snapshot. */
  shared(): Bucket[] {
    const buckets = this.#buckets.filter(({ rows }) => rows.size > 0);
    for (const bucket of buckets) bucket.isShared = true;
    return buckets;
  }

  #vacancy(): number {
    const [place] = this.#vacant;
    if (place !== undefined) return place;
    this.#buckets.push(new Bucket(new Map()));
    this.#vacant.add(this.#buckets.length - 1);
    return this.#buckets.length - 1;
  }

  #writable(place: number): Bucket {
    const bucket = this.#buckets[place] ?? new Bucket(new Map());
    if (!bucket.isShared) return bucket;
    const copy = new Bucket(new Map(bucket.rows));
    this.#buckets[place] = copy;
    return copy;
  }
}
