/**
 * Assembles a snapshot from its parts. Parts are decoded one by one, so that requests are served in between.
 */
import type { ConfigEvent } from '@gateway/shared/node-api';
import { snapshotLine } from './file-lines.ts';
import { unpack } from './packed-entries.ts';
import type { ReceivedLines } from './received-lines.ts';
import { NO_TABLES, TablesDraft } from './tables.ts';
import type { Tables } from './tables.ts';

const CHUNKS_MAX = 10_000;

type SnapshotEvent = Extract<ConfigEvent, { __typename: 'ConfigSnapshot' }>;

/** A complete snapshot. */
export interface WholeSnapshot {
  revision: number;
  checksum: string;
  /** The lines that the file of the configuration gets. */
  lines: ReceivedLines;
  /** Throws if a part could not be decoded or the checksum differs. */
  tables(): Tables;
}

/** The parts of a snapshot that have arrived so far. Memory keeps only their rows while the disk keeps up. */
export class SnapshotParts {
  readonly #first: SnapshotEvent;
  readonly #confirmedAt: number;
  readonly #draft = new TablesDraft(NO_TABLES);
  readonly #lines: ReceivedLines;
  #count = 0;
  #failure: unknown;

  /** `first`: the first part. It must still be added. `lines` gets all parts. */
  constructor(first: SnapshotEvent, lines: ReceivedLines, confirmedAt: number) {
    this.#first = { ...first, entries: [], packed: null };
    this.#confirmedAt = confirmedAt;
    this.#lines = lines;
  }

  /** Adds the next part. Returns false if it is not the next part; errors in its records are thrown later. */
  add({ revision, checksum, chunk, chunks, entries, packed }: SnapshotEvent): boolean {
    const first = this.#first;
    const fits =
      this.#count === chunk &&
      first.chunks === chunks &&
      chunks <= CHUNKS_MAX &&
      first.revision === revision &&
      first.checksum === checksum &&
      Array.isArray(entries);
    if (!fits) return false;
    this.#count += 1;
    if (this.#failure !== undefined) return true;
    const head = chunk === 0 ? { revision, checksum, confirmedAt: this.#confirmedAt } : undefined;
    try {
      this.#draft.put(packed ? unpack(packed) : entries);
      this.#lines.add(snapshotLine({ entries, packed }, chunks - this.#count, head));
    } catch (error) {
      this.#failure = error;
    }
    return true;
  }

  /** Removes what was written of the snapshot. Never rejects. */
  drop(): Promise<void> {
    return this.#lines.drop();
  }

  /** The snapshot, once its last part was added. */
  get whole(): WholeSnapshot | undefined {
    const { revision, checksum, chunks } = this.#first;
    if (this.#count < chunks) return undefined;
    return {
      revision,
      checksum,
      lines: this.#lines,
      tables: () => {
        if (this.#failure !== undefined) throw this.#failure;
        return this.#draft.finish(revision, checksum);
      },
    };
  }
}
