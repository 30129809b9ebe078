/**
 * The entries of the configuration by kind and key. Snapshots fill them, deltas change them, checksums
 * verify them.
 */
import { ConfigChecksum } from '@gateway/shared/checksum';
import type { ConfigEntry } from '@gateway/shared/node-api';
import type { ConfigKind } from '@gateway/shared/records';
import { DecodeError, decodeRecord } from './decode.ts';
import { KeyTable } from './key-table.ts';
import type { KeyTableDraft } from './key-table.ts';
import { PersistentMap } from './persistent-map.ts';

/** An entry of a table. */
export interface TableEntry extends ConfigEntry {
  /** Why this node cannot use the record, which is kept as it came; absent for a valid record. */
  problem?: string;
}

export type EntryTable = PersistentMap<TableEntry>;
/** The kinds of which few records exist, as objects. */
export type SmallKind = Exclude<ConfigKind, 'API_KEY'>;

/**
 * Kinds whose malformed records are skipped. Such a record affects only one upstream, and may have words of a
 * newer control plane.
 */
const UPSTREAM_KINDS: ReadonlySet<ConfigKind> = new Set<ConfigKind>(['PROVIDER', 'ROUTE']);

/** One consistent state of the configuration. Immutable; `changed` returns the next one. */
export interface Tables {
  readonly revision: number;
  readonly checksum: string;
  readonly keys: KeyTable;
  readonly byKind: ReadonlyMap<SmallKind, EntryTable>;
}

/** The changes of a delta. */
export interface TableChange {
  revision: number;
  checksum: string;
  upserts: readonly ConfigEntry[];
  removals: readonly { kind: ConfigKind; key: string }[];
}

const NO_ENTRIES: EntryTable = PersistentMap.from(new Map());
export const NO_TABLES: Tables = {
  revision: 0,
  checksum: new ConfigChecksum().value,
  keys: KeyTable.EMPTY,
  byKind: new Map(),
};

/** The entries of a kind. */
export function tableOf(tables: Tables, kind: SmallKind): EntryTable {
  return tables.byKind.get(kind) ?? NO_ENTRIES;
}

/** Builds the next state part by part. The state that it starts from is not changed. */
export class TablesDraft {
  readonly #base: Tables;
  readonly #checksum: ConfigChecksum;
  #keys: KeyTableDraft | undefined;
  readonly #changes = new Map<SmallKind, Map<string, TableEntry | undefined>>();

  constructor(base: Tables) {
    this.#base = base;
    this.#checksum = ConfigChecksum.from(base.checksum);
  }

  /** Adds or replaces entries. Throws DecodeError for a bad record, unless it concerns one upstream alone. */
  put(entries: readonly ConfigEntry[]): void {
    for (const each of entries) {
      const entry = decodeEntry(each);
      const { kind, key, revision } = entry;
      const old = this.#put(entry);
      if (old !== undefined) this.#checksum.toggle(kind, key, old);
      this.#checksum.toggle(kind, key, revision);
    }
  }

  remove(names: TableChange['removals']): void {
    for (const { kind, key } of names) {
      const old = kind === 'API_KEY' ? this.#keyDraft().remove(key) : this.#set(kind, key, undefined);
      if (old !== undefined) this.#checksum.toggle(kind, key, old);
    }
  }

  /** Returns the new state. Throws if its checksum is not the announced one. */
  finish(revision: number, checksum: string): Tables {
    if (this.#checksum.value !== checksum)
      throw new Error(`revision ${revision} does not have the announced checksum`);
    const byKind = new Map(this.#base.byKind);
    for (const [kind, changes] of this.#changes) byKind.set(kind, tableOf(this.#base, kind).with(changes));
    return { revision, checksum, keys: this.#keys?.finish() ?? this.#base.keys, byKind };
  }

  #put(entry: TableEntry): number | undefined {
    const { key, revision, payload } = entry;
    if (entry.kind !== 'API_KEY') return this.#set(entry.kind, key, entry);
    // Only entries of upstreams can have a payload that could not be decoded.
    if (payload.kind !== 'API_KEY') throw new Error('an API key has another payload');
    return this.#keyDraft().set({ revision, record: payload });
  }

  #keyDraft(): KeyTableDraft {
    this.#keys ??= this.#base.keys.edit();
    return this.#keys;
  }

  /** Returns the revision of the replaced entry, if there was one. */
  #set(kind: SmallKind, key: string, entry: TableEntry | undefined): number | undefined {
    const changes = this.#changes.get(kind) ?? new Map<string, TableEntry | undefined>();
    this.#changes.set(kind, changes);
    const old = changes.has(key) ? changes.get(key) : tableOf(this.#base, kind).get(key);
    changes.set(key, entry);
    return old?.revision;
  }
}

/**
 * The state after a change. The work is proportional to the change. Throws like `put`, and Error if the
 * result does not have the announced checksum.
 */
export function changed(tables: Tables, { revision, checksum, upserts, removals }: TableChange): Tables {
  const draft = new TablesDraft(tables);
  draft.put(upserts);
  draft.remove(removals);
  return draft.finish(revision, checksum);
}

/** All entries: those of few kinds first, and then the keys. */
export function* entriesOf(tables: Tables): Generator<TableEntry, undefined> {
  for (const table of tables.byKind.values()) yield* table.values();
  for (const { revision, record } of tables.keys.values())
    yield { kind: record.kind, key: record.id, revision, payload: record };
  return undefined;
}

/** Number of all entries. */
export function sizeOf(tables: Tables): number {
  let size = tables.keys.size;
  for (const table of tables.byKind.values()) size += table.size;
  return size;
}

/** Validates an entry: its payload must have the shape of its kind. Throws DecodeError. */
function decodeEntry({ kind, key, revision, payload }: ConfigEntry): TableEntry {
  const place = `${kind} ${key}`;
  if (!Number.isSafeInteger(revision)) throw new DecodeError(place, 'an entry with an integer revision');
  try {
    const record = decodeRecord(kind, payload, place);
    if (record.kind === 'API_KEY' && record.id !== key)
      throw new DecodeError(place, 'under the id of its key');
    // Most accounts have the id of their wallet, and most entries the key as id: one string saves memory.
    if (record.kind === 'ACCOUNT' && record.walletId === record.id) record.walletId = record.id;
    return { kind, key: record.id === key ? record.id : key, revision, payload: record };
  } catch (error) {
    if (!(error instanceof DecodeError) || !UPSTREAM_KINDS.has(kind)) throw error;
    return { kind, key, revision, payload, problem: error.message };
  }
}
