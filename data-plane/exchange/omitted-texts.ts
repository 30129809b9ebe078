/** The long texts that an outline of a body leaves out, and the placeholders that stand for them. */
import { randomBytes } from 'node:crypto';

/** Begins each placeholder. No client can know it. */
const MARK = `gateway-text-${randomBytes(9).toString('base64url')}-`;
const PLACEHOLDER = new RegExp(`^${MARK}(\\d+)$`);

/** The range of a text with its quotes, in bytes. */
export interface TextRange {
  start: number;
  end: number;
}

/** The texts that were left out of one body. */
export class OmittedTexts {
  readonly #bytes: Buffer;
  readonly #ranges: readonly TextRange[];

  constructor(bytes: Buffer, ranges: readonly TextRange[]) {
    this.#bytes = bytes;
    this.#ranges = ranges;
  }

  get count(): number {
    return this.#ranges.length;
  }

  /** The JSON of the body, in which placeholders stand for the texts. */
  shortened(): string {
    let text = '';
    let from = 0;
    let index = 0;
    for (const { start, end } of this.#ranges) {
      text += `${this.#bytes.toString('utf8', from, start)}"${MARK}${index}"`;
      from = end;
      index += 1;
    }
    return text + this.#bytes.toString('utf8', from);
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
    return this.#restore(value, found) && found.size === this.#ranges.length;
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
    const range = this.#ranges[index];
    return range && String(JSON.parse(this.#bytes.toString('utf8', range.start, range.end)));
  }
}

/** The number in a placeholder; undefined if the string is none. */
function indexOf(string: string): number | undefined {
  const index = PLACEHOLDER.exec(string)?.[1];
  return index === undefined ? undefined : Number(index);
}
