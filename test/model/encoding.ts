/**
 * Encodes states of the model check as texts. Two states have the same text exactly when all their fields are
 * equal, so that the search does not depend on a hash. Each value that is no object takes one character.
 */
import type { ModelNode, World } from './state.ts';

/** Characters that mark the start and the end of an object. */
const LIST = 1;
const END = 2;
const FIRST_VALUE = 3;
/** Characters have 16 bits; surrogates are not used. */
const VALUES_MAX = 0xd800;
const LENGTH_FIRST = 1_024;

/** Encodes states. Texts are comparable only within one encoding. Throws beyond 55,000 different values. */
export class Encoding {
  readonly #characters = new Map<unknown, number>();
  /** Numbers of node texts, and of node objects that do not change any more. */
  readonly #nodeTexts = new Map<string, number>();
  readonly #nodes = new WeakMap<ModelNode, number>();
  #text = new Uint16Array(LENGTH_FIRST);
  #length = 0;

  /** The text of a world, whose nodes must not be changed in place afterwards. */
  textOf(world: World): string {
    const { nodes, ...rest } = world;
    const numbers = nodes.map((node) => this.#numberOf(node));
    this.#length = 0;
    for (const number of numbers) {
      this.#put(Math.floor(number / VALUES_MAX));
      this.#put(number % VALUES_MAX);
    }
    this.#add(rest);
    return this.#taken();
  }

  /** The text of any plain value, with all its fields. */
  write(value: unknown): string {
    this.#length = 0;
    this.#add(value);
    return this.#taken();
  }

  /** The number of a node's text, which two characters can hold. */
  #numberOf(node: ModelNode): number {
    const known = this.#nodes.get(node);
    if (known !== undefined) return known;
    const text = this.write(node);
    const number = this.#nodeTexts.get(text) ?? this.#nodeTexts.size;
    this.#nodeTexts.set(text, number);
    this.#nodes.set(node, number);
    return number;
  }

  #taken(): string {
    return Buffer.from(this.#text.buffer, 0, 2 * this.#length).toString('utf16le');
  }

  #add(value: unknown): void {
    if (typeof value !== 'object' || value === null) return this.#put(this.#characterOf(value));
    this.#put(LIST);
    if (Array.isArray(value)) {
      for (const item of value) this.#add(item);
    } else if (value instanceof Map) {
      for (const [key, item] of value) {
        this.#add(key);
        this.#add(item);
      }
    } else {
      // Fields are encoded in their order, without names: objects of one type come from the same literal.
      for (const name in value) this.#add((value as Record<string, unknown>)[name]);
    }
    this.#put(END);
  }

  #characterOf(value: unknown): number {
    let character = this.#characters.get(value);
    if (character === undefined) {
      character = FIRST_VALUE + this.#characters.size;
      if (character >= VALUES_MAX) throw new Error('the states hold too many different values to be encoded');
      this.#characters.set(value, character);
    }
    return character;
  }

  #put(character: number): void {
    if (this.#length === this.#text.length) {
      const longer = new Uint16Array(2 * this.#length);
      longer.set(this.#text);
      this.#text = longer;
    }
    this.#text[this.#length] = character;
    this.#length += 1;
  }
}
