/** The compacted configuration in memory: what a snapshot or a delta for a node is cut from. No I/O. */
import { ConfigChecksum } from '@gateway/shared/checksum';
import type { ConfigEntry, ConfigEvent } from '@gateway/shared/node-api';
import type { ConfigKind, ConfigRecord } from '@gateway/shared/records';

/** A row of `config_log`: a live entry, or a tombstone without payload. */
export interface LogRow {
  kind: ConfigKind;
  key: string;
  revision: number;
  payload: ConfigRecord | null;
}

export type SnapshotEvent = Extract<ConfigEvent, { __typename: 'ConfigSnapshot' }>;
export type DeltaEvent = Extract<ConfigEvent, { __typename: 'ConfigDelta' }>;

/** A chunk of a snapshot, and the largest delta, have this many entries. */
export const CHUNK_ENTRIES_MAX = 2000;

/** Live entries and tombstones up to one revision, with their checksum. */
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

  /** Takes rows newer than `revision`, and returns what changed as one delta; undefined where nothing did. */
  advance(rows: readonly LogRow[], head: { revision: number; prunedTo: number }): DeltaEvent | undefined {
    const fromRevision = this.#revision;
    for (const row of rows) this.#put(row);
    if (head.prunedTo > this.#prunedTo) this.#forgetTombstones(head.prunedTo);
    this.#revision = head.revision;
    return head.revision > fromRevision ? this.#delta(rows, fromRevision) : undefined;
  }

  /**
   * All live entries, in chunks that carry the same revision and checksum. Never empty: nothing is one
   * empty chunk.
   */
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
   * What changed since a revision; a snapshot where that is too much for one delta, nothing where nothing
   * changed. Undefined where it cannot be known: tombstones up to there are gone, or the revision lies in
   * the future.
   */
  since(fromRevision: number): ConfigEvent[] | undefined {
    if (fromRevision < this.#prunedTo || fromRevision > this.#revision) return undefined;
    if (fromRevision === this.#revision) return [];
    const rows = [...this.#rows.values()].filter((row) => row.revision > fromRevision);
    return this.asEvents(this.#delta(rows, fromRevision));
  }

  /** The delta itself, or a snapshot in its place where it is too large for one message. */
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
