/**
 * Texts for states of the model check: two states have one text exactly when all their fields are the same,
 * so that nothing depends on a hash. Every value that is no object stands in it as one character.
 */
import type { ModelNode, World } from './state.ts';

/** Marks between values, in the places of characters. */
const LIST = 1;
const END = 2;
const FIRST_VALUE = 3;
/** A character has 16 bits, and surrogates are left alone. */
const VALUES_MAX = 0xd800;
const LENGTH_FIRST = 1_024;

/** Gives states their texts, which are only comparable within one encoding. Throws beyond 55,000 values. */
export class Encoding {
  readonly #characters = new Map<unknown, number>();
  /** Numbers of the texts of nodes, and of nodes that nobody changes any more. */
  readonly #nodeTexts = new Map<string, number>();
  readonly #nodes = new WeakMap<ModelNode, number>();
  #text = new Uint16Array(LENGTH_FIRST);
  #length = 0;

  /** The text of a world. Its nodes must never be changed in place afterwards. */
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

  /** The text of any plain value: all its fields, also those that are added one day. */
  write(value: unknown): string {
    this.#length = 0;
    this.#add(value);
    return this.#taken();
  }

  /** A node is two characters: the number of its text. */
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
      // By their places, not by their names: objects of one type are copies of one literal.
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
