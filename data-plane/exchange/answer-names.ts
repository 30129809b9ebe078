/**
 * Names of answers: ids of the gateway's own, and the catalog's name of the model. The upstream's name would
 * reveal the operator's supplier to customers, and clients compare the name with the requested one.
 */
import type { DialectName } from '@gateway/shared/catalog';
import { bodyOf } from '../call/byte-text.ts';
import type { ByteText } from '../call/byte-text.ts';
import { timedId } from '../call/timed-id.ts';
import type { ChatEvent } from '../dialects/canonical.ts';
import { writeJson } from '../dialects/exact-json.ts';
import { parseExactObject } from '../dialects/fields.ts';
import { isValueOf } from '../state/replace-ids.ts';
import { withHeadNames } from './head-names.ts';
import { replaceMembers, scanMembers } from './json-members.ts';
import { textOf } from './json-scan.ts';
import { ownBytes } from '../call/own-bytes.ts';

/** Names that replace those of the upstream in an answer. */
export interface AnswerNames {
  id: string;
  model: string;
}

/** The members of a format's answers that hold their names. */
const MEMBERS: Record<DialectName, Record<keyof AnswerNames, string>> = {
  'openai-chat': { id: 'id', model: 'model' },
  'openai-responses': { id: 'id', model: 'model' },
  'anthropic-messages': { id: 'id', model: 'model' },
  'google-generate': { id: 'responseId', model: 'modelVersion' },
};

/** The same in quotes, as they stand in the bytes of an answer. */
const QUOTED = Object.fromEntries(
  Object.entries(MEMBERS).map(([dialect, { id, model }]) => [
    dialect,
    { id: quoted(id), model: quoted(model) },
  ]),
) as Record<DialectName, Record<keyof AnswerNames, Buffer>>;

/** A unique id for an answer, in the client format's shape. */
export function newAnswerId(prefix: string): string {
  return prefix + timedId();
}

/** The events with this id and model in place of the upstream's. */
export function named(event: ChatEvent, names: AnswerNames): ChatEvent {
  return event.type === 'start' ? { ...event, ...names } : event;
}

/**
 * A mirrored whole answer with these names in place of the upstream's; every other byte stays. `scannable` is
 * its text with one character per byte, if the caller has it.
 */
export function withNames(
  { bytes, scannable = textOf(bytes) }: { bytes: Buffer; scannable?: string },
  names: Partial<AnswerNames>,
  dialect: DialectName = 'openai-chat',
): Buffer | ByteText {
  const texts: [name: string, text: string][] = [];
  if (names.id !== undefined) texts.push([MEMBERS[dialect].id, names.id]);
  if (names.model !== undefined) texts.push([MEMBERS[dialect].model, names.model]);
  const quick = withHeadNames(scannable, texts);
  if (quick !== undefined) return bodyOf(quick);
  try {
    const { members } = scanMembers(scannable);
    const found = texts.filter(([member]) => members.some(({ name }) => name === member));
    const edits = new Map(found.map(([name, text]) => [name, JSON.stringify(text)]));
    return replaceMembers(bytes, members, { edits });
  } catch {
    // The scanner reads requests strictly: it refuses depths and names that an upstream may send.
    const value = parseExactObject(bytes.toString('utf8'));
    const found = texts.filter(([name]) => value?.[name] !== undefined);
    return found.length === 0 ? bytes : Buffer.from(writeJson({ ...value, ...Object.fromEntries(found) }));
  }
}

/** A member whose value is replaced in each event that has it. Names and values are in quotes. */
interface Replacement {
  member: Buffer;
  own: Buffer;
  /** The upstream's value; undefined until an event contains it. */
  upstream?: Buffer;
}

/** Names a mirrored stream. Costs two searches per event, and a copy of each event that has a name. */
export class StreamNames {
  readonly #id: Replacement | undefined;
  readonly #model: Replacement | undefined;

  constructor(dialect: DialectName, { id, model }: Partial<AnswerNames>) {
    this.#id = id === undefined ? undefined : { member: QUOTED[dialect].id, own: quoted(id) };
    this.#model = model === undefined ? undefined : { member: QUOTED[dialect].model, own: quoted(model) };
  }

  /** The bytes of an event with our names; `events` are those that were decoded from the bytes. */
  replace(bytes: Buffer, events: readonly ChatEvent[]): Buffer {
    const start = events.find((event) => event.type === 'start');
    const out = this.#id ? renamed(bytes, this.#id, start?.id) : bytes;
    return this.#model ? renamed(out, this.#model, start?.model) : out;
  }
}

/** The bytes with our value of a member. `started` is the upstream's value if the event begins the answer. */
function renamed(bytes: Buffer, replacement: Replacement, started: string | undefined): Buffer {
  if (started) replacement.upstream = quoted(started);
  return replaced(bytes, replacement);
}

function quoted(text: string): Buffer {
  return ownBytes(JSON.stringify(text));
}

function replaced(bytes: Buffer, { member, own, upstream }: Replacement): Buffer {
  if (!upstream || upstream.equals(own)) return bytes;
  const at = positionOf(bytes, upstream, member);
  if (at < 0) return bytes;
  return Buffer.concat([bytes.subarray(0, at), own, bytes.subarray(at + upstream.length)]);
}

/** Position of the first value of the member. Quotes within texts are escaped, so they never match. */
function positionOf(bytes: Buffer, value: Buffer, member: Buffer): number {
  let at = bytes.indexOf(value);
  while (at >= 0 && !isValueOf(bytes, at, [member])) at = bytes.indexOf(value, at + 1);
  return at;
}
