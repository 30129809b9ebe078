/**
 * The entries of the configuration by kind and key: what snapshots fill, deltas change, and checksums prove.
 */
import { ConfigChecksum } from '@gateway/shared/checksum';
import type { ConfigEntry } from '@gateway/shared/node-api';
import type { ConfigKind } from '@gateway/shared/records';
import { DecodeError, decodeRecord } from './decode.ts';

export type EntryTable = ReadonlyMap<string, ConfigEntry>;

/** One consistent state of the configuration. Never changed; `changed` makes the next one. */
export interface Tables {
  readonly revision: number;
  readonly checksum: string;
  readonly byKind: ReadonlyMap<ConfigKind, EntryTable>;
}

/** What a snapshot or a delta changes; keys as the control plane names entries. */
export interface TableChange {
  revision: number;
  checksum: string;
  upserts: readonly ConfigEntry[];
  removals: readonly { kind: ConfigKind; key: string }[];
}

export const NO_TABLES: Tables = { revision: 0, checksum: new ConfigChecksum().value, byKind: new Map() };

/** An entry as it may be trusted: its payload has the shape of its kind. Throws DecodeError. */
export function decodeEntry(entry: ConfigEntry): ConfigEntry {
  const place = `${entry.kind} ${entry.key}`;
  if (!Number.isSafeInteger(entry.revision)) throw new DecodeError(place, 'of a whole revision');
  return { ...entry, payload: decodeRecord(entry.kind, entry.payload, place) };
}

/**
 * The state after the change. Only the tables of kinds that changed are copied.
 * Throws DecodeError for a bad record, and Error when the result does not have the announced checksum.
 */
export function changed(tables: Tables, change: TableChange): Tables {
  const byKind = new Map<ConfigKind, EntryTable>(tables.byKind);
  const copies = new Map<ConfigKind, Map<string, ConfigEntry>>();
  const copyOf = (kind: ConfigKind): Map<string, ConfigEntry> => {
    const copy = copies.get(kind) ?? new Map(tables.byKind.get(kind));
    copies.set(kind, copy);
    byKind.set(kind, copy);
    return copy;
  };
  const checksum = ConfigChecksum.from(tables.checksum);
  for (const entry of change.upserts.map(decodeEntry)) {
    const table = copyOf(entry.kind);
    const old = table.get(entry.key);
    if (old) checksum.toggle(entry.kind, entry.key, old.revision);
    checksum.toggle(entry.kind, entry.key, entry.revision);
    table.set(entry.key, entry);
  }
  for (const { kind, key } of change.removals) {
    const old = copyOf(kind).get(key);
    if (!old) continue;
    checksum.toggle(kind, key, old.revision);
    copyOf(kind).delete(key);
  }
  if (checksum.value !== change.checksum)
    throw new Error(`revision ${change.revision} does not have the announced checksum`);
  return { revision: change.revision, checksum: checksum.value, byKind };
}

/** All entries, kind by kind. */
export function entriesOf(tables: Tables): ConfigEntry[] {
  return [...tables.byKind.values()].flatMap((table) => [...table.values()]);
}
