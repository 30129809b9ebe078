/**
 * Reading JSON that others wrote: a strict cursor for clients' requests, lenient readers for upstreams'
 * answers.
 */
import { GatewayError } from '@gateway/shared/failures';

export type JsonObject = { [name: string]: unknown };

/** Whether a JSON value is an object (not an array, not null). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value where it is a string, else ''. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The value where it is a finite number, else undefined. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** The value where it is an object, else an empty one. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The objects of a list; empty where it is no list. */
export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The JSON object that a text holds, undefined where it holds anything else. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** One more step of a JSON pointer (RFC 6901). */
export function pointTo(at: string, step: string | number): string {
  const name = String(step);
  return `${at}/${/[~/]/.test(name) ? name.replaceAll('~', '~0').replaceAll('/', '~1') : name}`;
}

/** The failure for input of a wrong kind: names the pointer. */
export function wrong(at: string, expectation: string): GatewayError {
  return new GatewayError('invalid_request', `${at || 'The body'} must be ${expectation}.`, {
    parameter: at,
  });
}

/**
 * The failure for a reference to something stored at a provider, which customers of one account would share.
 */
export function refuseStored(at: string, instead = 'Send the content itself instead.'): GatewayError {
  const message = `${at} names something that is stored at a provider. ${instead}`;
  return new GatewayError('invalid_request', message, { parameter: at });
}

/**
 * A cursor over one object of a request. Reading marks a field; what nobody read is left over and can be
 * named. `null` counts as absent. Every reader throws `invalid_request` naming the pointer when the kind is
 * wrong.
 */
export class Fields {
  readonly value: JsonObject;
  readonly at: string;
  readonly #read = new Set<string>();
  readonly #children: Fields[] = [];

  constructor(value: unknown, at = '') {
    if (!isObject(value)) throw wrong(at, 'an object');
    this.value = value;
    this.at = at;
  }

  pointer(name: string): string {
    return pointTo(this.at, name);
  }

  has(name: string): boolean {
    const value = this.value[name];
    // Most fields that are asked for are absent: that is found out first.
    return value !== undefined && value !== null && Object.hasOwn(this.value, name);
  }

  /** The raw value, undefined where absent or null. */
  take(name: string): unknown {
    if (!this.has(name)) return undefined;
    this.#read.add(name);
    return this.value[name];
  }

  /** Fields that carry nothing the answer depends on. */
  ignore(...names: string[]): void {
    for (const name of names) this.#read.add(name);
  }

  string(name: string): string | undefined {
    const value = this.take(name);
    if (value !== undefined && typeof value !== 'string') throw wrong(this.pointer(name), 'a string');
    return value;
  }

  requiredString(name: string): string {
    const value = this.string(name);
    if (value === undefined) throw wrong(this.pointer(name), 'a string');
    return value;
  }

  number(name: string): number | undefined {
    const value = this.take(name);
    if (value !== undefined && typeof value !== 'number') throw wrong(this.pointer(name), 'a number');
    return value;
  }

  integer(name: string): number | undefined {
    const value = this.number(name);
    if (value !== undefined && !Number.isSafeInteger(value))
      throw wrong(this.pointer(name), 'a whole number');
    return value;
  }

  boolean(name: string): boolean | undefined {
    const value = this.take(name);
    if (value !== undefined && typeof value !== 'boolean') throw wrong(this.pointer(name), 'true or false');
    return value;
  }

  list(name: string): unknown[] | undefined {
    const value = this.take(name);
    if (value !== undefined && !Array.isArray(value)) throw wrong(this.pointer(name), 'a list');
    return value;
  }

  strings(name: string): string[] | undefined {
    return this.list(name)?.map((item, index) => {
      if (typeof item !== 'string') throw wrong(pointTo(this.pointer(name), index), 'a string');
      return item;
    });
  }

  /** An object that is kept as it is, with everything in it. */
  whole(name: string): JsonObject | undefined {
    const value = this.take(name);
    if (value !== undefined && !isObject(value)) throw wrong(this.pointer(name), 'an object');
    return value;
  }

  object(name: string): Fields | undefined {
    const value = this.take(name);
    return value === undefined ? undefined : this.child(value, this.pointer(name));
  }

  objects(name: string): Fields[] | undefined {
    return this.list(name)?.map((item, index) => this.child(item, pointTo(this.pointer(name), index)));
  }

  /**
   * Pointers and values of everything here and below that nobody read; whole objects where nothing of them
   * was.
   */
  leftovers(): { pointer: string; value: unknown }[] {
    const own = Object.entries(this.value)
      .filter(([name, value]) => !this.#read.has(name) && value !== null && value !== undefined)
      .map(([name, value]) => ({ pointer: this.pointer(name), value }));
    return [...own, ...this.#children.flatMap((child) => child.leftovers())];
  }

  /** Marks everything here as read: for objects that are kept as they are. */
  ignoreAll(): void {
    this.ignore(...Object.keys(this.value));
    this.#children.length = 0;
  }

  /** A cursor over an object that stands somewhere below; its leftovers are found with ours. */
  child(value: unknown, at: string): Fields {
    const child = new Fields(value, at);
    this.#children.push(child);
    return child;
  }
}
