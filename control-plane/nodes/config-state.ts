/** The compacted configuration in memory, from which snapshots and deltas for nodes are made. No I/O. */
import { ConfigChecksum } from '@gateway/shared/checksum';
import type { ConfigEntry, ConfigEvent } from '@gateway/shared/node-api';
import type { LogHead, LogRow } from '../database/config-log.ts';

type SnapshotEvent = Extract<ConfigEvent, { __typename: 'ConfigSnapshot' }>;
type DeltaEvent = Extract<ConfigEvent, { __typename: 'ConfigDelta' }>;

/** Maximum number of entries in one chunk of a snapshot and in one delta. */
export const CHUNK_ENTRIES_MAX = 2000;

/** Live entries and tombstones up to one revision, with the checksum of the live entries. */
export class ConfigState {
  readonly #rows = new Map<string, LogRow>();
  readonly #checksum = new ConfigChecksum();
  #live = 0;
  #revision = 0;
  #prunedTo = 0;

  get revision(): number {
    return this.#revision;
  }
  get checksum(): string {
    return this.#checksum.value;
  }

  /**
   * Adds rows newer than `revision`, and returns them as one delta; undefined if the revision is unchanged.
   */
  advance(rows: readonly LogRow[], head: LogHead): DeltaEvent | undefined {
    const fromRevision = this.#revision;
    for (const row of rows) this.#put(row);
    if (head.prunedTo > this.#prunedTo) this.#forgetTombstones(head.prunedTo);
    this.#revision = head.revision;
    return head.revision > fromRevision ? this.#delta(rows, fromRevision) : undefined;
  }

  /** All live entries, in chunks with the same revision and checksum; one empty chunk if there are none. */
  snapshot(): SnapshotEvent[] {
    const entries: ConfigEntry[] = [];
    for (const row of this.#rows.values()) {
      if (row.payload)
        entries.push({ kind: row.kind, key: row.key, revision: row.revision, payload: row.payload });
    }
    const chunks = Math.max(1, Math.ceil(this.#live / CHUNK_ENTRIES_MAX));
    return Array.from({ length: chunks }, (_, chunk) => ({
      __typename: 'ConfigSnapshot',
      revision: this.#revision,
      checksum: this.checksum,
      chunk,
      chunks,
      entries: entries.slice(chunk * CHUNK_ENTRIES_MAX, (chunk + 1) * CHUNK_ENTRIES_MAX),
    }));
  }

  /**
   * The changes since a revision: a delta, a snapshot if the delta is too large, or nothing at the newest
   * revision. Undefined if tombstones since then were deleted, or the revision is newer than this state.
   */
  since(fromRevision: number): ConfigEvent[] | undefined {
    if (fromRevision < this.#prunedTo || fromRevision > this.#revision) return undefined;
    if (fromRevision === this.#revision) return [];
    const rows = [...this.#rows.values()].filter((row) => row.revision > fromRevision);
    return this.asEvents(this.#delta(rows, fromRevision));
  }

  /** The delta, or a snapshot if the delta is too large for one message. */
  asEvents(delta: DeltaEvent): ConfigEvent[] {
    return delta.upserts.length + delta.removals.length > CHUNK_ENTRIES_MAX ? this.snapshot() : [delta];
  }

  #delta(rows: readonly LogRow[], fromRevision: number): DeltaEvent {
    const upserts: ConfigEntry[] = [];
    const removals: DeltaEvent['removals'] = [];
    for (const { kind, key, revision, payload } of rows) {
      if (payload) upserts.push({ kind, key, revision, payload });
      else removals.push({ kind, key });
    }
    return {
      __typename: 'ConfigDelta',
      fromRevision,
      revision: this.#revision,
      checksum: this.checksum,
      upserts,
      removals,
    };
  }

  #put(row: LogRow): void {
    const id = `${row.kind} ${row.key}`;
    const before = this.#rows.get(id);
    if (before?.payload) this.#toggle(before, -1);
    if (row.payload) this.#toggle(row, 1);
    this.#rows.set(id, row);
  }

  #toggle({ kind, key, revision }: LogRow, count: 1 | -1): void {
    this.#checksum.toggle(kind, key, revision);
    this.#live += count;
  }

  #forgetTombstones(prunedTo: number): void {
    this.#prunedTo = prunedTo;
    for (const [id, row] of this.#rows) if (!row.payload && row.revision <= prunedTo) this.#rows.delete(id);
  }
}
