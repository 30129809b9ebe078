/**
 * Bytes that are kept as long as a stream is open. Node takes the memory of short buffers from slabs of 64 kB
 * that short-lived buffers share: a slice would keep its slab, and each stream of a busy node another one.
 */
import { Pieces } from '../call/pieces.ts';

/** Size of the slabs for kept bytes alone. A buffer without a slab takes some 250 bytes more. */
const SLAB_BYTES = 4_096;
/** Longest bytes that share a slab. */
const SHARED_BYTES = SLAB_BYTES / 4;

let slab = Buffer.alloc(SLAB_BYTES);
let used = 0;

/** The bytes, or the bytes of a text in UTF-8, in memory that only kept bytes share. */
export function ownBytes(bytes: Buffer | string): Buffer {
  if (typeof bytes === 'string') {
    const own = place(Buffer.byteLength(bytes));
    own.write(bytes);
    return own;
  }
  if (bytes.length > SHARED_BYTES && bytes.buffer.byteLength === bytes.length) return bytes;
  const own = place(bytes.length);
  own.set(bytes);
  return own;
}

/** The body in memory of its own. Pieces are buffers of their own already. */
export function ownBody(body: Buffer | Pieces | string): Buffer | Pieces {
  return body instanceof Pieces ? body : ownBytes(body);
}

function place(length: number): Buffer {
  if (length > SHARED_BYTES) return Buffer.alloc(length);
  if (used + length > SLAB_BYTES) {
    slab = Buffer.alloc(SLAB_BYTES);
    used = 0;
  }
  used += length;
  return slab.subarray(used - length, used);
}
