/**
 * Reads the outline of a long body: the value without its long texts, which cost most of the time of
 * JSON.parse and which only a translation reads. One pass over the bytes finds the members and the texts;
 * JSON.parse reads the rest. A body with anything unusual, such as an error, has no outline: the caller then
 * parses it whole.
 */
import { isObject } from '../dialects/fields.ts';
import type { JsonObject } from '../dialects/fields.ts';
import { JSON_CONTAINERS, JSON_MEMBERS, JSON_TOP_MEMBERS, JSON_VALUES } from '../limits.ts';
import { LONG_TEXT_BYTES, OUTLINED_BYTES } from '../limits.ts';
import type { Member } from './json-members.ts';
import {
  BACKSLASH,
  CAPITAL_EXPONENT,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  EXPONENT,
  JSON_DEPTH,
  LONG_NUMBER,
  MINUS,
  OPEN_ARRAY,
  OPEN_OBJECT,
  POINT,
  QUOTE,
  SPACE,
  UNDERSCORE,
  ZERO,
  isDigit,
  nameOf,
} from './json-scan.ts';
import { ENVELOPE_AT, PADDING_BYTES, TEXT_AT, newStringScanner } from './string-scanner.ts';
import { OmittedTexts } from './omitted-texts.ts';
import type { TextRange } from './omitted-texts.ts';
import type { StringScanner } from './string-scanner.ts';

/**
 * Members whose texts may be left out. Nothing refuses or prices a request by such a text; affinity and seals
 * read the bytes. A test compares this list with the tables.
 */
export const TEXT_MEMBERS: ReadonlySet<string> = new Set(['content', 'text', 'arguments', 'output']);

/** One scanner for all bodies: a scan ends before the next one begins. */
const SCANNER = newStringScanner();

/** A body without its long texts. */
export interface Outline {
  /** The exact value, with placeholders for long texts below the outermost object. */
  value: JsonObject;
  members: readonly Member[];
  /** Number of members on all levels. */
  names: number;
  texts: OmittedTexts;
  /** Whether a string may hold an envelope of seals.ts. */
  mayHoldEnvelope: boolean;
}

/**
 * The outline of a body in UTF-8; undefined if the body has to be parsed whole. `longTextBytes` is the length
 * above which texts are left out.
 */
