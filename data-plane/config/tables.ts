/**
 * The entries of the configuration by kind and key. Snapshots fill them, deltas change them, checksums
 * verify them.
 */
import { ConfigChecksum } from '@gateway/shared/checksum';
import type { ConfigEntry } from '@gateway/shared/node-api';
import type { ConfigKind, ConfigRecord } from '@gateway/shared/records';
import { DecodeError, decodeRecord } from './decode.ts';
import { PersistentMap } from './persistent-map.ts';

/** An entry of a table. */
export interface TableEntry extends ConfigEntry {
  /** Why this node cannot use the record, which is kept as it came; absent for a valid record. */
  problem?: string;
}

export type EntryTable = PersistentMap<TableEntry>;

/**
 * Kinds whose malformed records are skipped. Such a record affects only one upstream, and may have words of a
 * newer control plane.
 */
const UPSTREAM_KINDS: ReadonlySet<ConfigKind> = new Set<ConfigKind>(['PROVIDER', 'ROUTE']);

/** One consistent state of the configuration. Immutable; `changed` returns the next one. */
export interface Tables {
  readonly revision: number;
  readonly checksum: string;
  readonly byKind: ReadonlyMap<ConfigKind, EntryTable>;
}

/** The changes of a delta. */
export interface TableChange {
  revision: number;
  checksum: string;
  upserts: readonly ConfigEntry[];
  removals: readonly { kind: ConfigKind; key: string }[];
}

const NO_ENTRIES: EntryTable = PersistentMap.from(new Map());
export const NO_TABLES: Tables = { revision: 0, checksum: new ConfigChecksum().value, byKind: new Map() };

/** The entries of a kind. */
export function tableOf(tables: Tables, kind: ConfigKind): EntryTable {
  return tables.byKind.get(kind) ?? NO_ENTRIES;
}

/** Builds the next state part by part. The state that it starts from is not changed. */
export class TablesDraft {
  readonly #base: Tables;
  readonly #checksum: ConfigChecksum;
  readonly #changes = new Map<ConfigKind, Map<string, TableEntry | undefined>>();
  /** Ids of wallets: the keys and the account of a wallet share one string. */
  readonly #walletIds = new Map<string, string>();

  constructor(base: Tables) {
    this.#base = base;
    this.#checksum = ConfigChecksum.from(base.checksum);
  }

  /** Adds or replaces entries. Throws DecodeError for a bad record, unless it concerns one upstream alone. */
  put(entries: readonly ConfigEntry[]): void {
    for (const each of entries) {
      const entry = decodeEntry(each);
      this.#shareWalletId(entry.payload);
      this.#set(entry.kind, entry.key, entry);
    }
  }

  #shareWalletId(record: ConfigRecord): void {
    if (record.kind !== 'API_KEY' && record.kind !== 'ACCOUNT') return;
    const known = this.#walletIds.get(record.walletId);
    if (known === undefined) this.#walletIds.set(record.walletId, record.walletId);
    else record.walletId = known;
  }

  remove(names: TableChange['removals']): void {
    for (const { kind, key } of names) this.#set(kind, key, undefined);
  }

  /** Returns the new state. Throws if its checksum is not the announced one. */
  finish(revision: number, checksum: string): Tables {
    if (this.#checksum.value !== checksum)
      throw new Error(`revision ${revision} does not have the announced checksum`);
    const byKind = new Map(this.#base.byKind);
    for (const [kind, changes] of this.#changes) byKind.set(kind, tableOf(this.#base, kind).with(changes));
    return { revision, checksum, byKind };
  }

  #set(kind: ConfigKind, key: string, entry: TableEntry | undefined): void {
    const changes = this.#changes.get(kind) ?? new Map<string, TableEntry | undefined>();
    this.#changes.set(kind, changes);
    const old = changes.has(key) ? changes.get(key) : tableOf(this.#base, kind).get(key);
    if (old) this.#checksum.toggle(kind, key, old.revision);
    if (entry) this.#checksum.toggle(kind, key, entry.revision);
    changes.set(key, entry);
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

/** All entries, kind by kind. */
export function* entriesOf(tables: Tables): Generator<TableEntry, undefined> {
  for (const table of tables.byKind.values()) yield* table.values();
  return undefined;
}

/** Validates an entry: its payload must have the shape of its kind. Throws DecodeError. */
function decodeEntry({ kind, key, revision, payload }: ConfigEntry): TableEntry {
  const place = `${kind} ${key}`;
  if (!Number.isSafeInteger(revision)) throw new DecodeError(place, 'an entry with an integer revision');
  try {
    const record = decodeRecord(kind, payload, place);
    // The key of most entries is the id of the record: sharing the string saves memory.
    return { kind, key: record.id === key ? record.id : key, revision, payload: record };
  } catch (error) {
    if (!(error instanceof DecodeError) || !UPSTREAM_KINDS.has(kind)) throw error;
    return { kind, key, revision, payload, problem: error.message };
  }
}
