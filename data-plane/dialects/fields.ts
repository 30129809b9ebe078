/** Reads untrusted JSON: strictly for clients' requests (`Fields`), leniently for upstreams' answers. */
import { GatewayError } from '@gateway/shared/failures';
import { isRawNumber, parseJson, plainNumber } from './exact-json.ts';
import { wordOf } from './vocabularies.ts';
import type { ReadTable } from './vocabularies.ts';

export type JsonObject = { [name: string]: unknown };

/** Whether a JSON value is an object (not an array, not null). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

/** The value if it is a string, else ''. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The value if it is a finite number, else undefined. */
export function numberOf(value: unknown): number | undefined {
  const number = plainNumber(value);
  return number !== undefined && Number.isFinite(number) ? number : undefined;
}

/** The value if it is an object, else an empty object. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The objects among the items of a list; empty if the value is no list. */
export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The JSON object in the text; undefined if the text is anything else. Numbers are rounded to 53 bits. */
export function parseObject(text: string): JsonObject | undefined {
  return objectIn(text, JSON.parse);
}

/** Like `parseObject`, with every digit (exact-json.ts): for texts with values that pass through. */
export function parseExactObject(text: string): JsonObject | undefined {
  return objectIn(text, parseJson);
}

function objectIn(text: string, parse: (text: string) => unknown): JsonObject | undefined {
  try {
    const value = parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Leaves out members that are undefined. */
export function withoutUndefined<T extends object>(value: T): Partial<T> {
  const present: Partial<T> = {};
  for (const name in value) if (value[name] !== undefined) present[name] = value[name];
  return present;
}

/** Appends one step to a JSON pointer (RFC 6901). */
export function pointTo(at: string, step: string | number): string {
  if (typeof step === 'number' || !/[~/]/.test(step)) return `${at}/${step}`;
  return `${at}/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The failure for an invalid field: "<pointer> must be <expectation>." */
export function fieldError(at: string, expectation: string): GatewayError {
  return new GatewayError('invalid_request', `${at || 'The body'} must be ${expectation}.`, {
    parameter: at,
  });
}

/**
 * The failure for a reference to an object stored at a provider. All customers share the operator's account
 * there, so one customer could read what another one stored. `instead` says what to send.
 */
export function storedObjectError(at: string, instead = 'Send the content itself instead.'): GatewayError {
  const message = `${at} names something that is stored at a provider. ${instead}`;
  return new GatewayError('invalid_request', message, { parameter: at });
}

/** A member that was not read. */
interface Leftover {
  pointer: string;
  value: unknown;
}

/**
 * Reads the members of one object of a request. Every reader throws `invalid_request` with the JSON pointer
 * if the member has the wrong type; null counts as absent. Members that were never read are the leftovers.
 */
export class Fields {
  readonly value: JsonObject;
  readonly at: string;
  readonly #read = new Set<string>();
  readonly #children: Fields[] = [];

  constructor(value: unknown, at = '') {
    if (!isObject(value)) throw fieldError(at, 'an object');
    this.value = value;
    this.at = at;
  }

  /** JSON pointer of a member. */
  pointer(name: string): string {
    return pointTo(this.at, name);
  }

  has(name: string): boolean {
    const value = this.value[name];
    // Checks the value first: most members that decoders look for are absent.
    return value !== undefined && value !== null && Object.hasOwn(this.value, name);
  }

  /** The raw value; undefined if absent or null. */
  take(name: string): unknown {
    if (!this.has(name)) return undefined;
    this.#read.add(name);
    return this.value[name];
  }

  /** Marks members as read that the answer does not depend on. */
  ignore(...names: string[]): void {
    for (const name of names) this.#read.add(name);
  }

  /** Marks empty lists as read: they carry nothing. Other values stay leftovers. */
  ignoreEmpty(...names: string[]): void {
    for (const name of names) {
      const value = this.value[name];
      if (Array.isArray(value) && value.length === 0) this.ignore(name);
    }
  }

  string(name: string): string | undefined {
    const value = this.take(name);
    if (value !== undefined && typeof value !== 'string') throw fieldError(this.pointer(name), 'a string');
    return value;
  }

  requiredString(name: string): string {
    const value = this.string(name);
    if (value === undefined) throw fieldError(this.pointer(name), 'a string');
    return value;
  }

  /** The meaning of a word. A word that the table lacks is not read, so that it is a leftover. */
  word<Word extends string>(name: string, table: ReadTable<Word>): Word | undefined {
    if (!this.has(name)) return undefined;
    if (typeof this.value[name] !== 'string') throw fieldError(this.pointer(name), 'a string');
    const word = wordOf(table, this.value[name]);
    if (word !== undefined) this.#read.add(name);
    return word;
  }

  /** The meanings of a list of words. A list with a word that the table lacks is not read. */
  words<Word extends string>(name: string, table: ReadTable<Word>): Word[] | undefined {
    const isRead = this.#read.has(name);
    const words = this.stringOrStrings(name)?.map((value) => wordOf(table, value));
    const known = words?.filter((word) => word !== undefined);
    if (known?.length === words?.length) return known;
    if (!isRead) this.#read.delete(name);
    return undefined;
  }

  /** Whether the member is present and its value was read. */
  isRead(name: string): boolean {
    return this.has(name) && this.#read.has(name);
  }

  number(name: string): number | undefined {
    const value = this.take(name);
    const number = plainNumber(value);
    if (value !== undefined && number === undefined) throw fieldError(this.pointer(name), 'a number');
    return number;
  }

  integer(name: string): number | undefined {
    const value = this.number(name);
    if (value !== undefined && !Number.isSafeInteger(value))
      throw fieldError(this.pointer(name), 'a whole number');
    return value;
  }

  boolean(name: string): boolean | undefined {
    const value = this.take(name);
    if (value !== undefined && typeof value !== 'boolean')
      throw fieldError(this.pointer(name), 'true or false');
    return value;
  }

  list(name: string): unknown[] | undefined {
    const value = this.take(name);
    if (value !== undefined && !Array.isArray(value)) throw fieldError(this.pointer(name), 'a list');
    return value;
  }

  strings(name: string): string[] | undefined {
    return this.list(name)?.map((item, index) => {
      if (typeof item !== 'string') throw fieldError(pointTo(this.pointer(name), index), 'a string');
      return item;
    });
  }

  /** An object that is kept unchanged: it has no leftovers. */
  whole(name: string): JsonObject | undefined {
    const value = this.take(name);
    if (value !== undefined && !isObject(value)) throw fieldError(this.pointer(name), 'an object');
    return value;
  }

  object(name: string): Fields | undefined {
    const value = this.take(name);
    return value === undefined ? undefined : this.child(value, this.pointer(name));
  }

  objects(name: string): Fields[] | undefined {
    const at = this.pointer(name);
    return this.list(name)?.map((item, index) => this.child(item, pointTo(at, index)));
  }

  /** A list of objects, or one object that stands for a list of one. */
  objectOrObjects(name: string): Fields[] | undefined {
    return isObject(this.value[name])
      ? [this.child(this.take(name), this.pointer(name))]
      : this.objects(name);
  }

  /** A list of strings, or one string that stands for a list of one. */
  stringOrStrings(name: string): string[] | undefined {
    return typeof this.value[name] === 'string' ? [this.requiredString(name)] : this.strings(name);
  }

  /** Pointers and values of all members that were not read, here and in nested objects that were read. */
  leftovers(): Leftover[] {
    const found: Leftover[] = [];
    this.#collect(found);
    return found;
  }

  #collect(found: Leftover[]): void {
    for (const name in this.value) {
      const value = this.value[name];
      if (value === null || value === undefined || this.#read.has(name)) continue;
      found.push({ pointer: this.pointer(name), value });
    }
    for (const child of this.#children) child.#collect(found);
  }

  /** Marks all members as read, nested ones too: for objects that are kept unchanged. */
  ignoreAll(): void {
    this.ignore(...Object.keys(this.value));
    this.#children.length = 0;
  }

  /** A reader of an object further down, at pointer `at`. Its leftovers count as leftovers of this object. */
  child(value: unknown, at: string): Fields {
    const child = new Fields(value, at);
    this.#children.push(child);
    return child;
  }
}
