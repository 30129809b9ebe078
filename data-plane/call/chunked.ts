/** The chunked transfer coding of answers. https://www.rfc-editor.org/rfc/rfc9112#section-7.1 */

const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;
const LINE_END_BYTES = 2;
const HEX_BITS = 4;
const HEX_DIGITS = Buffer.from('0123456789abcdef');
/** The end of a body, after its last chunk. */
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** How parts are put into one buffer. */
interface Framing {
  /** Whether the client takes chunks. Otherwise the bytes stand alone, and the connection ends the body. */
  isChunked: boolean;
  /** Whether the body ends after these parts. */
  isLast?: boolean;
}

/**
 * The parts in one buffer: a chunk with its size, followed by the end of the body if they are the last ones.
 * Parts without bytes make no chunk, because an empty chunk ends a body.
 */
export function framed(parts: readonly Buffer[], { isChunked, isLast = false }: Framing): Buffer {
  let length = 0;
  for (const part of parts) length += part.length;
  const digits = isChunked && length > 0 ? digitsOf(length) : 0;
  const end = isChunked && isLast ? LAST_CHUNK.length : 0;
  const whole = Buffer.allocUnsafe(digits + (digits > 0 ? 2 * LINE_END_BYTES : 0) + length + end);
  let at = digits > 0 ? writeSize(whole, length, digits) : 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  if (digits > 0) at = writeLineEnd(whole, at);
  if (end > 0) whole.set(LAST_CHUNK, at);
  return whole;
}

function digitsOf(length: number): number {
  return Math.ceil((32 - Math.clz32(length)) / HEX_BITS);
}

function writeSize(into: Buffer, length: number, digits: number): number {
  let rest = length;
  for (let at = digits - 1; at >= 0; at -= 1) {
    into[at] = HEX_DIGITS[rest & 0xf] ?? 0;
    rest >>>= HEX_BITS;
  }
  return writeLineEnd(into, digits);
}

function writeLineEnd(into: Buffer, at: number): number {
  into[at] = CARRIAGE_RETURN;
  into[at + 1] = LINE_FEED;
  return at + LINE_END_BYTES;
}
