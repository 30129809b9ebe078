/** The API keys of one state of the configuration, by id and by digest. Immutable; `edit` makes the next. */
import { Buffer } from 'node:buffer';
import type { KeyRecord } from '@gateway/shared/records';
import { KeyRows, digestHashOf, hashOf } from './key-rows.ts';
import type { RevisedKey } from './key-rows.ts';
import { PersistentMap } from './persistent-map.ts';
import type { Difference } from './persistent-map.ts';
import { RowIndex } from './row-index.ts';
import type { RowIndexDraft } from './row-index.ts';

/** Rows of replaced keys are dropped when they are more than half of all, and more than these bytes. */
const UNUSED_BYTES_MAX = 8 << 20;

interface KeyTableParts {
  rows: KeyRows;
  /** Size of the rows in the indexes, in bytes. */
  usedBytes: number;
  size: number;
  byId: RowIndex;
  byDigest: RowIndex;
  /** Ids of keys by the digest that a rotation replaced. */
  rotated: PersistentMap<string>;
}

/** Keys by id, by digest, and by the digest that a rotation replaced. */
export class KeyTable {
  /** A table without keys. */
  static readonly EMPTY = new KeyTable({
    rows: new KeyRows(),
    usedBytes: 0,
    size: 0,
    byId: RowIndex.EMPTY,
    byDigest: RowIndex.EMPTY,
    rotated: PersistentMap.from(new Map()),
  });
  readonly #parts: KeyTableParts;

  constructor(parts: KeyTableParts) {
    this.#parts = parts;
  }

  /** Number of keys. */
  get size(): number {
    return this.#parts.size;
  }

  /** Size of all rows in bytes, those of replaced keys included. */
  get bytes(): number {
    return this.#parts.rows.bytes;
  }

  /** A key by its id. */
  get(id: string): RevisedKey | undefined {
    const { rows, byId } = this.#parts;
    const row = findId(byId, rows, id);
    return row === 0 ? undefined : { revision: rows.revision(row), record: rows.recentRecord(row) };
  }

  /** The key whose secret has this SHA-256 digest, in lower-case hex. */
  byDigest(digest: string): KeyRecord | undefined {
    const { rows, byDigest } = this.#parts;
    const bytes = Buffer.from(digest, 'hex');
    const row = byDigest.find(digestHashOf(bytes), (each) => rows.hasDigest(each, bytes));
    return row === 0 ? undefined : rows.recentRecord(row);
  }

  /** The key whose last rotation replaced the secret with this digest. */
  byPreviousDigest(digest: string): KeyRecord | undefined {
    const id = this.#parts.rotated.get(digest);
    return id === undefined ? undefined : this.get(id)?.record;
  }

  /** All keys, as new objects. */
  *values(): Generator<RevisedKey, undefined> {
    const { rows, byId } = this.#parts;
    for (const row of byId.rows()) yield revisedKey(rows, row);
    return undefined;
  }

  /**
   * The keys of some wallets. There is no look-up by wallet, and suspensions are rare: the hashes of all keys
   * are compared.
   */
  *ofWallets(walletIds: Pick<ReadonlyMap<string, unknown>, 'has' | 'keys'>): Generator<KeyRecord, undefined> {
    const { rows, byId } = this.#parts;
    const hashes = new Set(Array.from(walletIds.keys(), hashOf));
    for (const row of byId.rows()) {
      const record = hashes.has(rows.walletHash(row)) ? rows.record(row) : undefined;
      if (record && walletIds.has(record.walletId)) yield record;
    }
    return undefined;
  }

  /** The keys of an earlier table that were changed or removed since. */
  *changedSince(earlier: KeyTable): Generator<Difference<KeyRecord>, undefined> {
    const { rows, byId } = this.#parts;
    const { rows: oldRows, byId: oldIndex } = earlier.#parts;
    const candidates = rows === oldRows ? oldIndex.rowsNotSharedWith(byId) : oldIndex.rows();
    for (const old of candidates) {
      const hash = oldRows.idHash(old);
      let isSame = false;
      const row = byId.find(hash, (each) => {
        isSame = rows.equals(each, oldRows, old);
        return isSame || (rows.idHash(each) === hash && rows.id(each) === oldRows.id(old));
      });
      if (isSame) continue;
      yield { before: oldRows.record(old), after: row === 0 ? undefined : rows.record(row) };
    }
    return undefined;
  }

