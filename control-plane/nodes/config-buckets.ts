/**
 * The live entries of the configuration in buckets, which are the parts of snapshots. A full bucket is
 * encoded, and its rows are dropped: a million rows as objects take 600 MB, and a collection of garbage that
 * visits them stops the process for a fifth of a second. A changed entry leaves its bucket for another one.
 */
import type { LogRow } from '../database/config-log.ts';
import { ConfigPart, idOf } from './config-parts.ts';

/** A row of an entry that exists. */
export type LiveRow = LogRow & { payload: NonNullable<LogRow['payload']> };

/** A bucket whose entries are encoded. */
interface FullBucket {
  number: number;
  part: ConfigPart;
  /** Ids of its entries, and of entries that have left it. */
  ids: readonly string[];
  /** Number of its entries. */
  size: number;
  /** Ids of entries that are still in the part, but have left the bucket. */
  gone: Set<string>;
}

/** All buckets of one state. */
export class Buckets {
  readonly #limit: number;
  /** The bucket of each entry, by number; and the revision of each entry. */
  readonly #places = new Map<string, number>();
  readonly #revisions = new Map<string, number>();
  readonly #full = new Map<number, FullBucket>();
  /** The bucket to which entries are added. */
  #open = new Map<string, LiveRow>();
  #openNumber = 0;
  /** The part of the open bucket; undefined after a change. */
  #openPart: ConfigPart | undefined;
  /** A full bucket of which half is gone. The next one joins it. */
  #sparse: FullBucket | undefined;

  /** `limit`: maximum number of entries in a bucket. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The revision of an entry; undefined if it does not exist. */
  revisionOf(id: string): number | undefined {
    return this.#revisions.get(id);
  }

  /** Adds or replaces an entry. */
  set(row: LiveRow): void {
    const id = idOf(row);
    this.delete(id);
    this.#places.set(id, this.#openNumber);
    this.#revisions.set(id, row.revision);
    this.#open.set(id, row);
    this.#openPart = undefined;
    if (this.#open.size >= this.#limit) this.#close();
  }

  /** Removes an entry, if it exists. */
  delete(id: string): void {
    const place = this.#places.get(id);
    if (place === undefined) return;
    this.#places.delete(id);
    this.#revisions.delete(id);
    const bucket = this.#full.get(place);
    if (bucket) {
      bucket.gone.add(id);
      bucket.size -= 1;
      this.#shrink(bucket);
    } else {
      this.#open.delete(id);
      this.#openPart = undefined;
    }
  }

  /** All entries, for a snapshot. The parts do not change. */
  parts(): ConfigPart[] {
    const parts: ConfigPart[] = [];
    for (const bucket of this.#full.values()) {
      if (bucket.gone.size > 0) {
        dropGone(bucket);
        // Secrets are sent unpacked: without this, their part would grow by a step at each change.
        encode(bucket.part);
      }
      parts.push(bucket.part);
    }
    if (this.#open.size === 0) return parts;
    this.#openPart ??= partOf(this.#open);
    return [...parts, this.#openPart];
  }

  /** Encodes the open bucket, and opens another one. */
  #close(): void {
    const [number, rows] = [this.#openNumber, this.#open];
    const part = partOf(rows);
    this.#full.set(number, { number, part, ids: [...rows.keys()], size: rows.size, gone: new Set() });
    this.#open = new Map();
    this.#openNumber += 1;
    encode(part);
  }

  /** Joins buckets of which half is gone, so that snapshots do not get more and more parts. */
  #shrink(bucket: FullBucket): void {
    const sparse = this.#sparse;
    if (bucket.size === 0) {
      this.#full.delete(bucket.number);
      if (sparse === bucket) this.#sparse = undefined;
    } else if (bucket.size * 2 <= this.#limit && sparse !== bucket) {
      this.#sparse = sparse ? undefined : bucket;
      if (sparse) this.#join(sparse, bucket);
    }
  }

  /** Moves all entries of `other` to a bucket. */
  #join(bucket: FullBucket, other: FullBucket): void {
    const idsIn = ({ ids, number }: FullBucket) => ids.filter((id) => this.#places.get(id) === number);
    const moved = idsIn(other);
    bucket.ids = [...idsIn(bucket), ...moved];
    bucket.size = bucket.ids.length;
    for (const id of moved) this.#places.set(id, bucket.number);
    this.#full.delete(other.number);
    dropGone(bucket);
    dropGone(other);
    bucket.part = ConfigPart.joined([bucket.part, other.part]);
    encode(bucket.part);
  }
}

function partOf(rows: ReadonlyMap<string, LiveRow>): ConfigPart {
  const entries = Array.from(rows.values(), ({ kind, key, revision, payload }) => ({
    ...{ kind, key, revision, payload },
  }));
  return ConfigPart.of(entries);
}

/** Encodes a part now, so that its entries are dropped. After a failure, the next snapshot tries again. */
function encode(part: ConfigPart): void {
  part.packed().catch(() => undefined);
}

/** Replaces the part of a bucket by one without the entries that are gone. */
function dropGone(bucket: FullBucket): void {
  bucket.part = bucket.part.without(bucket.gone);
  bucket.gone = new Set();
}
