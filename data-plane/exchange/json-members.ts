/**
 * Finds the byte ranges of a JSON object's members, so that single values can be replaced or removed and
 * every other byte stays as the client sent it. The text must be valid JSON; names are read as JSON.parse
 * reads them.
 */
import type { GatewayError } from '@gateway/shared/failures';
import { invalidRequest } from '../call/refusals.ts';
import { JSON_TOP_MEMBERS } from '../limits.ts';
import { pointerOf } from '../dialects/member-table.ts';
import type { Steps } from '../dialects/member-table.ts';

/** Maximum nesting of objects and arrays. */
const JSON_DEPTH = 64;

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

/** One member or item of a container. The index of an item is its name. */
interface Entry {
  name: string | number;
  start: number;
  valueStart: number;
  valueEnd: number;
}

/** The members of a body's top level, and the number of members on all levels. */
export interface Scanned {
  members: Member[];
  names: number;
}

/**
 * The members of the top-level object, in their order. Throws `invalid_request` for a duplicate name, for
 * more than 64 levels or JSON_TOP_MEMBERS members, and for a member named `__proto__` on any level.
 * Duplicates below the top level are only counted, because a set of names for each object would cost more
 * than the rest of the scan: see `refuseDuplicates`.
 */
export function scanMembers(bytes: Buffer): Scanned {
  const members: Member[] = [];
  const names = new Set<string>();
  const nested: Nested = { names: 0 };
  let at = bytes.indexOf(OPEN_OBJECT) + 1;
  for (;;) {
    at = skipSpace(bytes, at);
    if (at >= bytes.length || bytes[at] === CLOSE_OBJECT)
      return { members, names: members.length + nested.names };
    if (bytes[at] === COMMA) {
      at += 1;
      continue;
    }
    const start = at;
    at = endOfString(bytes, start);
    const name = nameOf(bytes, start, at);
    if (names.has(name)) throw duplicate(name, name);
    if (names.size === JSON_TOP_MEMBERS) throw tooManyMembers();
    names.add(name);
    const valueStart = skipSpace(bytes, skipSpace(bytes, at) + 1);
    at = endOfValue(bytes, valueStart, nested);
    members.push({ name, start, valueStart, valueEnd: at });
  }
}

/**
 * Throws `invalid_request` if a name comes twice in an object. JSON.parse keeps one member of each name, so
 * its value then has fewer members than the text: `inValue` is their number in the value.
 */
export function refuseDuplicates(bytes: Buffer, { names }: Scanned, inValue: number): void {
  if (names !== inValue) findDuplicate(bytes, bytes.indexOf(OPEN_OBJECT), []);
}

/** Throws for the first duplicate in the container that begins at `at`. */
function findDuplicate(bytes: Buffer, at: number, steps: Steps): void {
  const isObject = bytes[at] === OPEN_OBJECT;
  if (!isObject && bytes[at] !== OPEN_ARRAY) return;
  const names = new Set<string | number>();
  for (const { name, valueStart } of entriesOf(bytes, at)) {
    const own = [...steps, name];
    if (names.has(name)) throw duplicate(String(name), pointerOf(own));
    names.add(name);
    findDuplicate(bytes, valueStart, own);
  }
}

function tooManyMembers(): GatewayError {
  return invalidRequest(`The request body has more than ${JSON_TOP_MEMBERS} members. Send fewer.`);
}

function duplicate(name: string, parameter: string): GatewayError {
  return invalidRequest(`The member "${name}" comes twice. Send it once.`, parameter);
}

/** A change of the text: the bytes from `from` to `to` become `text`. */
interface Splice {
  from: number;
  to: number;
  text: string;
}

/**
 * The object with edited members: JSON text replaces or appends a member, undefined removes it. `removals`
 * are further members and items, on any level, that are removed. Every other byte is kept.
 */
export function replaceMembers(
  bytes: Buffer,
  members: readonly Member[],
  { edits, removals = [] }: { edits: ReadonlyMap<string, string | undefined>; removals?: readonly Steps[] },
): Buffer {
  const tree: Removals = new Map();
  for (const [name, value] of edits) if (value === undefined) tree.set(name, undefined);
  for (const steps of removals) addRemoval(tree, steps);
  const splices: Splice[] = [];
  for (const { name, valueStart, valueEnd } of members) {
    const text = edits.get(name);
    if (text !== undefined) splices.push({ from: valueStart, to: valueEnd, text });
  }
  if (tree.size > 0) pushRemovals(splices, bytes, { entries: members, tree });
  const present = new Set(members.map((member) => member.name));
  const appended = [...edits].filter(([name, value]) => value !== undefined && !present.has(name));
  if (appended.length > 0) {
    const at = members.at(-1)?.valueEnd ?? bytes.indexOf(OPEN_OBJECT) + 1;
    const isFirst = members.every(({ name }) => tree.has(name) && tree.get(name) === undefined);
    const text = appended.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',');
    splices.push({ from: at, to: at, text: isFirst ? text : `,${text}` });
  }
  return spliced(bytes, splices);
}

