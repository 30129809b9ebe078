/**
 * A deterministic model that knows the lines of a dialogue, and behaves like a mediocre one. It finds most
 * facts and quotes the user's sentence. It also notes every trap as a fact, cites messages of the assistant,
 * repeats what it knows, and names items and kinds that do not exist.
 */
import { PERSONAL_KINDS } from '../../control-plane/intelligence/switch.entity.ts';
import type { PersonalKind } from '../../control-plane/intelligence/switch.entity.ts';
import type { Dialogue } from './dialogues.ts';
import type { ExtractorInput } from './extractor.ts';

type Message = ExtractorInput['messages'][number];
type Known = ExtractorInput['items'][number];

interface Draft {
  op: string;
  kind: string;
  id?: string;
  text: string;
  evidence: string[];
}

/** One of this many facts is missed, and one of this many is taken from the assistant's answer. */
const MISSED_EVERY = 16;
const MISCITED_EVERY = 24;
const ITEM_LENGTH = 200;
const SUMMARY_LENGTH = 500;
const SENTENCES = /[^.!?\n。！？；;]+[.!?\n。！？；;]*/g;
const LASTING = PERSONAL_KINDS.filter((kind) => kind !== 'CONVERSATION_SUMMARY');

/** The answer for a chat of the dialogue, as JSON. `session` is its number, counted from 1. */
export function readAsMediocre(dialogue: Dialogue, session: number, input: ExtractorInput): string {
  const operations = [
    ...factsOf(dialogue, input),
    ...trapsOf(dialogue, input),
    ...summaryOf(dialogue, session, input),
    ...nonsense(input),
  ];
  return JSON.stringify({ operations });
}

function factsOf(dialogue: Dialogue, input: ExtractorInput): Draft[] {
  const lines = [
    ...dialogue.expected.filter(({ kind }) => kind !== 'CONVERSATION_SUMMARY'),
    ...dialogue.replaced.flatMap(({ kind, newWords, oldWords }) => [
      { kind, words: newWords },
      { kind, words: oldWords },
    ]),
  ];
  return lines.flatMap(({ kind, words }) => {
    const found = find(
      input.messages.filter(({ role }) => role === 'USER'),
      words,
    );
    const number = hash(`${dialogue.title} ${kind} ${words.join(' ')}`);
    if (!found || number % MISSED_EVERY === 0) return [];
    const cited = number % MISCITED_EVERY === 1 ? answerTo(found.message, input) : found.message;
    return [factOf({ kind, words, text: found.text, evidence: [cited.id] }, dialogue, input.items)];
  });
}

/** Confirms an item that says the same, changes one that the dialogue replaces, or adds one. */
function factOf(
  { words, ...draft }: Omit<Draft, 'op'> & { kind: PersonalKind; words: string[] },
  { replaced }: Dialogue,
  items: readonly Known[],
): Draft {
  const known = items.filter(({ kind }) => kind === draft.kind);
  const same = known.find(({ text }) => holdsAll(text, words));
  if (same) return { ...draft, op: 'REINFORCE', id: same.id };
  const replacement = replaced.find(
    ({ kind, newWords }) => kind === draft.kind && holdsAll(draft.text, newWords),
  );
  const old = replacement && known.find(({ text }) => holdsAll(text, replacement.oldWords));
  return old ? { ...draft, op: 'UPDATE', id: old.id } : { ...draft, op: 'ADD' };
}

/** Falls for every trap, of the user's and of the assistant's words. */
function trapsOf({ traps, title }: Dialogue, input: ExtractorInput): Draft[] {
  return traps.flatMap(({ words }) => {
    const found = find(input.messages, words);
    if (!found) return [];
    const kind = LASTING[hash(`${title} ${words.join(' ')}`) % LASTING.length] ?? 'PREFERENCE_PROFILE';
    const { role, id } = found.message;
    const evidence = [role === 'USER' ? id : questionOf(found.message, input).id];
    return [{ op: 'ADD', kind, text: found.text, evidence }];
  });
}

/** The sentences of the user with the words of the lines about this chat, or the first and the last one. */
function summaryOf(dialogue: Dialogue, session: number, { messages, items }: ExtractorInput): Draft[] {
  const own = messages.filter(({ role }) => role === 'USER');
  const sentences = own.flatMap(({ text }) => sentencesOf(text));
  const lines = dialogue.expected.filter((line) => line.session === session);
  const telling = lines.flatMap(({ words }) => find(own, words)?.text ?? []);
  const parts = telling.length > 0 ? telling : [sentences[0] ?? '', sentences.at(-1) ?? ''];
  const text = [...new Set(parts)].join(' ').slice(0, SUMMARY_LENGTH).trim();
  if (text === '') return [];
  const known = items.find(({ kind }) => kind === 'CONVERSATION_SUMMARY');
  const draft = { kind: 'CONVERSATION_SUMMARY', text, evidence: own.map(({ id }) => id).slice(-20) };
  return [known ? { ...draft, op: 'UPDATE', id: known.id } : { ...draft, op: 'ADD' }];
}

/** Operations that no model should send. */
function nonsense({ messages, items }: ExtractorInput): Draft[] {
  const text = messages[0]?.text.slice(0, ITEM_LENGTH) ?? '';
  const [first] = items;
  const evidence = messages.slice(0, 1).map(({ id }) => id);
  return [
    { op: 'ADD', kind: 'SHOE_SIZE', text, evidence },
    { op: 'ADD', kind: 'PREFERENCE_PROFILE', text, evidence: ['m999'] },
    { op: 'ADD', kind: 'PREFERENCE_PROFILE', text, evidence: [] },
    { op: 'UPDATE', kind: 'WORKING_ON', id: 'i999', text, evidence },
    // Repeats an item word for word, as if the chat had said it again.
    ...(first ? [{ op: 'ADD', kind: first.kind, text: first.text, evidence }] : []),
  ];
}

/** The sentence that holds all words, or else the part of a message from the first word to the last one. */
function find(
  messages: readonly Message[],
  words: readonly string[],
): { message: Message; text: string } | undefined {
  for (const message of messages) {
    const sentence = sentencesOf(message.text).find((text) => holdsAll(text, words));
    if (sentence) return { message, text: sentence.slice(0, ITEM_LENGTH) };
  }
  const message = messages.find(({ text }) => holdsAll(text, words));
  if (!message) return undefined;
  const places = words.map((word) => message.text.toLowerCase().indexOf(word));
  const start = Math.max(0, Math.min(...places) - 20);
  return { message, text: message.text.slice(start, start + ITEM_LENGTH) };
}

function sentencesOf(text: string): string[] {
  return (text.match(SENTENCES) ?? []).map((sentence) => sentence.trim()).filter(Boolean);
}

function answerTo(message: Message, { messages }: ExtractorInput): Message {
  return messages[messages.indexOf(message) + 1] ?? message;
}

function questionOf(message: Message, { messages }: ExtractorInput): Message {
  return messages[messages.indexOf(message) - 1] ?? message;
}

function holdsAll(text: string, words: readonly string[]): boolean {
  const lower = text.normalize('NFKC').toLowerCase();
  return words.every((word) => lower.includes(word));
}

/** A number from 0 to 2^32 - 1 that is always the same for a text (FNV-1a). */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value;
}
