/** Compares the items learned from dialogues with the expected items. */
import { isSensitive } from '../../control-plane/intelligence/deriving/sensitive.rules.ts';
import { PERSONAL_KINDS } from '../../control-plane/intelligence/switch.entity.ts';
import type { PersonalKind } from '../../control-plane/intelligence/switch.entity.ts';
import type { Dialogue, Expectation, TrapName } from './dialogues.ts';
import type { Item } from './learner.ts';
import type { Played } from './play.ts';

/** Counts for one kind. */
export interface KindScore {
  dialogues: number;
  learned: number;
  right: number;
  expected: number;
  found: number;
  replaced: number;
  newest: number;
}

/** Something that was learned and should not have been, or the reverse. */
export interface Mistake {
  dialogue: string;
  kind: PersonalKind;
  fault: 'WRONG' | 'MISSING' | 'OLD' | TrapName;
  text: string;
}

/** The result of all dialogues of a language. */
export interface Score {
  kinds: Record<PersonalKind, KindScore>;
  traps: Record<string, { set: number; sprung: number }>;
  /** Chats from which nothing lasting may be learned, and how many of them taught something. */
  empty: number;
  emptyBroken: number;
  withoutEvidence: number;
  sensitive: number;
  mistakes: Mistake[];
}

/** Scores dialogues that were played with all switches on. */
export function scoreOf(all: readonly Played[]): Score {
  const score: Score = {
    kinds: Object.fromEntries(PERSONAL_KINDS.map((kind) => [kind, emptyKind()])) as Score['kinds'],
    traps: {},
    empty: 0,
    emptyBroken: 0,
    withoutEvidence: 0,
    sensitive: 0,
    mistakes: [],
  };
  for (const played of all) {
    for (const kind of PERSONAL_KINDS) scoreKind(score, played, kind);
    scoreTraps(score, played);
    scoreEmpty(score, played);
    score.withoutEvidence += played.withoutEvidence;
    score.sensitive += played.items.filter(({ text }) => isSensitive(text)).length;
  }
  return score;
}

function emptyKind(): KindScore {
  return { dialogues: 0, learned: 0, right: 0, expected: 0, found: 0, replaced: 0, newest: 0 };
}

function scoreKind(score: Score, played: Played, kind: PersonalKind): void {
  const counts = score.kinds[kind];
  const { dialogue } = played;
  const items = played.items.filter((item) => item.kind === kind);
  const note = (fault: Mistake['fault'], text: string): void =>
    void score.mistakes.push({ dialogue: dialogue.title, kind, fault, text });
  counts.dialogues += 1;
  for (const item of items) {
    counts.learned += 1;
    if (isRight(item, played)) counts.right += 1;
    else note(trapOf(item, dialogue) ?? 'WRONG', item.text);
  }
  for (const wanted of dialogue.expected.filter((each) => each.kind === kind && !each.isOptional)) {
    counts.expected += 1;
    if (items.some((item) => meets(item, wanted, played))) counts.found += 1;
    else note('MISSING', wanted.words.join('; '));
  }
  for (const { newWords, oldWords } of dialogue.replaced.filter((each) => each.kind === kind)) {
    counts.replaced += 1;
    const isNew = items.some(({ text }) => holdsAll(text, newWords));
    const isOld = items.some(({ text }) => holdsAll(text, oldWords) && !holdsAll(text, newWords));
    if (isNew && !isOld) counts.newest += 1;
    else note('OLD', `${newWords.join('; ')} | ${oldWords.join('; ')}`);
  }
}

/** Whether a line of the dialogue allows the item. A summary without a line only has to avoid the traps. */
function isRight(item: Item, played: Played): boolean {
  const { dialogue, chats } = played;
  if (trapOf(item, dialogue)) return false;
  const own = dialogue.expected.filter(({ kind }) => kind === item.kind);
  if (item.kind !== 'CONVERSATION_SUMMARY')
    return (
      own.some((wanted) => meets(item, wanted, played)) ||
      dialogue.replaced.some(({ kind, newWords }) => kind === item.kind && holdsAll(item.text, newWords))
    );
  const chat = chats.findIndex((id) => item.sources.some(({ conversationId }) => conversationId === id)) + 1;
  const lines = own.filter(({ session }) => session === chat);
  return chat > 0 && (lines.length === 0 || lines.some((wanted) => meets(item, wanted, played)));
}

function meets(item: Item, { session, words }: Expectation, { chats }: Played): boolean {
  if (!holdsAll(item.text, words)) return false;
  const chat = session === null ? undefined : chats[session - 1];
  return chat === undefined || item.sources.some(({ conversationId }) => conversationId === chat);
}

function scoreTraps(score: Score, { dialogue, items }: Played): void {
  for (const { name, words } of dialogue.traps) {
    const counts = (score.traps[name] ??= { set: 0, sprung: 0 });
    counts.set += 1;
    if (items.some(({ text }) => holdsAll(text, words))) counts.sprung += 1;
  }
}

function scoreEmpty(score: Score, { dialogue, items, chats }: Played): void {
  for (const number of dialogue.empty) {
    score.empty += 1;
    const chat = chats[number - 1];
    const isBroken = items.some(
      ({ kind, sources }) =>
        kind !== 'CONVERSATION_SUMMARY' && sources.some(({ conversationId }) => conversationId === chat),
    );
    if (isBroken) score.emptyBroken += 1;
  }
}

function trapOf({ text }: Item, { traps }: Dialogue): TrapName | undefined {
  return traps.find(({ words }) => holdsAll(text, words))?.name;
}

function holdsAll(text: string, words: readonly string[]): boolean {
  const lower = text.normalize('NFKC').toLowerCase();
  return words.every((word) => lower.includes(word));
}
