/**
 * Names of answers: ids of the gateway's own, and the catalog's name of the model. The upstream's name would
 * tell customers the operator's supplier, and clients compare the name with the one that they asked for.
 */
import { randomUUID } from 'node:crypto';
import type { DialectName } from '@gateway/shared/catalog';
import type { ChatEvent } from '../dialects/canonical.ts';
import { parseObject } from '../dialects/fields.ts';
import { replaceMembers, scanMembers } from './json-members.ts';

/** The member of a format's answers that names the model. */
const MODEL_MEMBERS: Record<DialectName, string> = {
  'openai-chat': 'model',
  'openai-responses': 'model',
  'anthropic-messages': 'model',
  'google-generate': 'modelVersion',
};

/** A unique id for an answer, in the client format's shape. */
export function newAnswerId(prefix: string): string {
  return prefix + randomUUID().replaceAll('-', '');
}

/** The events with this id and model in place of the upstream's. */
export function named(event: ChatEvent, names: { id: string; model: string }): ChatEvent {
  return event.type === 'start' ? { ...event, ...names } : event;
}

/** A mirrored whole answer with the catalog's name of the model; every other byte stays. */
export function withModelName(bytes: Buffer, name: string, dialect: DialectName = 'openai-chat'): Buffer {
  const member = MODEL_MEMBERS[dialect];
  try {
    const { members } = scanMembers(bytes);
    const found = members.find((one) => one.name === member);
    if (!found) return bytes;
    return replaceMembers(bytes, members, { edits: new Map([[member, JSON.stringify(name)]]) });
  } catch {
    // The scanner reads requests strictly: it refuses depths and names that an upstream may send.
    const value = parseObject(bytes.toString('utf8'));
    if (value?.[member] === undefined) return bytes;
    return Buffer.from(JSON.stringify({ ...value, [member]: name }));
  }
}

const QUOTE = 0x22;
const COLON = 0x3a;
const SPACE = 0x20;

/** Names the model in a mirrored stream. Costs a search per event, and a copy of each event that names it. */
export class StreamNames {
  readonly #member: Buffer;
  readonly #name: Buffer;
  /** The upstream's name in quotes, once an event has told it. */
  #upstream: Buffer | undefined;

  constructor(dialect: DialectName, name: string) {
    this.#member = Buffer.from(JSON.stringify(MODEL_MEMBERS[dialect]));
    this.#name = Buffer.from(JSON.stringify(name));
  }

  /** The bytes of an event with the catalog's name; `events` are those that were decoded from the bytes. */
  replace(bytes: Buffer, events: readonly ChatEvent[]): Buffer {
    const start = events.find((event) => event.type === 'start');
    if (start?.model) this.#upstream = Buffer.from(JSON.stringify(start.model));
    if (!this.#upstream || this.#upstream.equals(this.#name)) return bytes;
    const at = this.#find(bytes, this.#upstream);
    if (at < 0) return bytes;
    return Buffer.concat([bytes.subarray(0, at), this.#name, bytes.subarray(at + this.#upstream.length)]);
  }

  /** Position of the first value of the member. Quotes within texts are escaped, so they never match. */
  #find(bytes: Buffer, value: Buffer): number {
    let at = bytes.indexOf(value);
    while (at >= 0 && !this.#isNamed(bytes, at)) at = bytes.indexOf(value, at + 1);
    return at;
  }

  #isNamed(bytes: Buffer, at: number): boolean {
    const colon = beforeSpace(bytes, at);
    if (bytes[colon - 1] !== COLON) return false;
    const end = beforeSpace(bytes, colon - 1);
    const start = end - this.#member.length;
    return bytes[end - 1] === QUOTE && start >= 0 && bytes.subarray(start, end).equals(this.#member);
  }
}

/** The position after the last byte before `at` that is no white space. */
function beforeSpace(bytes: Buffer, at: number): number {
  let end = at;
  while (end > 0 && (bytes[end - 1] ?? 0) <= SPACE) end -= 1;
  return end;
}
