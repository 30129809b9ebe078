/**
 * Collects the chunks of a long body in pieces: large chunks as they are, and small ones in buffers, because
 * a list of small chunks costs far more heap.
 */
import { FIRST_BUFFER_BYTES } from '../limits.ts';
import { ownBytes } from './own-bytes.ts';
import { Pieces } from './pieces.ts';
import type { BodyBytes } from './slab.ts';

/** Chunks of at least this many bytes are kept as they are. */
const KEPT_BYTES = 16 * 1024;
const EMPTY = Buffer.alloc(0);

/** The bytes of one body in their order. */
export class Gathered implements BodyBytes {
  #pieces: Buffer[] = [];
  /** Bytes that the pieces occupy, and how many of the body they hold. */
  #occupied = 0;
  #held = 0;
  /** The buffer of small chunks, and how much of it is used. */
  #buffer: Buffer = EMPTY;
  #used = 0;
  readonly #announced: number;

  /** `announced` is the length of the body. */
  constructor(announced: number) {
    this.#announced = announced;
  }

  get capacity(): number {
    return this.#occupied + this.#buffer.length;
  }

  peakFor(bytes: number): number {
    if (bytes <= this.#buffer.length - this.#used) return this.capacity;
    if (bytes >= KEPT_BYTES || this.capacity === 0) return this.capacity + bytes;
    return this.capacity + this.#nextBufferBytes(bytes);
  }

  append(chunk: Buffer): void {
    const { length } = chunk;
    if (length <= this.#buffer.length - this.#used) this.#copy(chunk);
    else if (length >= KEPT_BYTES) {
      this.#endBuffer();
      this.#keep(chunk, length);
    } else if (this.capacity === 0) {
      // Keeps the first chunk as it is: most bodies have only one.
      this.#buffer = chunk;
      this.#used = length;
    } else {
      this.#replaceBuffer(length);
      this.#copy(chunk);
    }
  }

  /** The bytes, without a copy. They are then forgotten here, so that a copy in one buffer frees them. */
  pieces(): Pieces {
    this.#endBuffer();
    const pieces = new Pieces(this.#pieces);
    this.clear();
    return pieces;
  }

  clear(): void {
    this.#pieces = [];
    this.#occupied = 0;
    this.#held = 0;
    this.#buffer = EMPTY;
    this.#used = 0;
  }

  /** Whether the buffer has so few bytes that they are copied into the next one. */
  get #isShort(): boolean {
    return this.#used < KEPT_BYTES;
  }

  /** Number of bytes of the buffer after the present one, which has room for this many further bytes. */
  #nextBufferBytes(bytes: number): number {
    const copied = this.#isShort ? this.#used : 0;
    const rest = this.#announced - this.#held - this.#used + copied;
    return Math.max(copied + bytes, Math.min(FIRST_BUFFER_BYTES, rest));
  }

  #replaceBuffer(bytes: number): void {
    const next = Buffer.allocUnsafeSlow(this.#nextBufferBytes(bytes));
    const copied = this.#isShort ? this.#buffer.copy(next, 0, 0, this.#used) : 0;
    if (copied === 0) this.#endBuffer();
    this.#buffer = next;
    this.#used = copied;
  }

  #copy(chunk: Buffer): void {
    this.#used += chunk.copy(this.#buffer, this.#used);
  }

  /** Makes the used part of the buffer a piece. A part of less than a half leaves the buffer. */
  #endBuffer(): void {
    if (this.#used === 0) return;
    const piece = this.#buffer.subarray(0, this.#used);
    if (2 * this.#used >= this.#buffer.length) this.#keep(piece, this.#buffer.length);
    else this.#keep(ownBytes(piece), this.#used);
    this.#buffer = EMPTY;
    this.#used = 0;
  }

  #keep(piece: Buffer, occupied: number): void {
    this.#pieces.push(piece);
    this.#occupied += occupied;
    this.#held += piece.length;
  }
}
