/**
 * Finds the byte ranges of a JSON object's members, so that single values can be replaced or removed and
 * every other byte stays as the client sent it. The text must be valid JSON; names are read as JSON.parse
 * reads them.
 */
import type { GatewayError } from '@gateway/shared/failures';
import { invalidRequest } from '../call/refusals.ts';
import { ownBytes } from '../call/own-bytes.ts';
import { Pieces, withoutShort } from '../call/pieces.ts';
import { JSON_TOP_MEMBERS, OUTLINED_FROM_BYTES } from '../limits.ts';
import { pointerOf } from '../dialects/member-table.ts';
import type { Steps } from '../dialects/member-table.ts';
import {
  BACKSLASH,
  CLOSE_OBJECT,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  endOfString,
  endOfValue,
  isClosing,
  isDigit,
  nameOf,
  skipSpace,
  textOf,
} from './json-scan.ts';
import type { Nested } from './json-scan.ts';

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

/** The members of a body's top level, and facts about all levels. */
export interface Scanned {
  members: Member[];
  /** Number of members on all levels. */
  names: number;
  /**
   * Whether JSON.parse may have changed a number or the order of members, so that the value must be read
   * exactly (exact-json.ts).
   */
  isInexact: boolean;
}

/**
 * The members of the top-level object, in their order. Throws `invalid_request` for a duplicate name, for
 * more than 64 levels or JSON_TOP_MEMBERS members, and for a member named `__proto__` on any level.
 * Duplicates below the top level are only counted, because a set of names for each object would cost more
 * than the rest of the scan: see `refuseDuplicates`. `text` has one character per byte.
 */
export function scanMembers(text: string): Scanned {
  const members: Member[] = [];
  const names = new Set<string>();
  const nested: Nested = { names: 0, isInexact: false };
  let at = text.indexOf('{') + 1;
  for (;;) {
    at = skipSpace(text, at);
    const first = text.charCodeAt(at);
    if (at >= text.length || first === CLOSE_OBJECT)
      return { members, names: members.length + nested.names, isInexact: nested.isInexact };
    if (first === COMMA) {
      at += 1;
      continue;
    }
    const start = at;
    at = endOfString(text, start);
    const name = nameOf(text, start, at);
    if (names.has(name)) throw duplicate(name, name);
    if (names.size === JSON_TOP_MEMBERS) throw tooManyMembers();
    names.add(name);
    nested.isInexact ||= isDigit(text.charCodeAt(start + 1)) || text.charCodeAt(start + 1) === BACKSLASH;
    const valueStart = skipSpace(text, skipSpace(text, at) + 1);
    at = endOfValue(text, valueStart, nested);
    members.push({ name, start, valueStart, valueEnd: at });
  }
}

/**
 * Throws `invalid_request` if a name comes twice in an object. JSON.parse keeps one member of each name, so
 * its value then has fewer members than the text: `inValue` is their number in the value.
 */
export function refuseDuplicates(text: string, { names }: Scanned, inValue: number): void {
  if (names === inValue) return;
  findDuplicate(text, text.indexOf('{'), []);
}