  /** A draft of the next table. This one is not changed. */
  edit(): KeyTableDraft {
    return new KeyTableDraft(this.#parts);
  }
}

/** The next table, key by key. */
export class KeyTableDraft {
  readonly #rows: KeyRows;
  readonly #byId: RowIndexDraft;
  readonly #byDigest: RowIndexDraft;
  readonly #rotatedBefore: PersistentMap<string>;
  readonly #rotated = new Map<string, string | undefined>();
  #size: number;
  #usedBytes: number;

  constructor({ rows, usedBytes, size, byId, byDigest, rotated }: KeyTableParts) {
    // The rows of an empty table belong to nobody, so nobody may add to them.
    this.#rows = size === 0 ? new KeyRows() : rows;
    this.#byId = byId.edit((row) => this.#rows.idHash(row));
    this.#byDigest = byDigest.edit((row) => this.#rows.digestHash(row));
    this.#rotatedBefore = rotated;
    this.#size = size;
    this.#usedBytes = usedBytes;
  }

  /** Adds or replaces a key. Returns the revision of the replaced one. */
  set(key: RevisedKey): number | undefined {
    const replaced = this.remove(key.record.id);
    const row = this.#rows.add(key);
    this.#byId.add(row);
    this.#byDigest.add(row);
    this.#size += 1;
    this.#usedBytes += this.#rows.sizeOf(row);
    const { id, previousDigest } = key.record;
    if (previousDigest !== null) this.#rotated.set(previousDigest, id);
    return replaced;
  }

  /** Removes a key. Returns its revision; undefined if there is no such key. */
  remove(id: string): number | undefined {
    const row = findId(this.#byId, this.#rows, id);
    if (row === 0) return undefined;
    const { revision, record } = revisedKey(this.#rows, row);
    this.#byId.remove(row);
    this.#byDigest.remove(row);
    this.#size -= 1;
    this.#usedBytes -= this.#rows.sizeOf(row);
    const { previousDigest } = record;
    // Another key may have got the digest in the same change.
    if (previousDigest !== null && this.#rotatedTo(previousDigest) === id)
      this.#rotated.set(previousDigest, undefined);
    return revision;
  }

  /** The next table. The draft must not be used again. */
  finish(): KeyTable {
    const parts = {
      rows: this.#rows,
      usedBytes: this.#usedBytes,
      size: this.#size,
      byId: this.#byId.finish(),
      byDigest: this.#byDigest.finish(),
      rotated: this.#rotatedBefore.with(this.#rotated),
    };
    const unused = this.#rows.bytes - this.#usedBytes;
    return new KeyTable(unused > Math.max(this.#usedBytes, UNUSED_BYTES_MAX) ? withoutUnused(parts) : parts);
  }

  #rotatedTo(digest: string): string | undefined {
    return this.#rotated.has(digest) ? this.#rotated.get(digest) : this.#rotatedBefore.get(digest);
  }
}

/** The same keys in new rows. */
function withoutUnused(parts: KeyTableParts): KeyTableParts {
  const rows = new KeyRows();
  const byId = RowIndex.EMPTY.edit((row) => rows.idHash(row));
  const byDigest = RowIndex.EMPTY.edit((row) => rows.digestHash(row));
  for (const each of parts.byId.rows()) {
    const row = rows.addFrom(parts.rows, each);
    byId.add(row);
    byDigest.add(row);
  }
  return { ...parts, rows, byId: byId.finish(), byDigest: byDigest.finish() };
}

/** The row of a key; 0 if there is none. */
function findId(index: Pick<RowIndex, 'find'>, rows: KeyRows, id: string): number {
  const hash = hashOf(id);
  return index.find(hash, (row) => rows.idHash(row) === hash && rows.id(row) === id);
}

function revisedKey(rows: KeyRows, row: number): RevisedKey {
  return { revision: rows.revision(row), record: rows.record(row) };
}
