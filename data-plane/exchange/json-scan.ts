/**
 * Moves over valid JSON without parsing it. The bytes are read as a string with one character per byte: UTF-8
 * has no byte of JSON's syntax within a longer character, so positions in the string are positions in the
 * bytes, and V8 searches strings faster.
 */
import { invalidRequest } from '../call/refusals.ts';

/** Maximum nesting of objects and arrays. */
export const JSON_DEPTH = 64;

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const MINUS = 0x2d;
export const POINT = 0x2e;
export const ZERO = 0x30;
const NINE = 0x39;
export const COLON = 0x3a;
export const CAPITAL_EXPONENT = 0x45;
export const OPEN_ARRAY = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_ARRAY = 0x5d;
export const UNDERSCORE = 0x5f;
export const EXPONENT = 0x65;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
export const SPACE = 0x20;
const FORBIDDEN_NAME = '__proto__';
/** Digits from which a number may have more than a double keeps. */
export const LONG_NUMBER = 16;

/** The bytes as a string with one character per byte. */
export function textOf(bytes: Buffer): string {
  return bytes.toString('latin1');
}

/** Whether this is the code of `}` or `]`. */
export function isClosing(code: number): boolean {
  return code === CLOSE_OBJECT || code === CLOSE_ARRAY;
}

/** Whether this is the code of a digit. */
export function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/** The position of the first character from here on that is no white space. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= SPACE) at += 1;
  return at;
}

/** The position after the closing quote of the string that opens at `from`. */
export function endOfString(text: string, from: number): number {
  let at = from;
  for (;;) {
    at = text.indexOf('"', at + 1);
    if (at < 0) return text.length;
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
}

const BEYOND_ASCII = /[\u0080-\u00ff]/;

/** The name as JSON.parse reads it: escapes and UTF-8 decoded. */
export function nameOf(text: string, start: number, end: number): string {
  const bytes = text.slice(start + 1, end - 1);
  const raw = BEYOND_ASCII.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes;
  const name = raw.includes('\\') ? String(JSON.parse(`"${raw}"`)) : raw;
  if (name === FORBIDDEN_NAME)
    throw invalidRequest('A member may not be named __proto__. Leave it out.', name);
  return name;
}

/** Facts about the values that were passed over. */
export interface Nested {
  /** Number of members. */
  names: number;
  /** See `Scanned`. */
  isInexact: boolean;
}

/** The position after the value that begins at `from`. */
export function endOfValue(text: string, from: number, nested: Nested): number {
  const first = text.charCodeAt(from);
  if (first === QUOTE) return endOfString(text, from);
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) return endOfNested(text, from, nested);
  return endOfLiteral(text, from, nested);
}

/** The position after the number or word that begins at `from`. */
function endOfLiteral(text: string, from: number, nested: Nested): number {
  const isNegative = text.charCodeAt(from) === MINUS;
  const digits = isNegative ? from + 1 : from;
  let at = digits;
  let hasPoint = false;
  let hasExponent = false;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === COMMA || isClosing(code) || code <= SPACE) break;
    if (code === POINT) hasPoint = true;
    else if (code === EXPONENT || code === CAPITAL_EXPONENT) hasExponent = true;
    at += 1;
  }
  if (!isDigit(text.charCodeAt(digits))) return at;
  // JavaScript writes such numbers otherwise: long ones, with an exponent, 1.50, -0.
  nested.isInexact ||=
    hasExponent ||
    at - digits >= LONG_NUMBER ||
    (hasPoint && text.charCodeAt(at - 1) === ZERO) ||
    (isNegative && !hasPoint && text.charCodeAt(digits) === ZERO);
  return at;
}

function endOfNested(text: string, from: number, nested: Nested): number {
  let depth = 1;
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      judgeName(text, { start: at, end }, nested);
      at = end;
      continue;
    }
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      depth += 1;
      if (depth > JSON_DEPTH)
        throw invalidRequest(`The JSON is nested deeper than ${JSON_DEPTH} levels. Flatten it.`);
    } else if (isClosing(code)) {
      depth -= 1;
      if (depth === 1) return at + 1;
    } else if (code === COLON) nested.names += 1;
    else if (code === MINUS || isDigit(code)) {
      at = endOfLiteral(text, at, nested);
      continue;
    }
    at += 1;
  }
  return at;
}

/**
 * Refuses a forbidden name, and notes one that may be an index, which JavaScript sorts. A string is a name
 * only before a colon. The cheap tests come first.
 */
function judgeName(text: string, { start, end }: { start: number; end: number }, nested: Nested): void {
  const first = text.charCodeAt(start + 1);
  const isEscaped = first === BACKSLASH;
  if (!isEscaped && first !== UNDERSCORE && !isDigit(first)) return;
  if (text.charCodeAt(skipSpace(text, end)) !== COLON) return;
  if (first !== UNDERSCORE) nested.isInexact = true;
  const length = end - start - 2;
  // Each of the nine characters may be written as an escape of six.
  if (length >= FORBIDDEN_NAME.length && length <= FORBIDDEN_NAME.length * 6) nameOf(text, start, end);
}
