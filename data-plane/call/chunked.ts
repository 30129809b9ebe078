/** The chunked transfer coding of answers. https://www.rfc-editor.org/rfc/rfc9112#section-7.1 */

const LINE_END = '\r\n';
/** The end of a body, after its last chunk. */
export const LAST_CHUNK = '0\r\n\r\n';

/** One chunk with its size, in one buffer. Empty for no bytes, because an empty chunk ends a body. */
export function chunkOf(bytes: string | Buffer): Buffer {
  const length = Buffer.byteLength(bytes);
  if (length === 0) return Buffer.alloc(0);
  const size = length.toString(16) + LINE_END;
  const chunk = Buffer.allocUnsafe(size.length + length + LINE_END.length);
  chunk.write(size, 0, 'latin1');
  if (typeof bytes === 'string') chunk.write(bytes, size.length);
  else chunk.set(bytes, size.length);
  chunk.write(LINE_END, size.length + length, 'latin1');
  return chunk;
}