export function outlineOf(bytes: Buffer, longTextBytes = LONG_TEXT_BYTES): Outline | undefined {
  if (!SCANNER || bytes.length > OUTLINED_BYTES) return undefined;
  const scan = new Scan(SCANNER, bytes, longTextBytes);
  if (!scan.run()) return undefined;
  const texts = new OmittedTexts(bytes, scan.texts);
  const value = parsed(texts.shortened());
  if (!isObject(value)) return undefined;
  const { members, names, mayHoldEnvelope } = scan;
  return { value, members, names, texts, mayHoldEnvelope };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** One pass over a body. Each step returns the next position, or `UNUSUAL`. */
class Scan {
  readonly members: Member[] = [];
  readonly texts: TextRange[] = [];
  names = 0;
  readonly #bytes: Buffer;
  readonly #memory: Buffer;
  readonly #scanner: StringScanner;
  readonly #longTextBytes: number;
  readonly #end: number;
  readonly #topNames = new Set<string>();
  #depth = 0;
  #containers = 0;
  #commas = 0;
  /** The end of the last value, from the beginning of the body. */
  #valueEnd = 0;

  constructor(scanner: StringScanner, bytes: Buffer, longTextBytes: number) {
    this.#scanner = scanner;
    this.#memory = scanner.memory;
    this.#bytes = bytes;
    this.#longTextBytes = longTextBytes;
    this.#end = TEXT_AT + bytes.length;
  }

  get mayHoldEnvelope(): boolean {
    return this.#memory[ENVELOPE_AT] === 1;
  }

  /** Whether the body is usual. If it is no valid JSON, its outline is none, either. */
  run(): boolean {
    const memory = this.#memory;
    memory.set(this.#bytes, TEXT_AT);
    // Quotes end every string that the body does not end.
    memory.fill(QUOTE, this.#end, this.#end + PADDING_BYTES);
    memory[ENVELOPE_AT] = 0;
    let at = TEXT_AT;
    while (at !== UNUSUAL && at < this.#end) at = this.#step(at, this.#byte(at));
    return at !== UNUSUAL && this.#isWithinLimits();
  }

  #isWithinLimits(): boolean {
    return (
      this.#containers <= JSON_CONTAINERS &&
      this.names <= JSON_MEMBERS &&
      this.#containers + this.#commas <= JSON_VALUES
    );
  }

  #step(at: number, code: number): number {
    if (code === QUOTE) return this.#string(at);
    if (code === COMMA) return this.#comma(at);
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) return this.#open(at);
    if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) return this.#close(at);
    if (code === MINUS || isDigit(code)) return this.#number(at, code);
    if (code > SPACE) this.#valueEnd = at + 1;
    return at + 1;
  }

  #string(at: number): number {
    const end = this.#endOfString(at);
    if (end === UNUSUAL) return UNUSUAL;
    const after = this.#skipSpace(end);
    if (this.#byte(after) === COLON) return this.#member(at, end, this.#skipSpace(after + 1));
    this.#valueEnd = end;
    return end;
  }

  #endOfString(at: number): number {
    const close = this.#scanner.endOf(at + 1);
    return close < 0 || close >= this.#end ? UNUSUAL : close + 1;
  }

  /** Reads the name of a member; passes over its value if it is a text below the outermost object. */
  #member(start: number, nameEnd: number, valueStart: number): number {
    if (!isUsualName(this.#byte(start + 1), this.#byte(start + 2))) return UNUSUAL;
    this.names += 1;
    if (this.#depth === 1) return this.#topMember(start, nameEnd, valueStart);
    if (this.#byte(valueStart) !== QUOTE) return valueStart;
    const end = this.#endOfString(valueStart);
    if (end - valueStart > this.#longTextBytes && this.#isText(start + 1, nameEnd - 1))
      this.texts.push({ start: valueStart - TEXT_AT, end: end - TEXT_AT });
    return end;
  }

  #topMember(start: number, nameEnd: number, valueStart: number): number {
    const text = this.#memory.toString('latin1', start, nameEnd);
    const name = nameOf(text, 0, text.length);
    if (this.#topNames.has(name) || this.#topNames.size === JSON_TOP_MEMBERS) return UNUSUAL;
    this.#topNames.add(name);
    this.members.push({ name, start: start - TEXT_AT, valueStart: valueStart - TEXT_AT, valueEnd: 0 });
    return valueStart;
  }

  #isText(start: number, end: number): boolean {
    return TEXT_MEMBERS.has(this.#memory.toString('latin1', start, end));
  }

  #comma(at: number): number {
    this.#commas += 1;
    if (this.#depth === 1) this.#endMember();
    return at + 1;
  }

  #open(at: number): number {
    this.#containers += 1;
    this.#depth += 1;
    return this.#depth > JSON_DEPTH ? UNUSUAL : at + 1;
  }

  #close(at: number): number {
    if (this.#depth === 1) this.#endMember();
    this.#depth -= 1;
    this.#valueEnd = at + 1;
    return at + 1;
  }

  #endMember(): void {
    const member = this.members.at(-1);
    if (member && member.valueEnd === 0) member.valueEnd = this.#valueEnd - TEXT_AT;
  }

  /** Passes over a number. One that JavaScript would write otherwise is unusual. */
  #number(at: number, first: number): number {
    const digits = first === MINUS ? at + 1 : at;
    let end = digits;
    let hasPoint = false;
    for (;;) {
      const code = this.#byte(end);
      if (code === EXPONENT || code === CAPITAL_EXPONENT) return UNUSUAL;
      if (code === POINT) hasPoint = true;
      else if (!isDigit(code)) break;
      end += 1;
    }
    const isInexact =
      end - digits >= LONG_NUMBER ||
      (hasPoint && this.#byte(end - 1) === ZERO) ||
      (first === MINUS && !hasPoint && this.#byte(digits) === ZERO);
    this.#valueEnd = end;
    return isInexact ? UNUSUAL : end;
  }

  #skipSpace(from: number): number {
    let at = from;
    while (this.#byte(at) <= SPACE) at += 1;
    return at;
  }

  #byte(at: number): number {
    return this.#memory[at] ?? QUOTE;
  }
}

/** Instead of a position: the body has something that only the whole parser reads or refuses. */
const UNUSUAL = -1;

/**
 * Whether a name that begins with these bytes is surely neither `__proto__` nor an index, which JavaScript
 * sorts.
 */
function isUsualName(first: number, second: number): boolean {
  if (first === UNDERSCORE) return second !== UNDERSCORE && second !== BACKSLASH;
  return first !== BACKSLASH && !isDigit(first);
}
