/** Indexes records by a field, and updates the index from the changes of a table. */
import type { ConfigEntry } from '@gateway/shared/node-api';
import type { ConfigRecord } from '@gateway/shared/records';
import { PersistentMap } from './persistent-map.ts';
import { tableOf } from './tables.ts';
import type { EntryTable, SmallKind, Tables } from './tables.ts';

/** A record of one kind. */
export type RecordOf<Kind extends SmallKind> = Extract<ConfigRecord, { kind: Kind }>;

/** The records of one kind by the key that `keyOf` returns. Records with null are left out. */
export class RecordIndex<Kind extends SmallKind> {
  readonly #kind: Kind;
  readonly #keyOf: (record: RecordOf<Kind>) => string | null;
  #table: EntryTable | undefined;
  #lookup: PersistentMap<RecordOf<Kind>> = PersistentMap.from(new Map());

  constructor(kind: Kind, keyOf: (record: RecordOf<Kind>) => string | null) {
    this.#kind = kind;
    this.#keyOf = keyOf;
  }

  /** The index of these tables. The work is proportional to the changes since the tables of the last call. */
  of(tables: Tables): PersistentMap<RecordOf<Kind>> {
    const table = tableOf(tables, this.#kind);
    if (table === this.#table) return this.#lookup;
    if (!this.#table) return this.#first(table);
    const changes = new Map<string, RecordOf<Kind> | undefined>();
    const differences = [...table.since(this.#table)];
    // Removals come first, because a key may move from one record to another in one change.
    for (const { before } of differences) {
      const record = this.#recordOf(before);
      const key = record && this.#keyOf(record);
      if (key && this.#lookup.get(key) === record) changes.set(key, undefined);
    }
    for (const { after } of differences) {
      const record = this.#recordOf(after);
      const key = record && this.#keyOf(record);
      if (key) changes.set(key, record);
    }
    this.#lookup = this.#lookup.with(changes);
    this.#table = table;
    return this.#lookup;
  }

  #first(table: EntryTable): PersistentMap<RecordOf<Kind>> {
    const all = new Map<string, RecordOf<Kind>>();
    for (const entry of table.values()) {
      const record = recordOf(entry, this.#kind);
      const key = this.#keyOf(record);
      if (key) all.set(key, record);
    }
    this.#lookup = PersistentMap.from(all);
    this.#table = table;
    return this.#lookup;
  }

  #recordOf(entry: ConfigEntry | undefined): RecordOf<Kind> | undefined {
    return entry && recordOf(entry, this.#kind);
  }
}

/** All valid records of a kind. */
export function* recordsOf<Kind extends SmallKind>(
  tables: Tables,
  kind: Kind,
): Generator<RecordOf<Kind>, undefined> {
  for (const entry of tableOf(tables, kind).values())
    if (entry.problem === undefined) yield recordOf(entry, kind);
  return undefined;
}

/** Why records of upstreams and routes cannot be used, by kind and key. */
export function problemsOf(tables: Tables): ReadonlyMap<string, string> {
  const problems = new Map<string, string>();
  for (const kind of ['PROVIDER', 'ROUTE'] as const)
    for (const { key, problem } of tableOf(tables, kind).values())
      if (problem !== undefined) problems.set(`${kind} ${key}`, problem);
  return problems;
}

/** The record of a valid table entry. Entries are validated when they enter a table: the kind is certain. */
export function recordOf<Kind extends SmallKind>(entry: ConfigEntry, _kind: Kind): RecordOf<Kind> {
  return entry.payload as RecordOf<Kind>;
}
