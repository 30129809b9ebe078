/**
 * The evaluation of Personal Intelligence, which `npm run memory` starts: dialogues of several weeks are
 * played against a control plane and read by the deterministic extractor, or by a real model (MEMORY_URL).
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { budgetOf, tokensOf } from '../../control-plane/intelligence/injection/block.rules.ts';
import { PERSONAL_KINDS } from '../../control-plane/intelligence/switch.entity.ts';
import { startTestApp } from '../control/app.ts';
import { readDialogues } from './dialogues.ts';
import type { Dialogue } from './dialogues.ts';
import { extract } from './extractor.ts';
import { startFakeDataPlane } from './fake-data-plane.ts';
import { askLiveModel, liveModel } from './live-model.ts';
import { hasLocomo, readLocomo } from './locomo.ts';
import { chooseModel } from './learner.ts';
import { readAsMediocre } from './mediocre.ts';
import { newLearner, playDialogue, playSession } from './play.ts';
import type { Played, Stage } from './play.ts';
import { share, writeReport } from './report.ts';
import type { Report } from './report.ts';
import { measureRecall, measureTime } from './retrieval.ts';
import { scoreOf } from './score.ts';

const PRECISION_MIN = 0.95;
const RECALL_MIN = 0.85;
/** With the corrected evidence of LoCoMo. */
const RECALL_OF_CHATS_MIN = 0.64;
const DIALOGUES_MIN = 60;
const REPEATED_CHATS = 100;
const REPEATED_TURNS = 10;
const MINUTES = 60_000;
const LIVE = liveModel(process.env);
const BLOCK = /<user_context\b[^]*?<\/user_context>/;
/** Context of the model "budget" in tokens. */
const CONTEXT_TOKENS = 1_000_000;

let stage: Stage;
const dialogues = { en: readDialogues('en'), zh: readDialogues('zh') };
const report: Partial<Report> = {
  reader: LIVE ? LIVE.model : 'a deterministic model that knows the lines and falls for every trap',
};

beforeAll(async () => {
  const dataPlane = await startFakeDataPlane();
  const read = (dialogue: Dialogue, session: number): void => {
    dataPlane.read = (input, request) =>
      LIVE ? askLiveModel(LIVE, request) : readAsMediocre(dialogue, session, input);
  };
  stage = { dataPlane, read, test: await startTestApp({ env: { DATA_URL: dataPlane.url } }) };
  await chooseModel(stage.test, { modelName: 'budget', monthlyBudget: '1000' });
});

afterAll(async () => {
  writeReport(report);
  await stage.test.close();
  await stage.dataPlane.close();
});

const play = async (all: readonly Dialogue[]): Promise<Played[]> => {
  const played: Played[] = [];
  for (const dialogue of all) played.push(await playDialogue(stage, dialogue));
  return played;
};

it(
  'learns what users say about themselves, in English and Chinese, and nothing else',
  async () => {
    const { en, zh } = dialogues;
    const scores = { en: scoreOf(await play(en)), zh: scoreOf(await play(zh)) };
    report.scores = scores;
    expect(en.length + zh.length).toBeGreaterThanOrEqual(DIALOGUES_MIN);
    for (const score of Object.values(scores)) {
      expect(score.withoutEvidence).toBe(0);
      if (LIVE) continue;
      expect(score.sensitive).toBe(0);
      for (const kind of PERSONAL_KINDS) {
        const { learned, right, expected, found } = score.kinds[kind];
        expect(share(right, learned), `precision of ${kind}`).toBeGreaterThanOrEqual(PRECISION_MIN);
        expect(share(found, expected), `recall of ${kind}`).toBeGreaterThanOrEqual(RECALL_MIN);
      }
    }
  },
  LIVE ? 120 * MINUTES : 5 * MINUTES,
);

it('keeps every block within its budget', () => {
  const blocks = stage.dataPlane.seen.flatMap(({ source, messages }) => {
    const system = messages.find(({ role }) => role === 'system')?.content ?? '';
    return source === 'PLAYGROUND' ? (BLOCK.exec(system)?.slice(0, 1) ?? []) : [];
  });
  const sizes = blocks.map(tokensOf);
  const above = sizes.filter((size) => size > budgetOf(CONTEXT_TOKENS)).length;
  report.budget = { blocks: blocks.length, above, largest: Math.max(...sizes) };
  expect(blocks.length).toBeGreaterThan(0);
  expect(above).toBe(0);
});

it(
  'learns only the kind whose switch is on',
  async () => {
    const all = [...dialogues.en, ...dialogues.zh];
    let leaked = 0;
    for (const [at, dialogue] of all.entries()) {
      const kind = PERSONAL_KINDS[at % PERSONAL_KINDS.length] ?? 'WORKING_ON';
      const learner = await newLearner(stage.test, [kind]);
      stage.read(dialogue, 1);
      if (dialogue.sessions[0]) await playSession(stage, learner, dialogue.sessions[0]);
      leaked += (await learner.items()).filter((item) => item.kind !== kind).length;
    }
    report.isolation = { chats: all.length, leaked };
    expect(leaked).toBe(0);
  },
  LIVE ? 60 * MINUTES : 3 * MINUTES,
);

it(
  'learns nothing from a block that is repeated in 1,000 answers and messages',
  async () => {
    if (!LIVE) stage.dataPlane.read = extract;
    const lasting = PERSONAL_KINDS.filter((kind) => kind !== 'CONVERSATION_SUMMARY');
    const learner = await newLearner(stage.test, lasting);
    await learner.tell(
      'I prefer tabs over spaces. Every Friday I write a changelog. I am working on a parser for invoices.',
    );
    const before = (await learner.items()).map(({ id, text }) => `${id} ${text}`).toSorted();
    expect(before).toHaveLength(3);
    for (let chat = 0; chat < REPEATED_CHATS; chat += 1)
      await playSession(stage, learner, { day: 0, turns: Array.from({ length: REPEATED_TURNS }, repeated) });
    const after = (await learner.items()).map(({ id, text }) => `${id} ${text}`).toSorted();
    const items = after.filter((item) => !before.includes(item)).length;
    report.relearned = { turns: REPEATED_CHATS * REPEATED_TURNS, items };
    expect(after).toEqual(before);
  },
  LIVE ? 60 * MINUTES : 5 * MINUTES,
);

it(
  'finds past chats by BM25 over keyed hashes as well as without encryption',
  async () => {
    report.recall = hasLocomo() ? await measureRecall(stage.test, readLocomo()) : null;
    const sentences = [...dialogues.en, ...dialogues.zh].flatMap(({ sessions }) =>
      sessions.flatMap(({ turns }) => turns.map(({ user }) => user)),
    );
    report.time = await measureTime(stage.test, sentences);
    if (report.recall) expect(report.recall.at[3]).toBeGreaterThanOrEqual(RECALL_OF_CHATS_MIN);
  },
  3 * MINUTES,
);

function repeated(_: unknown, at: number): { user: string; assistant: string } {
  const user =
    at % 3 === 2 ? 'You noted this about me:\n{items}\nIs it current?' : `Sort list ${at}, please?`;
  return { user, assistant: 'As I noted: {block} You prefer tabs over spaces and you love verbose logs.' };
}
