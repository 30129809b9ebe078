/** Replaces the names of a whole answer without a scan, if a few searches certainly find them. */
import { BACKSLASH, COLON, QUOTE, skipSpace, textOf } from './json-scan.ts';

/** Every escape that can stand for a letter of a name begins like this. */
const ESCAPED_ASCII = String.raw`\u00`;

/** A text to replace: the characters from `start` to `end`, without quotes. */
interface Place {
  start: number;
  end: number;
  own: string;
}

/** A name that JSON writes as it is. */
const PLAIN = /^[\w.:/@ -]*$/;

/**
 * The JSON object with other texts in members by these names. Undefined if a member is no text, stands behind
 * a nested value, or is not certainly the only one of its name. Both texts have one character per byte.
 */
export function withHeadNames(
  text: string,
  names: Iterable<readonly [name: string, own: string]>,
): string | undefined {
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
  return spliced(text, places);
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
  return { start: quote + 1, end, own: PLAIN.test(own) ? own : escaped(own) };
}

/** The text as JSON has it between quotes, with one character per byte. */
function escaped(own: string): string {
  return textOf(Buffer.from(JSON.stringify(own).slice(1, -1)));
}

function spliced(text: string, places: Place[]): string {
  if (places.length > 1) places.sort((one, other) => one.start - other.start);
  let whole = '';
  let from = 0;
  for (const { start, end, own } of places) {
    whole += text.slice(from, start) + own;
    from = end;
  }
  return whole + text.slice(from);
}
