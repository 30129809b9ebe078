/**
 * Writes arrays of numbers and times in PostgreSQL's binary format, in which neither side converts them from
 * and to decimal digits.
 * https://github.com/postgres/postgres/blob/REL_18_STABLE/src/backend/utils/adt/arrayfuncs.c (array_recv)
 */
import { HEADER_BYTES, LENGTH_BYTES, NULL_LENGTH, writeHeader } from './text-array.ts';

/** A type of numbers: its OID, the bytes of an item, and how an item is written. */
interface NumberType<Item> {
  oid: number;
  bytes: number;
  write(buffer: Buffer, item: Item, at: number): void;
}

/** PostgreSQL counts microseconds from the start of 2000, in UTC. */
const EPOCH_MS = Date.UTC(2000, 0, 1);
const MICROS_PER_MS = 1000;
/** A number of 64 bits is written in two halves. */
const HALF_BYTES = 4;
const HALF_VALUES = 2 ** 32;

const BIGINT: NumberType<bigint | number> = { oid: 20, bytes: 8, write: writeBigint };
const INTEGER: NumberType<number> = { oid: 23, bytes: 4, write: writeInteger };
const TIMESTAMPTZ: NumberType<Date> = {
  oid: 1184,
  bytes: 8,
  write: (buffer, item, at) => writeBigint(buffer, microsOf(item), at),
};

/** The value of a parameter of type bigint[]. Numbers are safe integers. */
export function bigintArray(items: readonly (bigint | number | null)[]): Buffer {
  return arrayOf(BIGINT, items);
}

/** The value of a parameter of type integer[]. Throws a TypeError for a number that is no integer. */
export function integerArray(items: readonly (number | null)[]): Buffer {
  return arrayOf(INTEGER, items);
}

/** The value of a parameter of type timestamptz[]. */
export function timeArray(items: readonly Date[]): Buffer {
  return arrayOf(TIMESTAMPTZ, items);
}

function arrayOf<Item>({ oid, bytes, write }: NumberType<Item>, items: readonly (Item | null)[]): Buffer {
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + items.length * (LENGTH_BYTES + bytes));
  let end = writeHeader(buffer, items, oid);
  for (const item of items) {
    end = buffer.writeInt32BE(item === null ? NULL_LENGTH : bytes, end);
    if (item === null) continue;
    write(buffer, item, end);
    end += bytes;
  }
  return buffer.subarray(0, end);
}

function microsOf(time: Date): bigint | number {
  const millis = time.getTime() - EPOCH_MS;
  const micros = millis * MICROS_PER_MS;
  return Number.isSafeInteger(micros) ? micros : BigInt(millis) * BigInt(MICROS_PER_MS);
}

/** Throws a TypeError for a fraction or NaN, which Node would write as another number. */
function writeInteger(buffer: Buffer, item: number, at: number): void {
  if (!Number.isInteger(item)) throw new TypeError(`${item} is no integer.`);
  buffer.writeInt32BE(item, at);
}

/** In two halves: a write of the whole needs a bigint, which takes memory. */
function writeBigint(buffer: Buffer, item: bigint | number, at: number): void {
  const number = Number(item);
  if (!Number.isSafeInteger(number)) {
    buffer.writeBigInt64BE(BigInt(item), at);
    return;
  }
  const high = Math.floor(number / HALF_VALUES);
  buffer.writeInt32BE(high, at);
  buffer.writeUInt32BE(number - high * HALF_VALUES, at + HALF_BYTES);
}
