/**
 * API keys as bytes. A million keys as objects take 500 bytes each, and each collection of garbage visits
 * them. A row takes 130 bytes outside the heap. Rows are only added, and never changed.
 */
import { Buffer } from 'node:buffer';
import type { KeyRecord } from '@gateway/shared/records';

/** A key with its revision. */
export interface RevisedKey {
  revision: number;
  record: KeyRecord;
}

/** Rows start at multiples of this many bytes, so that 32 bits address 32 GiB. */
const UNIT_BYTES = 8;
const BLOCK_BYTES = 1 << 20;
const BLOCK_UNITS = BLOCK_BYTES / UNIT_BYTES;
const DIGEST_BYTES = 32;
/** Places of the parts of a row from its start. */
const ID_HASH = 0;
const WALLET_HASH = 4;
const TEXT_BYTES = 8;
const REVISION = 12;
const DIGEST = 20;
const TEXT = DIGEST + DIGEST_BYTES;
/** 0 is no row. */
const FIRST_ROW = 1;
/** At least so many keys that were looked up last are kept as objects, at most twice as many. */
const RECENT_MAX = 10_000;

/** The fields that a row has no place for, with the values of most keys. The text has only other values. */
const USUAL = {
  previousDigest: null,
  previousUntil: null,
  enabled: true,
  disabledReason: null,
  poolId: null,
  allowedModels: null,
  allowedIps: [],
  expiresAt: null,
  hasSpendLimit: false,
  hidden: false,
} satisfies Omit<KeyRecord, 'kind' | 'id' | 'digest' | 'walletId' | 'group'>;
Object.freeze(USUAL.allowedIps);
const FIELDS = Object.keys(USUAL) as (keyof typeof USUAL)[];

/** The text of a row: id, wallet, group, and the unusual values if there are any. */
type RowText = [
  id: string,
  walletId: string,
  group: KeyRecord['group'],
  unusual?: Partial<Record<string, unknown>>,
];

/** Rows of keys. A row is named by the number that `add` returned, which is never 0. */
export class KeyRows {
  readonly #blocks: Buffer[] = [];
  /** Units of all blocks that are in use. */
  #used = FIRST_ROW;
  #recent = new Map<number, KeyRecord>();
  #lessRecent = new Map<number, KeyRecord>();

  /** Size of all rows that were added, in bytes. */
  get bytes(): number {
    return this.#used * UNIT_BYTES;
  }

  /** Adds a key. */
  add({ revision, record }: RevisedKey): number {
    const text = textOf(record);
    const textBytes = Buffer.byteLength(text);
    const row = this.#reserve(TEXT + textBytes);
    const [block, at] = this.#placeOf(row);
    block.writeUInt32LE(hashOf(record.id), at + ID_HASH);
    block.writeUInt32LE(hashOf(record.walletId), at + WALLET_HASH);
    block.writeUInt32LE(textBytes, at + TEXT_BYTES);
    block.writeDoubleLE(revision, at + REVISION);
    block.write(record.digest, at + DIGEST, 'hex');
    block.write(text, at + TEXT);
    return row;
  }

  /** Adds a copy of a row. */
  addFrom(other: KeyRows, row: number): number {
    const bytes = other.#bytesOf(row);
    const copy = this.#reserve(bytes.length);
    const [block, at] = this.#placeOf(copy);
    bytes.copy(block, at);
    return copy;
  }

  /** `hashOf` of the key's id. */
  idHash(row: number): number {
    const [block, at] = this.#placeOf(row);
    return block.readUInt32LE(at + ID_HASH);
  }

  /** `hashOf` of the wallet's id. */
  walletHash(row: number): number {
    const [block, at] = this.#placeOf(row);
    return block.readUInt32LE(at + WALLET_HASH);
  }

  /** `digestHashOf` of the key's digest. */
  digestHash(row: number): number {
    const [block, at] = this.#placeOf(row);
    return digestHashOf(block, at + DIGEST);
  }

  /** Whether the key has this digest. */
  hasDigest(row: number, digest: Buffer): boolean {
    const [block, at] = this.#placeOf(row);
    return block.compare(digest, 0, DIGEST_BYTES, at + DIGEST, at + TEXT) === 0;
  }

