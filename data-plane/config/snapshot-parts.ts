/**
 * Assembles a snapshot from its parts. Parts are decoded one by one, so that requests are served in between.
 */
import type { ConfigEvent } from '@gateway/shared/node-api';
import type { EntriesOfLine } from './file-lines.ts';
import { unpack } from './packed-entries.ts';
import { NO_TABLES, TablesDraft } from './tables.ts';
import type { Tables } from './tables.ts';

const CHUNKS_MAX = 10_000;

type SnapshotEvent = Extract<ConfigEvent, { __typename: 'ConfigSnapshot' }>;

/** A complete snapshot. */
export interface WholeSnapshot {
  revision: number;
  checksum: string;
  /** The entries as they arrived. */
  received: readonly EntriesOfLine[];
  /** Throws if a part could not be decoded or the checksum differs. */
  tables(): Tables;
}

/** The parts of a snapshot that have arrived so far. */
export class SnapshotParts {
  readonly #first: SnapshotEvent;
  readonly #draft = new TablesDraft(NO_TABLES);
  readonly #received: EntriesOfLine[] = [];
  #failure: unknown;

  /** `first`: the first part. It must still be added. */
  constructor(first: SnapshotEvent) {
    this.#first = { ...first, entries: [] };
  }

  /** Adds the next part. Returns false if it is not the next part; errors in its records are thrown later. */
  add({ revision, checksum, chunk, chunks, entries, packed }: SnapshotEvent): boolean {
    const first = this.#first;
    const fits =
      this.#received.length === chunk &&
      first.chunks === chunks &&
      chunks <= CHUNKS_MAX &&
      first.revision === revision &&
      first.checksum === checksum &&
      Array.isArray(entries);
    if (!fits) return false;
    this.#received.push({ entries, packed });
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
    if (this.#received.length < chunks) return undefined;
    return {
      revision,
      checksum,
      received: this.#received,
      tables: () => {
        if (this.#failure !== undefined) throw this.#failure;
        return this.#draft.finish(revision, checksum);
      },
    };
  }
}
