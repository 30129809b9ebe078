/** Collects the chunks of a body in one buffer that doubles, because a list of chunks costs far more heap. */
import { CHUNK_AVERAGE_BYTES, FIRST_BUFFER_BYTES, FREE_CHUNKS } from '../limits.ts';

const EMPTY = Buffer.alloc(0);

/** Collects the chunks of a body. */
export interface BodyBytes {
  /** Number of bytes that are occupied. */
  readonly capacity: number;
  /** Number of bytes that are occupied at most while this many further bytes are appended. */
  peakFor(bytes: number): number;
  /** Appends the chunk: as it is, or a copy of it. */
  append(chunk: Buffer): void;
  /** Forgets the bytes. */
  clear(): void;
}

/** The bytes of one body in their order. */
export class Slab implements BodyBytes {
  #buffer: Buffer = EMPTY;
  #length = 0;
  readonly #largest: number;

  /** `largestBytes` is the announced length of the body, or its limit. */
  constructor(largestBytes: number) {
    this.#largest = largestBytes;
  }

  /** Number of bytes in the slab. */
  get length(): number {
    return this.#length;
  }

  get capacity(): number {
    return this.#buffer.length;
  }

  /** The capacity with which this many further bytes fit. */
  capacityFor(bytes: number): number {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return this.#buffer.length;
    const doubled = Math.max(FIRST_BUFFER_BYTES, this.#buffer.length * 2);
    // A body of the announced length finally gets a buffer of exactly this length.
    return Math.max(needed, Math.min(doubled, this.#largest));
  }

  peakFor(bytes: number): number {
    const after = this.capacityFor(bytes);
    return after > this.capacity ? after + this.capacity : after;
  }

  append(chunk: Buffer): void {
    // Keeps the first chunk as it is: most bodies have only one.
    if (this.#length === 0) this.#buffer = chunk;
    else {
      const capacity = this.capacityFor(chunk.length);
      if (capacity > this.#buffer.length) this.#grow(capacity);
      chunk.copy(this.#buffer, this.#length);
    }
    this.#length += chunk.length;
  }

  /** The bytes, without a copy. */
  bytes(): Buffer {
    return this.#length === this.#buffer.length ? this.#buffer : this.#buffer.subarray(0, this.#length);
  }

  clear(): void {
    this.#buffer = EMPTY;
    this.#length = 0;
  }

  #grow(capacity: number): void {
    const grown = Buffer.allocUnsafeSlow(capacity);
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}

/** Whether the chunks of a body are large enough. Even a chunk of one byte costs time and memory. */
export function isChunkingFair(chunks: number, bytes: number): boolean {
  return chunks <= FREE_CHUNKS || bytes >= chunks * CHUNK_AVERAGE_BYTES;
}
