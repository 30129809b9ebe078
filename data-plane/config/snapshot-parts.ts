/**
 * Assembles a snapshot from its parts. Parts are decoded one by one, so that requests are served in between.
 */
import { gunzipSync } from 'node:zlib';
import type { ConfigEntry, ConfigEvent } from '@gateway/shared/node-api';
import { NO_TABLES, TablesDraft } from './tables.ts';
import type { Tables } from './tables.ts';

const CHUNKS_MAX = 10_000;
/** Maximum size of the JSON of one part, in bytes: 2,000 entries of 32 kB. */
const PART_BYTES_MAX = 64 * 1024 * 1024;

type SnapshotEvent = Extract<ConfigEvent, { __typename: 'ConfigSnapshot' }>;

/** A complete snapshot. */
export interface WholeSnapshot {
  revision: number;
  checksum: string;
  /** Throws if a part could not be decoded or the checksum differs. */
  tables(): Tables;
}

/** The parts of a snapshot that have arrived so far. */
export class SnapshotParts {
  readonly #first: SnapshotEvent;
  readonly #draft = new TablesDraft(NO_TABLES);
  #next = 0;
  #failure: unknown;

  /** `first`: the first part. It must still be added. */
  constructor(first: SnapshotEvent) {
    this.#first = { ...first, entries: [] };
  }

  /** Adds the next part. Returns false if it is not the next part; errors in its records are thrown later. */
  add({ revision, checksum, chunk, chunks, entries, packed }: SnapshotEvent): boolean {
    const first = this.#first;
    const fits =
      this.#next === chunk &&
      first.chunks === chunks &&
      chunks <= CHUNKS_MAX &&
      first.revision === revision &&
      first.checksum === checksum &&
      Array.isArray(entries);
    if (!fits) return false;
    this.#next += 1;
    try {
      if (this.#failure === undefined) this.#draft.put(packed ? unpack(packed) : entries);
    } catch (error) {
      this.#failure = error;
    }
    return true;
  }

  /** The snapshot, once its last part was added. */
  get whole(): WholeSnapshot | undefined {
    const { revision, checksum, chunks } = this.#first;
    if (this.#next < chunks) return undefined;
    return {
      revision,
      checksum,
      tables: () => {
        if (this.#failure !== undefined) throw this.#failure;
        return this.#draft.finish(revision, checksum);
      },
    };
  }
}

/** The entries of a compressed part. Throws if they are no JSON of entries. */
function unpack(packed: string): ConfigEntry[] {
  const bytes = gunzipSync(Buffer.from(packed, 'base64'), { maxOutputLength: PART_BYTES_MAX });
  const entries: unknown = JSON.parse(bytes.toString('utf8'));
  if (!Array.isArray(entries)) throw new Error('a part of the snapshot is not a list of entries');
  return entries;
}