/** Members of a container to remove, by name or index: undefined for the whole value, else parts of it. */
type Removals = Map<string | number, Removals | undefined>;

function addRemoval(tree: Removals, steps: Steps): void {
  let at = tree;
  for (const [depth, step] of steps.entries()) {
    if (at.has(step) && at.get(step) === undefined) return;
    if (depth === steps.length - 1) {
      at.set(step, undefined);
      return;
    }
    const next: Removals = at.get(step) ?? new Map();
    at.set(step, next);
    at = next;
  }
}

/**
 * Adds the removals from one container. A removed entry takes the comma before it along, or the one after it
 * if nothing before it is kept.
 */
function pushRemovals(
  splices: Splice[],
  bytes: Buffer,
  { entries, tree }: { entries: readonly Entry[]; tree: Removals },
): void {
  let hasKept = false;
  for (const [index, { name, start, valueStart, valueEnd }] of entries.entries()) {
    if (!tree.has(name)) {
      hasKept = true;
      continue;
    }
    const inner = tree.get(name);
    if (inner) {
      hasKept = true;
      pushRemovals(splices, bytes, { entries: entriesOf(bytes, valueStart), tree: inner });
    } else {
      const from = hasKept ? (entries[index - 1]?.valueEnd ?? start) : start;
      const to = hasKept ? valueEnd : (entries[index + 1]?.start ?? valueEnd);
      splices.push({ from, to, text: '' });
    }
  }
}

function spliced(bytes: Buffer, splices: Splice[]): Buffer {
  splices.sort((one, other) => one.from - other.from || one.to - other.to);
  const parts: Buffer[] = [];
  let at = 0;
  for (const { from, to, text } of splices) {
    parts.push(bytes.subarray(at, from), Buffer.from(text));
    at = to;
  }
  parts.push(bytes.subarray(at));
  return Buffer.concat(parts);
}

/** The members of the object, or the items of the list, that begins at `at`. */
function entriesOf(bytes: Buffer, at: number): Entry[] {
  const isObject = bytes[at] === OPEN_OBJECT;
  const entries: Entry[] = [];
  const nested: Nested = { names: 0 };
  let from = skipSpace(bytes, at + 1);
  while (from < bytes.length && bytes[from] !== CLOSE_OBJECT && bytes[from] !== CLOSE_ARRAY) {
    const nameEnd = isObject ? endOfString(bytes, from) : from;
    const valueStart = isObject ? skipSpace(bytes, skipSpace(bytes, nameEnd) + 1) : from;
    const valueEnd = endOfValue(bytes, valueStart, nested);
    const name = isObject ? nameOf(bytes, from, nameEnd) : entries.length;
    entries.push({ name, start: from, valueStart, valueEnd });
    from = skipSpace(bytes, valueEnd);
    if (bytes[from] === COMMA) from = skipSpace(bytes, from + 1);
  }
  return entries;
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && (bytes[at] ?? 0) <= SPACE) at += 1;
  return at;
}

/** The byte after the closing quote of the string that opens at `from`. */
export function endOfString(bytes: Buffer, from: number): number {
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
  if (name === FORBIDDEN_NAME)
    throw invalidRequest('A member may not be named __proto__. Leave it out.', name);
  return name;
}

/** Counts the names of all members that were passed over. */
interface Nested {
  names: number;
}

/** The byte after the value that begins at `from`. */
function endOfValue(bytes: Buffer, from: number, nested: Nested): number {
  const first = bytes[from];
  if (first === QUOTE) return endOfString(bytes, from);
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) return endOfNested(bytes, from, nested);
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0;
    if (byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_ARRAY || byte <= SPACE) return at;
    at += 1;
  }
  return at;
}

function endOfNested(bytes: Buffer, from: number, nested: Nested): number {
  let depth = 1;
  let names = 0;
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
        throw invalidRequest(`The JSON is nested deeper than ${JSON_DEPTH} levels. Flatten it.`);
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      depth -= 1;
      if (depth === 1) {
        nested.names += names;
        return at + 1;
      }
    } else if (byte === COLON) names += 1;
    at += 1;
  }
  return at;
}

/** Only a string before a colon is a name. The length is tested first, because that is cheap. */
function refuseForbiddenName(bytes: Buffer, start: number, end: number): void {
  const length = end - start - 2;
  // Each of the nine characters may be written as an escape of six.
  if (length < FORBIDDEN_NAME.length || length > FORBIDDEN_NAME.length * 6) return;
  if (bytes[start + 1] !== 0x5f && bytes[start + 1] !== BACKSLASH) return;
  if (bytes[skipSpace(bytes, end)] === COLON) nameOf(bytes, start, end);
}
