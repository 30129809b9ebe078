/**
 * Memory for bytes that may be kept as long as a stream is open. Node takes the memory of short buffers from
 * slabs of 64 kB that short-lived buffers share: a slice would keep its slab, and each stream of a busy node
 * another one.
 */

/** Size of the slabs for kept bytes alone. A buffer without a slab takes some 250 bytes more. */
const SLAB_BYTES = 4_096;
/** Longest bytes that share a slab. */
const SHARED_BYTES = SLAB_BYTES / 4;

/** The present slab: module state, because all streams of the process share it. No byte is given twice. */
let slab = Buffer.alloc(SLAB_BYTES);
let used = 0;

/**
 * The bytes, or the bytes of a text in UTF-8. Short bytes are copied into a slab that only such bytes share.
 * Long bytes get memory of their own. They are not copied if they fill at least half of their memory: then
 * they are no slice of a slab of Node.
 */
export function ownBytes(bytes: Buffer | string): Buffer {
  if (typeof bytes === 'string') {
    const own = place(Buffer.byteLength(bytes));
    own.write(bytes);
    return own;
  }
  if (bytes.length > SHARED_BYTES && 2 * bytes.length >= bytes.buffer.byteLength) return bytes;
  return ownJoined([bytes]);
}

/** The joined parts, in memory like that of `ownBytes`. */
export function ownJoined(parts: readonly Buffer[]): Buffer {
  const own = place(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    own.set(part, at);
    at += part.length;
  }
  return own;
}

/**
 * The body of a streamed request in memory like that of `ownBytes`: undici keeps it until the answer ends
 * (lib/core/request.js). Pieces have such memory already, and a `Readable` has no bytes yet.
 */
export function ownBody<Other>(body: Buffer | string | Other): Buffer | Other {
  return isBytes(body) ? ownBytes(body) : body;
}

/** Whether a body is in memory as a whole, as bytes or as text. */
export function isBytes(body: unknown): body is Buffer | string {
  return typeof body === 'string' || Buffer.isBuffer(body);
}

function place(length: number): Buffer {
  if (length > SHARED_BYTES) return Buffer.allocUnsafeSlow(length);
  if (used + length > SLAB_BYTES) {
    slab = Buffer.alloc(SLAB_BYTES);
    used = 0;
  }
  used += length;
  return slab.subarray(used - length, used);
}
