/** Measures how well and how fast past chats are found for a message. */
import type { TestApp } from '../control/app.ts';
import { contentKeysOf } from '../../control-plane/intelligence/open-keys.ts';
import { injectionFor } from '../../control-plane/intelligence/injection/injection.service.ts';
import { rankSummaries } from '../../control-plane/intelligence/injection/ranking.ts';
import { insertItem } from '../../control-plane/intelligence/item.rows.ts';
import type { LocomoDialogue } from './locomo.ts';
import { newLearner } from './play.ts';

/** Chats of the user whose retrieval is timed, and how many messages are timed after a warm-up. */
const CHATS = 1_000;
const TIMED = 500;
const WARM_UP = 50;

/** Share of a question's chats among the first 1, 3 and 5 that were found, averaged over the questions. */
export interface Recall {
  questions: number;
  at: Record<1 | 3 | 5, number>;
}

/** Asks all questions of LoCoMo. The summaries of a dialogue belong to one user. */
export async function measureRecall(test: TestApp, dialogues: readonly LocomoDialogue[]): Promise<Recall> {
  const found: Record<1 | 3 | 5, number> = { 1: 0, 3: 0, 5: 0 };
  let questions = 0;
  for (const { summaries, questions: asked } of dialogues) {
    const { userId, ids } = await storeSummaries(test, [...summaries.values()]);
    const sessions = [...summaries.keys()];
    const key = await contentKeysOf(test).of(userId);
    for (const { text, sessions: wanted } of asked) {
      const search = { userId, text, exceptChat: null, limit: 5 };
      const ranked = await rankSummaries(test.orm.em.fork(), key, search);
      const order = ranked.map((id) => sessions[ids.indexOf(id)] ?? 0);
      questions += 1;
      for (const limit of [1, 3, 5] as const)
        found[limit] += order.slice(0, limit).filter((session) => wanted.has(session)).length / wanted.size;
    }
  }
  const share = (limit: 1 | 3 | 5): number => found[limit] / questions;
  return { questions, at: { 1: share(1), 3: share(3), 5: share(5) } };
}

/** Median and 95th percentile, in ms, of the time to choose what is sent for a user with 1,000 chats. */
export async function measureTime(
  test: TestApp,
  texts: readonly string[],
): Promise<{ chats: number; p50: number; p95: number }> {
  const partsOf = (at: number): (string | undefined)[] =>
    [0, 1, 2].map((part) => texts[(at * 7 + part * (13 + at)) % texts.length]);
  const textOf = (at: number): string => `${partsOf(at).join(' ').slice(0, 600)} ${at}`;
  const summaries = Array.from({ length: CHATS }, (_, at) => textOf(at));
  const { userId } = await storeSummaries(test, summaries);
  const times: number[] = [];
  for (let at = 0; at < WARM_UP + TIMED; at += 1) {
    const began = performance.now();
    await injectionFor(
      { em: test.orm.em.fork(), keys: contentKeysOf(test) },
      {
        userId,
        model: { id: 'none', contextTokens: 200_000 },
        draft: texts[(at * 31) % texts.length] ?? '',
        conversationId: null,
        isFirst: true,
      },
    );
    if (at >= WARM_UP) times.push(performance.now() - began);
  }
  times.sort((left, right) => left - right);
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? 0;
  return { chats: CHATS, p50: at(0.5), p95: at(0.95) };
}

/** A new user with these summaries of chats, and the ids of the summaries. */
async function storeSummaries(
  test: TestApp,
  texts: readonly string[],
): Promise<{ userId: string; ids: string[] }> {
  const userId = await (await newLearner(test, ['CONVERSATION_SUMMARY'])).id();
  const key = await contentKeysOf(test).of(userId);
  const ids: string[] = [];
  for (const text of texts) {
    const draft = { userId, kind: 'CONVERSATION_SUMMARY', text, origin: 'DERIVED' } as const;
    ids.push((await insertItem(test.orm.em.fork(), key, draft)) ?? '');
  }
  return { userId, ids };
}
