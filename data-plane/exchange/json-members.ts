/**
 * Finds the byte ranges of a JSON object's top-level members, so that single values can be replaced and
 * every other
 * byte stays what the client sent. Reads only text that JSON.parse accepted, and agrees with it about every
 * name.
 */
import { GatewayError } from '@gateway/shared/failures';

/** Objects and arrays inside each other, at most. */
export const JSON_DEPTH = 64;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const SPACE = 0x20;
const FORBIDDEN_NAME = '__proto__';

/** One member: `start` is the quote of its name, `valueEnd` the byte after its value. */
export interface Member {
  name: string;
  start: number;
  valueStart: number;
  valueEnd: number;
}

/**
 * The members of the top-level object, in their order. Throws `invalid_request` for a name that comes
 * twice, for more
 * than 64 levels, and for a member named `__proto__` on any level.
 */
export function scanMembers(bytes: Buffer): Member[] {
  const members: Member[] = [];
  const names = new Set<string>();
  let at = bytes.indexOf(OPEN_OBJECT) + 1;
  for (;;) {
    at = skipSpace(bytes, at);
    if (at >= bytes.length || bytes[at] === CLOSE_OBJECT) return members;
    if (bytes[at] === COMMA) {
      at += 1;
      continue;
    }
    const start = at;
    at = endOfString(bytes, start);
    const name = nameOf(bytes, start, at);
    if (names.has(name)) throw invalid(`The member "${name}" comes twice. Send it once.`, name);
    names.add(name);
    const valueStart = skipSpace(bytes, skipSpace(bytes, at) + 1);
    at = endOfValue(bytes, valueStart);
    members.push({ name, start, valueStart, valueEnd: at });
  }
}

/**
 * The object with other values for some members: JSON text replaces or appends a member, undefined leaves
 * it out. Where
 * nothing is left out, every byte outside the replaced values is kept.
 */
export function replaceMembers(
  bytes: Buffer,
  members: readonly Member[],
  edits: ReadonlyMap<string, string | undefined>,
): Buffer {
  const kept = members.filter((member) => !edits.has(member.name) || edits.get(member.name) !== undefined);
  const present = new Set(kept.map((member) => member.name));
  const appended = [...edits].filter(([name, value]) => value !== undefined && !present.has(name));
  const parts: Buffer[] = [];
  if (kept.length === members.length) pushInPlace(parts, { bytes, members, edits });
  else pushJoined(parts, { bytes, members: kept, edits });
  const last = kept.at(-1)?.valueEnd ?? bytes.indexOf(OPEN_OBJECT) + 1;
  const extra = appended.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',');
  if (extra) parts.push(Buffer.from(kept.length > 0 ? `,${extra}` : extra));
  parts.push(kept.length === members.length ? bytes.subarray(last) : Buffer.from('}'));
  return Buffer.concat(parts);
}

interface Edit {
  bytes: Buffer;
  members: readonly Member[];
  edits: ReadonlyMap<string, string | undefined>;
}

/** Everything up to the end of the last value, with the replaced values in place. */
function pushInPlace(parts: Buffer[], { bytes, members, edits }: Edit): void {
  let from = 0;
  for (const member of members) {
    const value = edits.get(member.name);
    if (value === undefined) continue;
    parts.push(bytes.subarray(from, member.valueStart), Buffer.from(value));
    from = member.valueEnd;
  }
  parts.push(bytes.subarray(from, members.at(-1)?.valueEnd ?? bytes.indexOf(OPEN_OBJECT) + 1));
}

function pushJoined(parts: Buffer[], { bytes, members, edits }: Edit): void {
  parts.push(Buffer.from('{'));
  members.forEach((member, index) => {
    const value = edits.get(member.name);
    if (index > 0) parts.push(Buffer.from(','));
    parts.push(bytes.subarray(member.start, value === undefined ? member.valueEnd : member.valueStart));
    if (value !== undefined) parts.push(Buffer.from(value));
  });
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && (bytes[at] ?? 0) <= SPACE) at += 1;
  return at;
}

/** The byte after the closing quote of the string that opens at `from`. */
function endOfString(bytes: Buffer, from: number): number {
  let at = from;
  for (;;) {
    at = bytes.indexOf(QUOTE, at + 1);
    if (at < 0) return bytes.length;
    let slashes = 0;
    while (bytes[at - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
}

/** The name as JSON.parse reads it: escapes decoded. */
function nameOf(bytes: Buffer, start: number, end: number): string {
  const raw = bytes.toString('utf8', start + 1, end - 1);
  const name = raw.includes('\\') ? String(JSON.parse(`"${raw}"`)) : raw;
  if (name === FORBIDDEN_NAME) throw invalid('A member may not be named __proto__. Leave it out.', name);
  return name;
}

/** The byte after the value that begins at `from`. */
function endOfValue(bytes: Buffer, from: number): number {
  const first = bytes[from];
  if (first === QUOTE) return endOfString(bytes, from);
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) return endOfNested(bytes, from);
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0;
    if (byte === COMMA || byte === CLOSE_OBJECT || byte <= SPACE) return at;
    at += 1;
  }
  return at;
}

function endOfNested(bytes: Buffer, from: number): number {
  let depth = 1;
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const end = endOfString(bytes, at);
      refuseForbiddenName(bytes, at, end);
      at = end;
      continue;
    }
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      depth += 1;
      if (depth > JSON_DEPTH)
        throw invalid(`The JSON is nested deeper than ${JSON_DEPTH} levels. Flatten it.`);
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      depth -= 1;
      if (depth === 1) return at + 1;
    }
    at += 1;
  }
  return at;
}

/** Only a string before a colon is a name; the cheap length test spares all others. */
function refuseForbiddenName(bytes: Buffer, start: number, end: number): void {
  const length = end - start - 2;
  // Nine characters, each of which may be an escape of six.
  if (length < FORBIDDEN_NAME.length || length > FORBIDDEN_NAME.length * 6) return;
  if (bytes[start + 1] !== 0x5f && bytes[start + 1] !== BACKSLASH) return;
  if (bytes[skipSpace(bytes, end)] === COLON) nameOf(bytes, start, end);
}

function invalid(message: string, parameter?: string): GatewayError {
  return new GatewayError('invalid_request', message, parameter === undefined ? {} : { parameter });
}
