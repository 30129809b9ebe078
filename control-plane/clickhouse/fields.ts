/** Reads fields of answers of ClickHouse. Each function throws an Error for another type. */
import type { ChRow } from './store.ts';

/** A text. */
export function textIn(row: ChRow, name: string): string {
  const value = row[name];
  if (typeof value !== 'string') throw wrong(name);
  return value;
}

/** An integer; ClickHouse writes those of 64 bits as text. */
export function integerIn(row: ChRow, name: string): number {
  const value = row[name];
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number)) throw wrong(name);
  return number;
}

function wrong(name: string): Error {
  return new Error(`ClickHouse answered with an unexpected value of ${name}.`);
}
