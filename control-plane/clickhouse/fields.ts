/** Reads fields of answers of ClickHouse. Each function throws an Error for another type. */
import type { ChRow } from './store.ts';

/** A text. */
export function textIn(row: ChRow, name: string): string {
  const value = row[name];
  if (typeof value !== 'string') throw wrong(name);
  return value;
}

/** A text or null. */
export function textOrNullIn(row: ChRow, name: string): string | null {
  return row[name] === null ? null : textIn(row, name);
}

/** An integer; ClickHouse writes those of 64 bits as text. */
export function integerIn(row: ChRow, name: string): number {
  const value = row[name];
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number)) throw wrong(name);
  return number;
}

/** An integer or null. */
export function integerOrNullIn(row: ChRow, name: string): number | null {
  return row[name] === null ? null : integerIn(row, name);
}

/** A truth value. */
export function truthIn(row: ChRow, name: string): boolean {
  const value = row[name];
  if (typeof value !== 'boolean') throw wrong(name);
  return value;
}

/** One of the words. */
export function wordIn<Word extends string>(row: ChRow, name: string, words: readonly Word[]): Word {
  const found = words.find((word) => word === row[name]);
  if (found === undefined) throw wrong(name);
  return found;
}

function wrong(name: string): Error {
  return new Error(`ClickHouse answered with an unexpected value of ${name}.`);
}
