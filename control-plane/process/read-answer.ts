/** Reads the answers of other services, which may be hostile, within limits of size and number of chunks. */

/** First size of the buffer, in bytes. It doubles: a list of chunks would cost far more heap. */
const FIRST_BYTES = 16 * 1024;
/** Network chunks of one answer. Each costs time, even if it has one byte. */
const CHUNKS_MAX = 100_000;

/**
 * The body; null if it has more than `bytesMax` bytes or CHUNKS_MAX chunks. Then its connection is closed.
 * Rejects if the body breaks off.
 */
export async function readAnswer(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Buffer | null> {
  let buffer = Buffer.allocUnsafeSlow(Math.min(FIRST_BYTES, bytesMax));
  let size = 0;
  let chunks = 0;
  for await (const chunk of body) {
    const needed = size + chunk.length;
    chunks += 1;
    if (needed > bytesMax || chunks > CHUNKS_MAX) return null;
    if (needed > buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(bytesMax, Math.max(needed, 2 * buffer.length)));
      buffer.copy(larger, 0, 0, size);
      buffer = larger;
    }
    buffer.set(chunk, size);
    size = needed;
  }
  return buffer.subarray(0, size);
}
