/** Bytes of a short body as a string, which Node sends in one piece with the headers. */

/** Size up to which a body is sent together with its headers, in bytes. */
export const JOINED_BYTES = 16 * 1024;

/** A short body as a string with one character per byte. */
export class ByteText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** Number of bytes. */
  get length(): number {
    return this.text.length;
  }

  /** The bytes in a buffer. */
  bytes(): Buffer {
    return Buffer.from(this.text, 'latin1');
  }
}

/** The body of a text with one character per byte. A long one becomes a buffer, which Node sends uncopied. */
export function bodyOf(text: string): Buffer | ByteText {
  return text.length > JOINED_BYTES ? Buffer.from(text, 'latin1') : new ByteText(text);
}
