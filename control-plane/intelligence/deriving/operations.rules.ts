/** Parses the operations of a model, and accepts those that the user's words support. */
import type { PersonalKind } from '../switch.entity.ts';
import { PERSONAL_KINDS } from '../switch.entity.ts';
import { shareFound, wordsOf } from '../words.rules.ts';
import { anyPart, anyWord } from './patterns.ts';
import { isSensitive } from './sensitive.rules.ts';
import { meantSentences, spokenText } from './spoken.rules.ts';

/** A message as the model sees it. `name` is its name in the request, e.g. m3. */
export interface SeenMessage {
  id: string;
  name: string;
  role: 'USER' | 'ASSISTANT';
  content: string;
}

/** An item that exists already, as the model sees it. */
export interface KnownItem {
  id: string;
  name: string;
  kind: PersonalKind;
  text: string;
  /** Whether the user wrote or edited it. Deriving does not change it. */
  isOwn: boolean;
}

/** An accepted operation. */
export type Operation =
  | { op: 'ADD'; kind: PersonalKind; text: string; evidence: string[] }
  | { op: 'UPDATE'; id: string; kind: PersonalKind; text: string; evidence: string[] }
  | { op: 'REINFORCE'; id: string; kind: PersonalKind; evidence: string[] }
  | { op: 'EXPIRE'; id: string; kind: PersonalKind; evidence: string[] };

/** Why an operation was not accepted. */
export type Refusal =
  | 'MALFORMED'
  | 'KIND_OFF'
  | 'NO_EVIDENCE'
  | 'NOT_SAID'
  | 'SENSITIVE'
  | 'INSTRUCTION'
  | 'UNKNOWN_ITEM'
  | 'OWN_ITEM'
  | 'TOO_MANY';

/** Allowed kinds, messages and items: the checks of operations use them. */
export interface Reading {
  kinds: ReadonlySet<PersonalKind>;
  messages: readonly SeenMessage[];
  items: readonly KnownItem[];
}

/** With the words that the user said and meant, by message: each is searched once for all operations. */
type Checks = Reading & { said: Map<string, ReadonlySet<string>> };

/** Accepted operations, and how many were refused for which reason. */
export interface Accepted {
  operations: Operation[];
  refused: Partial<Record<Refusal, number>>;
}

/** Operations of one answer that are read. */
const OPERATIONS_MAX = 40;
/** A longer answer is not read. */
export const ANSWER_CHARACTERS_MAX = 200_000;
const EVIDENCE_MAX = 20;
/** Maximum length of a text in characters, by kind. */
const TEXT_LENGTH_MAX: Record<PersonalKind, number> = {
  DURABLE_ROUTINE: 200,
  PREFERENCE_PROFILE: 200,
  WORKING_ON: 200,
  CONVERSATION_SUMMARY: 600,
};
/** Share of an item's words that must be in what the user said. Summaries use more words of their own. */
const SAID_MIN: Record<PersonalKind, number> = {
  DURABLE_ROUTINE: 0.6,
  PREFERENCE_PROFILE: 0.6,
  WORKING_ON: 0.5,
  CONVERSATION_SUMMARY: 0.4,
};
/** Texts that address a model instead of describing the user. */
const INSTRUCTIONS = [
  /\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:prior|previous|above|rule|instruction|prompt)/i,
  anyWord('you must, you are, you should, you will, system prompt, jailbreak, developer mode'),
  /<\/?\w+[^>]*>/,
  /忽略.{0,10}(?:指令|规则|提示|以上|之前)/,
  anyPart('你必须,你现在是,你是一,系统提示'),
];

/** The operations in the answer of a model; undefined if it holds no list of operations. */
export function parseOperations(answer: string): unknown[] | undefined {
  const text = answer.slice(0, ANSWER_CHARACTERS_MAX);
  try {
    const parsed: unknown = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
    const list = isObject(parsed) ? parsed['operations'] : undefined;
    return Array.isArray(list) ? list : undefined;
  } catch {
    return undefined;
  }
}

