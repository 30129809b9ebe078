/**
 * Parses and writes JSON without a change to what passes through: numbers keep every digit, and members keep
 * their order. JSON.parse rounds numbers to 53 bits, and objects of JavaScript sort names that look like
 * indexes.
 *
 * A number that JavaScript would write differently is kept as its text (JSON.rawJSON). An object whose order
 * JavaScript would change has a hidden method `toJSON`, through which `writeJson` finds its text. After two
 * members of one name, of which only the later one is kept, no text and so no order is kept.
 */
import { randomUUID } from 'node:crypto';

declare global {
  /** Not in TypeScript's library yet. https://tc39.es/proposal-json-parse-with-source/ */
  interface JSON {
    rawJSON(text: string): object;
    isRawJSON(value: unknown): boolean;
  }
}

/**
 * Matches every text with such a number or name, and few others: 16 digits, an exponent, a zero at the end
 * of a fraction, minus zero, and a name of digits.
 */
const SUSPECT =
  /[:,[]\s*-?(?:[\d.]{16}|\d+(?:\.\d+)?[eE]|\d+\.\d*0(?!\d)|(?<=-)0(?!\.))|"(?:\d|\\u003\d)+"\s*:/;
/** Maximum nesting that is read exactly. Deeper values are read as JSON.parse reads them. */
const DEPTH = 256;
/** Maximum number of numbers that are kept as text, because each takes some 100 bytes. */
const RAW_NUMBERS = 50_000;

/** The number in a parsed value, rounded if it was kept as text; undefined for other values. */
export function plainNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return isRawNumber(value) ? Number(value.rawJSON) : undefined;
}

/** A number that is kept as its text. */
interface RawNumber {
  readonly rawJSON: string;
}

/** Whether a parsed value is a number that is kept as text. */
export function isRawNumber(value: unknown): value is RawNumber {
  return JSON.isRawJSON(value);
}

/** Parses JSON exactly. Throws a SyntaxError like JSON.parse. */
export function parseJson(text: string): unknown {
  return exactly(text, readJson(text));
}

/**
 * Parses JSON like JSON.parse, but reads each name as it is written. V8 14.6 takes a name with an escape for
 * another one if an earlier object had a member after the same members whose name is the beginning of the
 * escaped text: after `{"a":1,"\\u006":1}` it reads `{"a":1,"\u006dodel":1}` as if it were the same. So a
 * client could hide a member from us that an upstream reads. Throws a SyntaxError like JSON.parse.
 */
export function readJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return mayBeMisread(value) ? reread(text, value, false) : value;
}

/**
 * Whether a value of JSON.parse has a name with a backslash. A misread name always has one, because it is the
 * beginning of the escaped text.
 */
function mayBeMisread(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null || depth > DEPTH) return false;
  if (Array.isArray(value)) return value.some((item) => mayBeMisread(item, depth + 1));
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name];
    if (name.includes('\\') || mayBeMisread(member, depth + 1)) return true;
  }
  return false;
}

/** The exact value of a text. `parsed` is the result of JSON.parse; it is returned itself if it is exact. */
export function exactly<Value>(text: string, parsed: Value): Value {
  return SUSPECT.test(text) ? reread(text, parsed, true) : parsed;
}

/** Reads a valid text again, exactly if asked to. Returns `parsed` above the limits. */
function reread<Value>(text: string, parsed: Value, isExact: boolean): Value {
  try {
    // The types are those of `parsed`, apart from numbers, which readers take from `plainNumber`.
    return new Reader(text, isExact).read(0) as Value;
  } catch (error) {
    // A value above the limits is rounded as JSON.parse does.
    if (error instanceof RangeError) return parsed;
    throw error;
  }
}

/** Texts of the objects that the running call of `writeJson` has met. */
let collected: string[] | undefined;
/** Placeholder of such a text while the value around it is written. A client cannot guess it. */
const MARK = `gateway-json-${randomUUID()}-`;
const MARKS = new RegExp(`"${MARK}(\\d+)"`, 'g');

