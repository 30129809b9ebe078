/** Replaces the names of a whole answer without a parser, if a few searches certainly find them. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const SPACE = 0x20;
const OPEN_OBJECT = 0x7b;
const OPEN_ARRAY = 0x5b;
/** Every escape that can stand for a letter of a name begins like this. */
const ESCAPED_ASCII = String.raw`\u00`;

/** The text of a member's value, without its quotes. */
interface Place {
  start: number;
  end: number;
  text: string;
}

/**
 * The bytes of a JSON object with other texts in members by these names. Undefined if a member is no text,
 * stands behind a nested value, or is not certainly the only one of its name.
 */
export function withHeadNames(bytes: Buffer, texts: ReadonlyMap<string, string>): Buffer | undefined {
  if (bytes[0] !== OPEN_OBJECT || bytes.includes(ESCAPED_ASCII)) return undefined;
  const headEnd = endOfHead(bytes);
  const places: Place[] = [];
  for (const [name, text] of texts) {
    const quoted = `"${name}"`;
    const at = bytes.indexOf(quoted);
    if (at < 0) continue;
    if (at >= headEnd || bytes.includes(quoted, at + 1)) return undefined;
    const place = placeAt(bytes, at + quoted.length, text);
    if (!place) return undefined;
    places.push(place);
  }
  return spliced(bytes, places);
}

/** The position of the first nested value. Braces within earlier texts only make the head shorter. */
function endOfHead(bytes: Buffer): number {
  const object = bytes.indexOf(OPEN_OBJECT, 1);
  const array = bytes.indexOf(OPEN_ARRAY, 1);
  return Math.min(object < 0 ? bytes.length : object, array < 0 ? bytes.length : array);
}

/** The text of the value after the colon that follows `at`; undefined for another value. */
function placeAt(bytes: Buffer, at: number, text: string): Place | undefined {
  const colon = afterSpace(bytes, at);
  if (bytes[colon] !== COLON) return undefined;
  const quote = afterSpace(bytes, colon + 1);
  if (bytes[quote] !== QUOTE) return undefined;
  const end = bytes.indexOf(QUOTE, quote + 1);
  if (end < 0 || bytes[end - 1] === BACKSLASH) return undefined;
  return { start: quote + 1, end, text };
}

function spliced(bytes: Buffer, places: Place[]): Buffer {
  if (places.length === 0) return bytes;
  const parts: Buffer[] = [];
  let from = 0;
  for (const { start, end, text } of places.sort((one, other) => one.start - other.start)) {
    parts.push(bytes.subarray(from, start), Buffer.from(JSON.stringify(text).slice(1, -1)));
    from = end;
  }
  return Buffer.concat([...parts, bytes.subarray(from)]);
}

function afterSpace(bytes: Buffer, at: number): number {
  let next = at;
  while (next < bytes.length && (bytes[next] ?? 0) <= SPACE) next += 1;
  return next;
}