/** Throws for the first duplicate in the container that begins at `at`. */
function findDuplicate(text: string, at: number, steps: Steps): void {
  const first = text.charCodeAt(at);
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) return;
  const names = new Set<string | number>();
  for (const { name, valueStart } of entriesOf(text, at)) {
    const own = [...steps, name];
    if (names.has(name)) throw duplicate(String(name), pointerOf(own));
    names.add(name);
    findDuplicate(text, valueStart, own);
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

/** Members to edit, and parts to remove. */
interface Changes {
  edits: ReadonlyMap<string, string | undefined>;
  removals?: readonly Steps[];
}

/**
 * The object with edited members: JSON text replaces or appends a member, undefined removes it. `removals`
 * are further members and items, on any level, that are removed. Every other byte is kept.
 */
export function replaceMembers(bytes: Buffer, members: readonly Member[], changes: Changes): Buffer {
  return spliced(
    bytes,
    splicesOf(() => bytes, members, changes),
  );
}

/** Like `replaceMembers`, without a copy of a long body. */
export function replaceInPieces(
  pieces: Pieces,
  members: readonly Member[],
  changes: Changes,
): Buffer | Pieces {
  const splices = splicesOf(() => pieces.whole(), members, changes);
  return pieces.length < OUTLINED_FROM_BYTES
    ? spliced(pieces.whole(), splices)
    : splicedPieces(pieces, splices);
}

/** The changes in their order. `bytesOf` returns the whole object. */
function splicesOf(
  bytesOf: () => Buffer,
  members: readonly Member[],
  { edits, removals = [] }: Changes,
): Splice[] {
  const tree: Removals = new Map();
  for (const [name, value] of edits) if (value === undefined) tree.set(name, undefined);
  for (const steps of removals) addRemoval(tree, steps);
  const splices: Splice[] = [];
  for (const { name, valueStart, valueEnd } of members) {
    const text = edits.get(name);
    if (text !== undefined) splices.push({ from: valueStart, to: valueEnd, text });
  }
  if (tree.size > 0) pushRemovals(splices, textOf(bytesOf()), { entries: members, tree });
  const appended = textOfMissing(members, edits);
  if (appended !== '') {
    const at = members.at(-1)?.valueEnd ?? bytesOf().indexOf(OPEN_OBJECT) + 1;
    const isFirst = members.every(({ name }) => tree.has(name) && tree.get(name) === undefined);
    splices.push({ from: at, to: at, text: isFirst ? appended : `,${appended}` });
  }
  return splices.toSorted((one, other) => one.from - other.from || one.to - other.to);
}

/** The text of the edited members that the object does not have yet. */
function textOfMissing(members: readonly Member[], edits: ReadonlyMap<string, string | undefined>): string {
  let missing = '';
  for (const [name, value] of edits) {
    if (value === undefined || members.some((member) => member.name === name)) continue;
    missing += `${missing === '' ? '' : ','}${JSON.stringify(name)}:${value}`;
  }
  return missing;
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
  text: string,
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
      pushRemovals(splices, text, { entries: entriesOf(text, valueStart), tree: inner });
    } else {
      const from = hasKept ? (entries[index - 1]?.valueEnd ?? start) : start;
      const to = hasKept ? valueEnd : (entries[index + 1]?.start ?? valueEnd);
      splices.push({ from, to, text: '' });
    }
  }
}

/** The bytes with these changes. Throws if changes overlap. Each byte is copied once. */
function spliced(bytes: Buffer, splices: readonly Splice[]): Buffer {
  if (splices.length === 0) return bytes;
  let length = bytes.length;
  for (const { from, to, text } of splices) length += Buffer.byteLength(text) - (to - from);
  const out = Buffer.allocUnsafe(length);
  let read = 0;
  let written = 0;
  for (const { from, to, text } of splices) {
    if (from < read) throw new Error('changes of a body overlap');
    written += bytes.copy(out, written, read, from);
    written += out.write(text, written);
    read = to;
  }
  written += bytes.copy(out, written, read);
  // Memory that was not written may hold bytes of another request.
  if (written !== length) throw new Error('changes of a body do not fill it');
  return out;
}

/** Like `spliced`. Only short pieces are copied. */
function splicedPieces(pieces: Pieces, splices: readonly Splice[]): Pieces {
  const list: Buffer[] = [];
  let read = 0;
  for (const { from, to, text } of splices) {
    if (from < read) throw new Error('changes of a body overlap');
    list.push(...pieces.range(read, from), ownBytes(text));
    read = to;
  }
  list.push(...pieces.range(read, pieces.length));
  return new Pieces(withoutShort(list));
}

/** The members of the object, or the items of the list, that begins at `at`. */
function entriesOf(text: string, at: number): Entry[] {
  const isObject = text.charCodeAt(at) === OPEN_OBJECT;
  const entries: Entry[] = [];
  const nested: Nested = { names: 0, isInexact: false };
  let from = skipSpace(text, at + 1);
  while (from < text.length && !isClosing(text.charCodeAt(from))) {
    const nameEnd = isObject ? endOfString(text, from) : from;
    const valueStart = isObject ? skipSpace(text, skipSpace(text, nameEnd) + 1) : from;
    const valueEnd = endOfValue(text, valueStart, nested);
    const name = isObject ? nameOf(text, from, nameEnd) : entries.length;
    entries.push({ name, start: from, valueStart, valueEnd });
    from = skipSpace(text, valueEnd);
    if (text.charCodeAt(from) === COMMA) from = skipSpace(text, from + 1);
  }
  return entries;
}