/** Writes JSON exactly: the counterpart of `parseJson`. */
export function writeJson(value: unknown): string {
  const texts: string[] = [];
  collected = texts;
  try {
    const text = JSON.stringify(value);
    return texts.length === 0 ? text : text.replaceAll(MARKS, (_, index) => texts[Number(index)] ?? 'null');
  } finally {
    collected = undefined;
  }
}

/** Lets `writeJson` write the object as this text. A member of the same name is then only in the text. */
function keepText(value: object, text: string): void {
  const toJSON = function (this: unknown): unknown {
    if (collected === undefined) return value;
    collected.push(text);
    return `${MARK}${collected.length - 1}`;
  };
  Object.defineProperty(value, 'toJSON', { value: toJSON, enumerable: false });
}

const ESCAPED = /\\/;
const LITERAL = /[^,\]}\s]+/y;
const INDEX = /^(?:0|[1-9]\d*)$/;

/** Reads valid JSON. */
class Reader {
  readonly #text: string;
  /** Whether numbers keep their text. */
  readonly #isExact: boolean;
  #at = 0;
  #rawNumbers = 0;
  /** Whether an object so far had two members of one name. */
  #hasTwins = false;

  constructor(text: string, isExact: boolean) {
    this.#text = text;
    this.#isExact = isExact;
  }

  /** Reads one value. Throws a RangeError above the limits. */
  read(depth: number): unknown {
    if (depth > DEPTH) throw new RangeError('nested too deeply');
    this.#skipSpace();
    const first = this.#text[this.#at];
    if (first === '"') return this.#string();
    if (first === '{') return this.#object(depth);
    if (first === '[') return this.#list(depth);
    LITERAL.lastIndex = this.#at;
    const literal = LITERAL.exec(this.#text)?.[0] ?? '';
    this.#at += literal.length;
    const value: unknown = JSON.parse(literal);
    if (!this.#isExact || typeof value !== 'number' || JSON.stringify(value) === literal) return value;
    this.#rawNumbers += 1;
    if (this.#rawNumbers > RAW_NUMBERS) throw new RangeError('too many numbers');
    return JSON.rawJSON(literal);
  }

  #object(depth: number): object {
    const start = this.#at;
    const value = {};
    let hasIndexes = false;
    this.#items('}', () => {
      const name = this.#string();
      hasIndexes ||= INDEX.test(name);
      this.#skipSpace();
      this.#at += 1;
      const member = this.read(depth + 1);
      this.#hasTwins ||= Object.hasOwn(value, name);
      const property = { value: member, writable: true, enumerable: true, configurable: true };
      Object.defineProperty(value, name, property);
    });
    // The text would bring back the members that a later one of their name has replaced.
    if (hasIndexes && this.#isExact && !this.#hasTwins) keepText(value, this.#text.slice(start, this.#at));
    return value;
  }

  #list(depth: number): unknown[] {
    const list: unknown[] = [];
    this.#items(']', () => list.push(this.read(depth + 1)));
    return list;
  }

  /** Reads the items of the container that begins here, up to its end. */
  #items(end: string, item: () => void): void {
    this.#at += 1;
    this.#skipSpace();
    while (this.#text[this.#at] !== end) {
      item();
      this.#skipSpace();
      if (this.#text[this.#at] === ',') this.#at += 1;
      this.#skipSpace();
    }
    this.#at += 1;
  }

  #string(): string {
    const start = this.#at;
    let end = this.#text.indexOf('"', start + 1);
    while (this.#isEscaped(end)) end = this.#text.indexOf('"', end + 1);
    this.#at = end + 1;
    const raw = this.#text.slice(start + 1, end);
    return ESCAPED.test(raw) ? String(JSON.parse(`"${raw}"`)) : raw;
  }

  #isEscaped(quote: number): boolean {
    let slashes = 0;
    while (this.#text[quote - 1 - slashes] === '\\') slashes += 1;
    return slashes % 2 === 1;
  }

  #skipSpace(): void {
    while (this.#text.charCodeAt(this.#at) <= 0x20) this.#at += 1;
  }
}
