/** The long texts that an outline of a body leaves out, and the placeholders that stand for them. */
import { randomBytes } from 'node:crypto';
import type { Pieces } from '../call/pieces.ts';

/**
 * Members whose texts may be left out. Nothing refuses or prices a request by such a text; affinity and seals
 * read the bytes. A test compares this list with the tables. No name has more than 14 characters.
 */
export const TEXT_MEMBERS: ReadonlySet<string> = new Set(['content', 'text', 'arguments', 'output']);

/** Begins each placeholder. No client can know it. */
const MARK = `gateway-text-${randomBytes(9).toString('base64url')}-`;
/** Number of hexadecimal digits after the mark. */
export const PLACEHOLDER_DIGITS = 4;
/** Number of bytes of a placeholder with its quotes. */
export const PLACEHOLDER_BYTES = MARK.length + PLACEHOLDER_DIGITS + 2;
const PLACEHOLDER = new RegExp(`^${MARK}([0-9a-f]{${PLACEHOLDER_DIGITS}})$`);

/** The placeholder of the text with this number, from 0. */
export function placeholderOf(index: number): string {
  return MARK + index.toString(16).padStart(PLACEHOLDER_DIGITS, '0');
}

/** The texts that were left out of one body. */
export class OmittedTexts {
  readonly #pieces: Pieces;
  /** Start and end of each text with its quotes, in bytes. */
  readonly #ranges: Uint32Array;

  constructor(pieces: Pieces, ranges: Uint32Array) {
    this.#pieces = pieces;
    this.#ranges = ranges;
  }

  get count(): number {
    return this.#ranges.length / 2;
  }

  /**
   * The text that a string stands for: the string itself if it is no placeholder. Undefined if a placeholder
   * is only a part of the string.
   */
  textOf(string: string): string | undefined {
    if (string.length <= MARK.length || !string.includes(MARK)) return string;
    const index = indexOf(string);
    return index === undefined ? undefined : this.#text(index);
  }

  /**
   * Puts the texts in the place of their placeholders, in a value that was made of the outline. Returns false
   * if it does not find each text as a string of its own: then something else was made of a placeholder.
   */
  restore(value: object): boolean {
    const found = new Set<number>();
    return this.#restore(value, found) && found.size === this.count;
  }

  #restore(value: object, found: Set<number>): boolean {
    const members = value as Record<string, unknown>;
    for (const name in members) {
      const member = members[name];
      if (typeof member === 'object' && member !== null) {
        if (!this.#restore(member, found)) return false;
      } else if (typeof member === 'string' && member.length > MARK.length && member.includes(MARK)) {
        const index = indexOf(member);
        if (index === undefined) return false;
        found.add(index);
        members[name] = this.#text(index);
      }
    }
    return true;
  }

  #text(index: number): string | undefined {
    const [start, end] = this.#ranges.subarray(2 * index, 2 * index + 2);
    if (start === undefined || end === undefined) return undefined;
    return String(JSON.parse(this.#pieces.slice(start, end).toString('utf8')));
  }
}

/** The number in a placeholder; undefined if the string is none. */
function indexOf(string: string): number | undefined {
  const index = PLACEHOLDER.exec(string)?.[1];
  return index === undefined ? undefined : Number.parseInt(index, 16);
}
