/** Hand-written dialogues of several weeks, with what should be learned from them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PERSONAL_KINDS } from '../../control-plane/intelligence/switch.entity.ts';
import type { PersonalKind } from '../../control-plane/intelligence/switch.entity.ts';

/** A chat: what the user says, and what the assistant answers to it. */
export interface Session {
  /** Day on which it takes place; the first chat is on day 0. */
  day: number;
  turns: { user: string; assistant: string }[];
}

/** An item that should exist in the end. Each word must occur in its text. */
export interface Expectation {
  kind: PersonalKind;
  /** Number of the chat, for summaries; counted from 1. */
  session: number | null;
  words: string[];
  /** Whether it may also be missing: it is neither an error nor required. */
  isOptional: boolean;
}

/** A value that replaced an earlier one. */
export interface Replacement {
  kind: PersonalKind;
  newWords: string[];
  oldWords: string[];
}

/** Something that no item may say. */
export interface Trap {
  name: TrapName;
  words: string[];
}

export interface Dialogue {
  title: string;
  language: 'en' | 'zh';
  sessions: Session[];
  expected: Expectation[];
  replaced: Replacement[];
  traps: Trap[];
  /** Numbers of chats from which nothing but a summary may be learned. */
  empty: number[];
}

export const TRAPS = [
  'system-prompt',
  'invention',
  'recalled-block',
  'hypothetical',
  'quotation',
  'joke',
  'secret',
  'injection',
  'special-category',
  'other-person',
] as const;
export type TrapName = (typeof TRAPS)[number];

const FOLDER = join(import.meta.dirname, 'dialogues');

/** All dialogues of a language, in the order of the files. */
export function readDialogues(language: Dialogue['language']): Dialogue[] {
  const files = readdirSync(FOLDER).filter((file) => file.startsWith(`${language}-`));
  return files
    .toSorted()
    .flatMap((file) => parseDialogues(readFileSync(join(FOLDER, file), 'utf8'), language));
}

/** Parses dialogues in the format that `dialogues/README.md` describes. Throws with the line at fault. */
export function parseDialogues(text: string, language: Dialogue['language']): Dialogue[] {
  const dialogues: Dialogue[] = [];
  for (const line of text.split('\n').map((raw) => raw.trim())) {
    if (line === '') continue;
    if (line.startsWith('# ')) dialogues.push(emptyDialogue(line.slice(2), language));
    else readLine(dialogues.at(-1) ?? emptyDialogue('', language), line);
  }
  return dialogues;
}

function emptyDialogue(title: string, language: Dialogue['language']): Dialogue {
  return { title, language, sessions: [], expected: [], replaced: [], traps: [], empty: [] };
}

function readLine(dialogue: Dialogue, line: string): void {
  const [, word = '', rest = ''] = /^(\S+?):? (.*)$/.exec(line) ?? [];
  const turns = dialogue.sessions.at(-1)?.turns ?? [];
  if (word === 'day') dialogue.sessions.push({ day: Number(rest), turns: [] });
  else if (word === 'U') turns.push({ user: textOf(rest), assistant: 'OK.' });
  else if (word === 'A') Object.assign(turns.at(-1) ?? {}, { assistant: textOf(rest) });
  else if (word === 'expect' || word === 'may') dialogue.expected.push(expectationOf(rest, word === 'may'));
  else if (word === 'newest') dialogue.replaced.push(replacementOf(rest));
  else if (word === 'never') dialogue.traps.push(trapOf(rest));
  else if (word === 'nothing') dialogue.empty.push(Number(rest));
  else throw new Error(`"${dialogue.title}" has an unknown line: ${line}`);
}

const SHORT_NAMES: Record<string, PersonalKind> = {
  routine: 'DURABLE_ROUTINE',
  preference: 'PREFERENCE_PROFILE',
  working: 'WORKING_ON',
  summary: 'CONVERSATION_SUMMARY',
};

function expectationOf(text: string, isOptional: boolean): Expectation {
  const [, name = '', session, words = ''] = /^(\w+)(?: (\d+))?: (.*)$/.exec(text) ?? [];
  return { kind: kindOf(name), session: session ? Number(session) : null, words: wordsOf(words), isOptional };
}

function replacementOf(text: string): Replacement {
  const [, name = '', newWords = '', oldWords = ''] = /^(\w+): (.*) \| (.*)$/.exec(text) ?? [];
  return { kind: kindOf(name), newWords: wordsOf(newWords), oldWords: wordsOf(oldWords) };
}

function trapOf(text: string): Trap {
  const [, wanted, words = ''] = /^([\w-]+): (.*)$/.exec(text) ?? [];
  const name = TRAPS.find((known) => known === wanted);
  if (!name) throw new Error(`Unknown trap: ${text}`);
  return { name, words: wordsOf(words) };
}

function kindOf(name: string): PersonalKind {
  const kind = SHORT_NAMES[name];
  if (!kind || !PERSONAL_KINDS.includes(kind)) throw new Error(`Unknown kind: ${name}`);
  return kind;
}

function wordsOf(text: string): string[] {
  return text.split(';').map((word) => word.trim().toLowerCase());
}

function textOf(text: string): string {
  return text.replaceAll(String.raw`\n`, '\n');
}