  /** Whether a row of these or of other rows is the same key with the same values and revision. */
  equals(row: number, other: KeyRows, otherRow: number): boolean {
    return (this === other && row === otherRow) || this.#bytesOf(row).equals(other.#bytesOf(otherRow));
  }

  /** The size of a row in bytes. */
  sizeOf(row: number): number {
    const [block, at] = this.#placeOf(row);
    return Math.ceil((TEXT + block.readUInt32LE(at + TEXT_BYTES)) / UNIT_BYTES) * UNIT_BYTES;
  }

  /** The id of the key. */
  id(row: number): string {
    return this.#text(row)[0];
  }

  /** The revision that last changed the key. */
  revision(row: number): number {
    const [block, at] = this.#placeOf(row);
    return block.readDoubleLE(at + REVISION);
  }

  /** The key as a new object. */
  record(row: number): KeyRecord {
    const [block, at] = this.#placeOf(row);
    const [id, walletId, group, unusual] = this.#text(row);
    const digest = block.toString('hex', at + DIGEST, at + TEXT);
    return { kind: 'API_KEY', id, digest, walletId, group, ...USUAL, ...unusual };
  }

  /** The key as an object, the same one for keys that were looked up recently. */
  recentRecord(row: number): KeyRecord {
    const known = this.#recent.get(row);
    if (known) return known;
    const record = this.#lessRecent.get(row) ?? this.record(row);
    if (this.#recent.size >= RECENT_MAX) {
      this.#lessRecent = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(row, record);
    return record;
  }

  #text(row: number): RowText {
    const [block, at] = this.#placeOf(row);
    const end = at + TEXT + block.readUInt32LE(at + TEXT_BYTES);
    return JSON.parse(block.toString('utf8', at + TEXT, end)) as RowText;
  }

  #bytesOf(row: number): Buffer {
    const [block, at] = this.#placeOf(row);
    return block.subarray(at, at + TEXT + block.readUInt32LE(at + TEXT_BYTES));
  }

  /** Room for a row, within one block. A row that is too long for it gets a block that counts as several. */
  #reserve(bytes: number): number {
    const units = Math.ceil(bytes / UNIT_BYTES);
    const end = this.#blocks.length * BLOCK_UNITS;
    if (this.#used + units <= end) return this.#take(units);
    this.#used = Math.max(end, FIRST_ROW);
    const count = Math.ceil((units + FIRST_ROW) / BLOCK_UNITS);
    const block = Buffer.alloc(count * BLOCK_BYTES);
    for (let each = 0; each < count; each += 1) this.#blocks.push(block);
    const row = this.#take(units);
    // The numbers after the first of a long block start no row.
    if (count > 1) this.#used = this.#blocks.length * BLOCK_UNITS;
    return row;
  }

  #take(units: number): number {
    const row = this.#used;
    this.#used += units;
    return row;
  }

  #placeOf(row: number): [Buffer, number] {
    const block = this.#blocks[Math.floor(row / BLOCK_UNITS)];
    if (!block) throw new Error(`there is no row ${row}`);
    return [block, (row % BLOCK_UNITS) * UNIT_BYTES];
  }
}

/** 32 bits that differ for most texts. */
export function hashOf(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash, 31) + text.charCodeAt(at);
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The last 32 bits of the SHA-256 digest that starts at this place. */
export function digestHashOf(bytes: Buffer, at = 0): number {
  return bytes.readUInt32BE(at + DIGEST_BYTES - 4);
}

function textOf(record: KeyRecord): string {
  const unusual: Partial<Record<string, unknown>> = {};
  let isUsual = true;
  for (const field of FIELDS) {
    const value = record[field];
    if (value === USUAL[field] || (field === 'allowedIps' && record.allowedIps.length === 0)) continue;
    unusual[field] = value;
    isUsual = false;
  }
  const { id, walletId, group } = record;
  const text: RowText = isUsual ? [id, walletId, group] : [id, walletId, group, unusual];
  return JSON.stringify(text);
}
