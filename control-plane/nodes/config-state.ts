/** The compacted configuration in memory, from which snapshots and deltas for nodes are made. No I/O. */
import { ConfigChecksum } from '@gateway/shared/checksum';
import type { ConfigEntry, ConfigEvent } from '@gateway/shared/node-api';
import type { LogHead, LogRow } from '../database/config-log.ts';
import { Buckets } from './config-buckets.ts';
import type { LiveRow } from './config-buckets.ts';
import { ConfigPart, idOf } from './config-parts.ts';

type SnapshotEvent = Extract<ConfigEvent, { __typename: 'ConfigSnapshot' }>;
type DeltaEvent = Extract<ConfigEvent, { __typename: 'ConfigDelta' }>;

/** A part of a snapshot that is still to be encoded for a node. */
export interface SnapshotPart extends Omit<SnapshotEvent, 'entries' | 'packed'> {
  part: ConfigPart;
  /** Whether entries have secrets, which are encrypted for each node. */
  hasSecrets: boolean;
}

/** Maximum number of entries in one part of a snapshot and in one delta. */
export const CHUNK_ENTRIES_MAX = 2000;
/**
 * Changes that are kept in order of their revisions. A node that lacks more gets a snapshot, which it would
 * mostly get anyway.
 */
const RECENT_MAX = 20_000;
/** Kinds with secrets; a part of a snapshot has only such entries or none. */
const SECRET_KINDS: ReadonlySet<LogRow['kind']> = new Set<LogRow['kind']>(['CREDENTIAL', 'SETTINGS']);

/** Live entries and tombstones up to one revision, with the checksum of the live entries. */
export class ConfigState {
  readonly #plain = new Buckets(CHUNK_ENTRIES_MAX);
  readonly #secret = new Buckets(CHUNK_ENTRIES_MAX);
  readonly #checksum = new ConfigChecksum();
  /** The last changes in order of revisions, all after `#recentFrom`; a changed entry is in it again. */
  #recent: LogRow[] = [];
  #recentFrom = 0;
  #revision = 0;
  #prunedTo = 0;
  #isWhole = true;

  get revision(): number {
    return this.#revision;
  }
  get checksum(): string {
    return this.#checksum.value;
  }
  /** False between `put` and `advance`: the entries are of no one revision. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Adds rows of a revision of which more follow; `advance` completes it. */
  put(rows: readonly LogRow[]): void {
    this.#isWhole = false;
    for (const row of rows) this.#put(row);
  }

  /**
   * Adds rows newer than `revision`, and returns them as one delta; undefined if the revision is unchanged.
   */
  advance(rows: readonly LogRow[], head: LogHead): DeltaEvent | undefined {
    const fromRevision = this.#revision;
    for (const row of rows) this.#put(row);
    this.#prunedTo = Math.max(this.#prunedTo, head.prunedTo);
    this.#revision = head.revision;
    this.#isWhole = true;
    return head.revision > fromRevision ? this.#delta(rows, fromRevision) : undefined;
  }

  /** All live entries, in parts with the same revision and checksum; one empty part if there are none. */
  snapshot(): SnapshotPart[] {
    const parts = [
      ...this.#secret.parts().map((part) => ({ part, hasSecrets: true })),
      ...this.#plain.parts().map((part) => ({ part, hasSecrets: false })),
    ];
    if (parts.length === 0) parts.push({ part: ConfigPart.of([]), hasSecrets: false });
    const { revision, checksum } = this;
    return parts.map((part, chunk) => ({
      ...{ __typename: 'ConfigSnapshot' as const, revision, checksum, chunk, chunks: parts.length },
      ...part,
    }));
  }

  /**
   * The changes since a revision: a delta, a snapshot if the delta is too large or too old, or nothing at the
   * newest revision. Undefined if tombstones since then were deleted, or the revision is newer than this
   * state.
   */
  since(fromRevision: number): (DeltaEvent | SnapshotPart)[] | undefined {
    if (fromRevision < this.#prunedTo || fromRevision > this.#revision) return undefined;
    if (fromRevision === this.#revision) return [];
    if (fromRevision < this.#recentFrom) return this.snapshot();
    const last = new Map<string, LogRow>();
    for (const row of this.#recent) if (row.revision > fromRevision) last.set(idOf(row), row);
    return this.asEvents(this.#delta([...last.values()], fromRevision));
  }

  /** The delta, or a snapshot if the delta is too large for one message. */
  asEvents(delta: DeltaEvent): (DeltaEvent | SnapshotPart)[] {
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
    const id = idOf(row);
    const buckets = SECRET_KINDS.has(row.kind) ? this.#secret : this.#plain;
    const before = buckets.revisionOf(id);
    if (before !== undefined) this.#checksum.toggle(row.kind, row.key, before);
    if (isLive(row)) {
      this.#checksum.toggle(row.kind, row.key, row.revision);
      buckets.set(row);
    } else {
      buckets.delete(id);
    }
    this.#recent.push(row);
    if (this.#recent.length > 2 * RECENT_MAX) {
      this.#recentFrom = this.#recent[this.#recent.length - RECENT_MAX - 1]?.revision ?? 0;
      this.#recent = this.#recent.slice(-RECENT_MAX);
    }
  }
}

function isLive(row: LogRow): row is LiveRow {
  return row.payload !== null;
}
