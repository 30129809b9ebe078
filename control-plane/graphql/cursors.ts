/**
 * Cursors of lists. A cursor is opaque for clients: the name of its list and order, and the sort values of
 * one item. Clients can send any text, so that each value is checked before a query converts it to its type.
 */
import { requestError } from './errors.ts';

/** Maximum length of a cursor that is decoded, in characters. */
const LENGTH_MAX = 1024;
const INTEGER_MAX = 2_147_483_647n;
const BIGINT_MAX = 9_223_372_036_854_775_807n;
const WHOLE_NUMBER = /^-?\d{1,19}$/;
/** A time in UTC as PostgreSQL writes it, or as `toISOString` does. */
const TIME = /^(\d{4}-\d{2}-\d{2})[ T]([01]\d|2[0-3])(:[0-5]\d){2}(\.\d{1,6})?(\+00|Z)$/;

export type CursorValue = string | number | null;

/**
 * Which values a query can convert: TEXT for text columns, INTEGER and BIGINT for whole numbers of 32 and 64
 * bits, as numbers or as text, and TIME for timestamps in UTC.
 */
export type CursorKind = 'TEXT' | 'INTEGER' | 'BIGINT' | 'TIME';

const CHECKS: Record<CursorKind, (value: CursorValue) => boolean> = {
  // PostgreSQL stores no NUL characters and refuses them in parameters.
  TEXT: (value) => typeof value === 'string' && !value.includes('\0'),
  INTEGER: (value) => isWhole(value, INTEGER_MAX),
  BIGINT: (value) => isWhole(value, BIGINT_MAX),
  TIME: (value) => typeof value === 'string' && isTime(value),
};

/** Encodes and decodes the cursors of one list in one order. */
export interface Cursors {
  /** The cursor of an item with these sort values. */
  encode(values: readonly CursorValue[]): string;
  /**
   * The sort values in a cursor of this list. Throws BAD_USER_INPUT for a cursor of another list or order,
   * and for any other text.
   */
  decode(cursor: string): CursorValue[];
}

/** The cursors of a list. `list` names the list and its order; `kinds` are the kinds of the sort values. */
export function cursorsOf(list: string, ...kinds: readonly CursorKind[]): Cursors {
  return {
    encode: (values) => Buffer.from(JSON.stringify([list, ...values])).toString('base64url'),
    decode: (cursor) => {
      const [name, ...values] = cursor.length <= LENGTH_MAX ? partsOf(cursor) : [];
      const isValid = (value: unknown, at: number): value is CursorValue => {
        const kind = kinds[at];
        return kind !== undefined && isCursorValue(value) && CHECKS[kind](value);
      };
      if (name === list && values.length === kinds.length && values.every(isValid)) return values;
      throw requestError(
        'BAD_USER_INPUT',
        'This cursor does not belong to this list and order. Start without a cursor.',
      );
    },
  };
}

function partsOf(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}

function isCursorValue(value: unknown): value is CursorValue {
  return value === null || typeof value === 'string' || typeof value === 'number';
}

function isWhole(value: CursorValue, max: bigint): boolean {
  if (typeof value === 'number' ? !Number.isSafeInteger(value) : !WHOLE_NUMBER.test(value ?? ''))
    return false;
  const number = BigInt(value ?? '');
  return number <= max && number >= -max;
}

/** The date has to exist: PostgreSQL refuses 31 February, which `Date.parse` takes for a day in March. */
function isTime(text: string): boolean {
  const day = TIME.exec(text)?.[1];
  if (day === undefined || day.startsWith('0000')) return false;
  const parsed = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(day);
}
