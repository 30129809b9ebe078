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
  received: ReceivedLines;
  /** Throws if a part could not be decoded or the checksum differs. */
  tables(): Tables;
}

/** The parts of a snapshot that have arrived so far. Only their rows are kept in memory. */
export class SnapshotParts {
  readonly #first: SnapshotEvent;
  readonly #confirmedAt: number;
  readonly #draft = new TablesDraft(NO_TABLES);
  readonly #lines: ReceivedLines;
  #received = 0;
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
      this.#received === chunk &&
      first.chunks === chunks &&
      chunks <= CHUNKS_MAX &&
      first.revision === revision &&
      first.checksum === checksum &&
      Array.isArray(entries);
    if (!fits) return false;
    this.#received += 1;
    const head = chunk === 0 ? { revision, checksum, confirmedAt: this.#confirmedAt } : undefined;
    this.#lines.add(snapshotLine({ entries, packed }, chunks - this.#received, head));
    try {
      if (this.#failure === undefined) this.#draft.put(packed ? unpack(packed) : entries);
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
    if (this.#received < chunks) return undefined;
    return {
      revision,
      checksum,
      received: this.#lines,
      tables: () => {
        if (this.#failure !== undefined) throw this.#failure;
        return this.#draft.finish(revision, checksum);
      },
    };
  }
}
