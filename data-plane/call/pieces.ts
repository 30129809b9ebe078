/**
 * Bytes of a long body in the pieces in which they arrived. One buffer for all of them would be a further
 * copy, and V8 collects its garbage the sooner, the more memory buffers take.
 */
import { ownJoined } from './own-bytes.ts';

/** Pieces of fewer bytes are joined: each piece costs a write of its own. */
const JOINED_BELOW_BYTES = 4 * 1024;

/** Bytes in pieces. No piece ever changes. */
export class Pieces implements Iterable<Buffer> {
  readonly length: number;
  #list: readonly Buffer[];

  constructor(list: readonly Buffer[]) {
    this.#list = list;
    this.length = list.reduce((sum, piece) => sum + piece.length, 0);
  }

  /** All bytes in one buffer. It then stands for the pieces. */
  whole(): Buffer {
    const [first] = this.#list;
    if (first && this.#list.length === 1) return first;
    const joined = Buffer.concat(this.#list, this.length);
    this.#list = [joined];
    return joined;
  }

  /** Copies all bytes to a position of a buffer. */
  copyTo(target: Buffer, at: number): void {
    let to = at;
    for (const piece of this.#list) {
      target.set(piece, to);
      to += piece.length;
    }
  }

  /** The bytes from one position up to another, in one buffer. */
  slice(from: number, to: number): Buffer {
    const [first, ...others] = this.range(from, to);
    if (first && others.length === 0) return first;
    return first ? Buffer.concat([first, ...others]) : Buffer.alloc(0);
  }

  /** The bytes from one position up to another, in parts of the pieces. */
  range(from: number, to: number): Buffer[] {
    const found: Buffer[] = [];
    let start = 0;
    for (const piece of this.#list) {
      const end = start + piece.length;
      if (from < end && to > start && from < to)
        found.push(piece.subarray(Math.max(from - start, 0), Math.min(to - start, piece.length)));
      start = end;
    }
    return found;
  }

  [Symbol.iterator](): Iterator<Buffer> {
    return this.#list[Symbol.iterator]();
  }

  /** The text of all bytes in UTF-8. */
  toString(): string {
    return this.whole().toString('utf8');
  }
}

/** The bytes as pieces. */
export function piecesOf(bytes: Buffer | Pieces): Pieces {
  return bytes instanceof Pieces ? bytes : new Pieces([bytes]);
}

/** The pieces without empty ones, and with short neighbours joined. A stream may keep them. */
export function withoutShort(list: readonly Buffer[]): Buffer[] {
  const joined: Buffer[] = [];
  let short: Buffer[] = [];
  const end = (): void => {
    if (short.length > 0) joined.push(ownJoined(short));
    short = [];
  };
  for (const piece of list) {
    if (piece.length < JOINED_BELOW_BYTES) {
      if (piece.length > 0) short.push(piece);
      continue;
    }
    end();
    joined.push(piece);
  }
  end();
  return joined;
}
