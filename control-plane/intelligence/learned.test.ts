/** Notices about learned items: shown once, undone, and never readable without the key of the user. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { codesOf, pick, startTestApp } from '../../test/control/app.ts';
import type { TestApp } from '../../test/control/app.ts';
import { startFakeDataPlane } from '../../test/memory/fake-data-plane.ts';
import type { FakeDataPlane } from '../../test/memory/fake-data-plane.ts';
import { chooseModel, Learner } from '../../test/memory/learner.ts';
import { query, sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import { pruneItems } from './learned.service.ts';

const PYTHON = 'I prefer answers about code in Python.';
const RUST = 'Actually I now prefer answers about code in Rust.';
const LEARNED = `{ viewer { personalIntelligence {
  learned { item { id kind text version } replacedText learnedAt } } } }`;

let dataPlane: FakeDataPlane;
let test: TestApp;
let ann: Learner;
let number = 0;

beforeAll(async () => {
  dataPlane = await startFakeDataPlane();
  test = await startTestApp({ env: { DATA_URL: dataPlane.url } });
  await chooseModel(test);
});

afterAll(async () => {
  await test.close();
  await dataPlane.close();
});

beforeEach(async () => {
  number += 1;
  ann = new Learner(test, await test.user(`ann-learned-${number}@example.com`));
  await ann.turn(['PREFERENCE_PROFILE'], true);
});

interface Learned {
  item: { id: string; kind: string; text: string; version: number };
  replacedText: string | null;
}

const em = () => test.orm.em.fork();
const run = (statement: Statement): Promise<object[]> => query(em(), statement);
const texts = async (): Promise<string[]> => (await ann.items()).map(({ text }) => text);
const learned = async (who = ann): Promise<Learned[]> =>
  pick(await who.browser.send(LEARNED), 'viewer', 'personalIntelligence', 'learned');
const shown = async (): Promise<(string | null)[][]> =>
  (await learned()).map(({ item, replacedText }) => [item.text, replacedText]);
const ids = async (): Promise<string[]> => (await learned()).map(({ item }) => item.id);
const undo = async (list: readonly string[], who = ann): Promise<string[]> =>
  codesOf(await who.change('learnedItemsUndo', 'LearnedItemsUndoInput', { ids: list }), 'learnedItemsUndo');
const see = async (dismiss: boolean, who = ann): Promise<string[]> =>
  codesOf(
    await who.change('learnedItemsSeen', 'LearnedItemsSeenInput', { ids: await ids(), dismiss }),
    'learnedItemsSeen',
  );

describe('a notice', () => {
  it('names what was learned, and the text that a change replaced', async () => {
    await ann.tell(PYTHON);
    expect(await shown()).toEqual([[PYTHON, null]]);
    await see(false);
    await ann.tell(RUST);
    expect(await shown()).toEqual([[RUST, PYTHON]]);
  });

  it('keeps the state that the user saw last, while no page has shown it', async () => {
    await ann.tell(PYTHON);
    await ann.tell(RUST);
    expect(await shown()).toEqual([[RUST, null]]);
  });

  it('is shown for ten minutes after a page has shown it first', async () => {
    await ann.tell(PYTHON);
    expect(await see(false)).toEqual([]);
    await run(sql`update personal_learned set seen_at = seen_at - interval '9 minutes'`);
    await see(false);
    expect(await shown()).toHaveLength(1);
    await run(sql`update personal_learned set seen_at = seen_at - interval '1 minute'`);
    expect(await shown()).toEqual([]);
  });

  it('disappears at once when it is dismissed, but only by its user', async () => {
    await ann.tell(PYTHON);
    const ben = new Learner(test, await test.user(`ben-learned-${number}@example.com`));
    await see(true, ben);
    expect([await shown(), await learned(ben)]).toEqual([[[PYTHON, null]], []]);
    await see(true);
    expect([await shown(), await texts()]).toEqual([[], [PYTHON]]);
  });

  it('disappears when the user edits or deletes its item', async () => {
    await ann.tell(PYTHON);
    const [item] = await ann.items();
    const edit = { id: item?.id, version: item?.version, text: 'Answers in Go' };
    await ann.change('derivedItemUpdate', 'DerivedItemUpdateInput', edit);
    expect(await shown()).toEqual([]);
    await ann.tell('I prefer dark roast coffee.');
    await ann.change('derivedItemDelete', 'DerivedItemDeleteInput', { ids: await ids() });
    expect(await shown()).toEqual([]);
  });

  it('does not exist for a summary that is written again, or for what is only confirmed', async () => {
    await ann.turn(['CONVERSATION_SUMMARY'], true);
    await ann.tell('I prefer tabs in code.', 'How long is a tab?');
    expect(await shown()).toHaveLength(2);
    await see(true);
    await ann.tell('I prefer tabs in code.');
    expect((await learned()).map(({ item }) => item.kind)).toEqual(['CONVERSATION_SUMMARY']);
  });

  it('is stored without plain text, and cannot be read after everything is forgotten', async () => {
    await ann.tell(PYTHON);
    await see(false);
    await ann.tell(RUST);
    const rows = await run(sql`select replaced_sealed as sealed from personal_learned
      where user_id = ${await ann.id()}`);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows.map((row) => String(Object.values(row)[0])))).not.toContain('Python');
    await ann.change('personalForgetEverything', 'ForgetEverythingInput', { confirm: 'FORGET' });
    expect(await run(sql`select 1 from personal_learned where user_id = ${await ann.id()}`)).toEqual([]);
  });
});

describe('undoing', () => {
  it('deletes a new item, which is not learned again', async () => {
    await ann.tell('I prefer dark roast coffee.');
    expect(await undo(await ids())).toEqual([]);
    await ann.tell('I really prefer dark roast coffee.');
    expect([await texts(), await shown()]).toEqual([[], []]);
  });

  it('restores a text that was replaced, and the new text is not learned again', async () => {
    await ann.tell(PYTHON);
    await see(false);
    await ann.tell(RUST);
    expect(await undo(await ids())).toEqual([]);
    expect([await texts(), await shown()]).toEqual([[PYTHON], []]);
    await ann.tell(RUST);
    expect(await texts()).toEqual([PYTHON]);
  });

  it('works while a page still shows the notice, and says when it is too late', async () => {
    await ann.tell(PYTHON);
    const list = await ids();
    await see(false);
    await run(sql`update personal_learned set seen_at = now() - interval '1 hour'`);
    expect(await undo(list)).toEqual([]);
    expect(await undo(list)).toEqual(['NOT_FOUND']);
  });

  it('does not change items of others', async () => {
    await ann.tell(PYTHON);
    const ben = new Learner(test, await test.user(`ben-undo-${number}@example.com`));
    expect(await undo(await ids(), ben)).toEqual(['NOT_FOUND']);
    expect(await texts()).toEqual([PYTHON]);
  });
});

describe('an expired item', () => {
  it('is deleted, and a notice after seven days', async () => {
    await ann.turn(['WORKING_ON'], true);
    await ann.tell('I am building a boat. I prefer tabs.');
    await run(sql`update personal_item set expires_at = now() - interval '1 minute'
      where kind = 'WORKING_ON' and user_id = ${await ann.id()}`);
    await run(sql`update personal_learned set learned_at = now() - interval '8 days'`);
    expect(await shown()).toEqual([]);
    await pruneItems(em());
    const left = await run(sql`select kind from personal_item where user_id = ${await ann.id()}`);
    expect(left).toEqual([{ kind: 'PREFERENCE_PROFILE' }]);
    expect(await run(sql`select 1 from personal_learned`)).toEqual([]);
  });
});