/** Checks the operations one by one. */
export function acceptOperations(list: readonly unknown[], reading: Reading): Accepted {
  const accepted: Accepted = { operations: [], refused: {} };
  const refuse = (reason: Refusal, count = 1): void => {
    accepted.refused[reason] = (accepted.refused[reason] ?? 0) + count;
  };
  const said = new Map<string, ReadonlySet<string>>();
  for (const raw of list.slice(0, OPERATIONS_MAX)) {
    const checked = check(raw, { ...reading, said });
    if (typeof checked === 'string') refuse(checked);
    else if (checked) accepted.operations.push(checked);
  }
  if (list.length > OPERATIONS_MAX) refuse('TOO_MANY', list.length - OPERATIONS_MAX);
  return accepted;
}

/** The operation, or why it is refused; undefined for NOOP. */
function check(raw: unknown, reading: Checks): Operation | Refusal | undefined {
  if (!isObject(raw)) return 'MALFORMED';
  const { op } = raw;
  if (op === 'NOOP') return undefined;
  if (op === 'ADD') return checkAddition(raw, reading);
  if (op !== 'UPDATE' && op !== 'REINFORCE' && op !== 'EXPIRE') return 'MALFORMED';
  const item = reading.items.find(({ name }) => name === raw['id']);
  if (!item) return 'UNKNOWN_ITEM';
  if (item.isOwn && op !== 'REINFORCE') return 'OWN_ITEM';
  const added = checkAddition(
    { ...raw, kind: item.kind, text: op === 'UPDATE' ? raw['text'] : item.text },
    reading,
  );
  // Only what is stated anew must be in the user's words.
  if (typeof added === 'string' && !(op !== 'UPDATE' && added === 'NOT_SAID')) return added;
  const { id, kind } = item;
  if (op === 'UPDATE' && typeof added !== 'string') return { ...added, op, id };
  const evidence = evidenceOf(raw, reading).map((message) => message.id);
  return op === 'UPDATE' ? 'MALFORMED' : { op, id, kind, evidence };
}

function checkAddition(raw: Record<string, unknown>, reading: Checks): (Operation & { op: 'ADD' }) | Refusal {
  const kind = PERSONAL_KINDS.find((known) => known === raw['kind']);
  if (!kind || typeof raw['text'] !== 'string') return 'MALFORMED';
  if (!reading.kinds.has(kind)) return 'KIND_OFF';
  const text = raw['text'].normalize('NFKC').replace(/\s+/g, ' ').trim();
  if (text === '' || text.length > TEXT_LENGTH_MAX[kind] || text.includes('\0')) return 'MALFORMED';
  const evidence = evidenceOf(raw, reading);
  if (evidence.length === 0) return 'NO_EVIDENCE';
  if (isSensitive(text)) return 'SENSITIVE';
  if (INSTRUCTIONS.some((pattern) => pattern.test(text))) return 'INSTRUCTION';
  const said = evidence.map((message) => wordsSaid(message, reading));
  if (shareFound(text, said) < SAID_MIN[kind]) return 'NOT_SAID';
  return { op: 'ADD', kind, text, evidence: evidence.map(({ id }) => id) };
}

function wordsSaid({ id, content }: SeenMessage, { said }: Checks): ReadonlySet<string> {
  const known = said.get(id) ?? new Set(wordsOf(meantSentences(spokenText(content)).join('\n')));
  said.set(id, known);
  return known;
}

/** The messages that the operation names, if all of them exist and the user wrote them; else none. */
function evidenceOf(raw: Record<string, unknown>, { messages }: Reading): SeenMessage[] {
  const names = raw['evidence'];
  if (!Array.isArray(names) || names.length > EVIDENCE_MAX) return [];
  const found = [...new Set(names)].map((name) => messages.find((message) => message.name === name));
  return found.every((message) => message?.role === 'USER')
    ? found.filter((message) => message !== undefined)
    : [];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
