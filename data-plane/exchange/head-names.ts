/** Replaces the names of a whole answer without a scan, if a few searches certainly find them. */
import { BACKSLASH, COLON, QUOTE, skipSpace, textOf } from './json-scan.ts';

/** Every escape that can stand for a letter of a name begins like this. */
const ESCAPED_ASCII = String.raw`\u00`;

/** A text to replace: the bytes from `start` to `end`, without quotes. */
interface Place {
  start: number;
  end: number;
  bytes: Buffer;
}

/**
 * The bytes of a JSON object with other texts in members by these names. Undefined if a member is no text,
 * stands behind a nested value, or is not certainly the only one of its name.
 */
export function withHeadNames(bytes: Buffer, names: ReadonlyMap<string, string>): Buffer | undefined {
  const text = textOf(bytes);
  if (!text.startsWith('{') || text.includes(ESCAPED_ASCII)) return undefined;
  const headEnd = endOfHead(text);
  const places: Place[] = [];
  for (const [name, own] of names) {
    const quoted = `"${name}"`;
    const at = text.indexOf(quoted);
    if (at < 0) continue;
    if (at >= headEnd || text.includes(quoted, at + 1)) return undefined;
    // The quote is a part of a longer text, as in {"a\"model":"x"}.
    if (text.charCodeAt(at - 1) === BACKSLASH) return undefined;
    const place = placeAt(text, at + quoted.length, own);
    if (!place) return undefined;
    places.push(place);
  }
  return spliced(bytes, places);
}

/** The position of the first nested value. Braces within earlier texts only make the head shorter. */
function endOfHead(text: string): number {
  const object = text.indexOf('{', 1);
  const array = text.indexOf('[', 1);
  return Math.min(object < 0 ? text.length : object, array < 0 ? text.length : array);
}

/** The text of the value after the colon that follows `at`; undefined for another value. */
function placeAt(text: string, at: number, own: string): Place | undefined {
  const colon = skipSpace(text, at);
  const quote = skipSpace(text, colon + 1);
  if (text.charCodeAt(colon) !== COLON || text.charCodeAt(quote) !== QUOTE) return undefined;
  const end = text.indexOf('"', quote + 1);
  if (end < 0 || text.charCodeAt(end - 1) === BACKSLASH) return undefined;
  return { start: quote + 1, end, bytes: Buffer.from(JSON.stringify(own).slice(1, -1)) };
}

function spliced(bytes: Buffer, places: Place[]): Buffer {
  if (places.length === 0) return bytes;
  places.sort((one, other) => one.start - other.start);
  let length = bytes.length;
  for (const place of places) length += place.bytes.length - (place.end - place.start);
  const whole = Buffer.allocUnsafe(length);
  let [from, to] = [0, 0];
  for (const { start, end, bytes: own } of places) {
    to += bytes.copy(whole, to, from, start);
    whole.set(own, to);
    to += own.length;
    from = end;
  }
  bytes.copy(whole, to, from);
  return whole;
}
