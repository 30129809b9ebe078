/** Puts a snapshot together that comes in parts, so that requests are answered between two of them. */
import type { ConfigEvent } from '@gateway/shared/node-api';
import { NO_TABLES, TablesDraft } from './tables.ts';
import type { Tables } from './tables.ts';

const CHUNKS_MAX = 10_000;

type SnapshotEvent = Extract<ConfigEvent, { __typename: 'ConfigSnapshot' }>;

/** A snapshot of which all parts have come. */
export interface WholeSnapshot {
  revision: number;
  checksum: string;
  /** Throws where a part could not be read, or where the whole is not what was announced. */
  tables(): Tables;
}

/** The parts of one snapshot. */
export class SnapshotParts {
  readonly #first: SnapshotEvent;
  readonly #draft = new TablesDraft(NO_TABLES);
  #next = 0;
  #failure: unknown;

  /** `first`: the part that begins it; still to be added. */
  constructor(first: SnapshotEvent) {
    this.#first = { ...first, entries: [] };
  }

  /** Adds the next part; false where it does not belong there. A part that cannot be read belongs there. */
  add({ revision, checksum, chunk, chunks, entries }: SnapshotEvent): boolean {
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
      if (this.#failure === undefined) this.#draft.put(entries);
    } catch (error) {
      this.#failure = error;
    }
    return true;
  }

  /** The snapshot once its last part was added. */
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
