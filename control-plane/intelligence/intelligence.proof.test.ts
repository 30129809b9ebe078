/** Personal Intelligence from a chat to the next one: learned, sent, corrected, forgotten, and off. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { codesOf, pick, startTestApp } from '../../test/control/app.ts';
import type { TestApp } from '../../test/control/app.ts';
import { startFakeDataPlane } from '../../test/memory/fake-data-plane.ts';
import type { FakeDataPlane } from '../../test/memory/fake-data-plane.ts';
import { extract } from '../../test/memory/extractor.ts';
import { chooseModel, derivingParts, Learner, readChats } from '../../test/memory/learner.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import { deriveItems } from './deriving/derive.ts';
import { claimJob, postponeJob } from './deriving/queue.ts';
import { insertItem } from './item.rows.ts';
import { lockItems } from './item.service.ts';
import { contentKeysOf } from './open-keys.ts';
import { personalSettings } from './personal.settings.ts';
import { PERSONAL_KINDS } from './switch.entity.ts';

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
  ann = new Learner(test, await test.user(`ann-${number}@example.com`));
  dataPlane.seen = [];
  dataPlane.read = extract;
  dataPlane.reply = () => 'Noted.';
});

const em = () => test.orm.em.fork();
const locksWaitedFor = async (): Promise<number> =>
  (await query(em(), sql`select 1 from pg_locks where locktype = 'advisory' and not granted`)).length;
const texts = async (): Promise<string[]> => (await ann.items()).map(({ text }) => text);
const jobs = (): Promise<{ reason: string | null; tries: number; quarantined: boolean }[]> =>
  query(em(), sql`select reason, tries, quarantined_at is not null as quarantined from personal_job`);
const lastSystem = (): string | undefined =>
  dataPlane.seen
    .filter(({ source }) => source === 'PLAYGROUND')
    .at(-1)
    ?.messages.find(({ role }) => role === 'system')?.content;

describe('what the user says', () => {
  it('is learned with its source, and is sent with the next chat exactly as the reply shows', async () => {
    await ann.turn(['PREFERENCE_PROFILE', 'CONVERSATION_SUMMARY', 'WORKING_ON'], true);
    const first = await ann.tell('I prefer short answers in British English. I am working on a tax report.');
    const items = await ann.items();
    expect(items.map(({ kind }) => kind).sort()).toEqual([
      'CONVERSATION_SUMMARY',
      'PREFERENCE_PROFILE',
      'WORKING_ON',
    ]);
    expect(items[0]?.sources).toMatchObject([{ conversationId: first }]);
    const used = await ann.say(await ann.chat(), 'What was in the tax report?');
    const system = lastSystem();
    expect(used.map(({ kind }) => kind)).toEqual([
      'PREFERENCE_PROFILE',
      'WORKING_ON',
      'CONVERSATION_SUMMARY',
    ]);
    for (const { text } of used) expect(system).toContain(`- ${text}`);
    expect((await ann.items()).map(({ timesUsed }) => timesUsed)).toEqual([1, 1, 1]);
  });

  it('is learned once however often it is said, and a routine is sent after a second chat', async () => {
    await ann.turn(['DURABLE_ROUTINE'], true);
    await ann.tell('Every Monday morning I review pull requests.');
    expect(await ann.say(await ann.chat(), 'Hello')).toEqual([]);
    await ann.tell('Every Monday morning I review pull requests!');
    const [item, ...others] = await ann.items();
    expect([item?.confidence, others]).toEqual(['0.80', []]);
    expect(await ann.say(await ann.chat(), 'Hello')).toHaveLength(1);
  });

  it('replaces earlier learned text, but no item that the user wrote', async () => {
    await ann.turn(['PREFERENCE_PROFILE'], true);
    await ann.tell('I prefer answers about code in Python.');
    await ann.tell('Actually I now prefer answers about code in Rust.');
    expect(await texts()).toEqual(['Actually I now prefer answers about code in Rust.']);
    const [item] = await ann.items();
    const edit = { id: item?.id, version: item?.version, text: 'Code in Rust and answers in German' };
    expect(
      codesOf(await ann.change('derivedItemUpdate', 'DerivedItemUpdateInput', edit), 'derivedItemUpdate'),
    ).toEqual([]);
    await ann.tell('Actually I now prefer answers and code in Rust and German only.');
    expect(await texts()).toContain('Code in Rust and answers in German');
  });

  it('is not learned again after it was deleted', async () => {
    await ann.turn(['PREFERENCE_PROFILE'], true);
    await ann.tell('I prefer dark roast coffee.');
    const [item] = await ann.items();
    await ann.change('derivedItemDelete', 'DerivedItemDeleteInput', { ids: [item?.id] });
    await ann.tell('I really prefer dark roast coffee.');
    expect(await texts()).toEqual([]);
  });

  it('is forgotten with at most 1,000 hashes of deleted items', async () => {
    const made = await ann.change('derivedItemCreate', 'DerivedItemCreateInput', {
      ...{ kind: 'WORKING_ON', text: 'A boat' },
    });
    const userId = await ann.id();
    await query(
      em(),
      sql`insert into personal_forgotten (user_id, text_mac, terms, created_at)
        select ${userId}, decode(lpad(n::text, 8, '0'), 'hex'), '{}', now() - interval '1 day'
        from generate_series(1, 1000) as n`,
    );
    const ids = [pick<string>(made, 'derivedItemCreate', 'item', 'id')];
    await ann.change('derivedItemDelete', 'DerivedItemDeleteInput', { ids, neverRelearn: true });
    const [{ count, newest } = { count: 0, newest: 0 }] = await query<{ count: number; newest: number }>(
      em(),
      sql`select count(*)::integer as count,
          (count(*) filter (where created_at > now() - interval '1 hour'))::integer as newest
        from personal_forgotten where user_id = ${userId}`,
    );
    expect([count, newest]).toEqual([1000, 1]);
  });

  it('ends when its task is done', async () => {
    await ann.turn(['WORKING_ON'], true);
    await ann.tell('I am writing a parser for invoices.');
    expect(await ann.items()).toHaveLength(1);
    await ann.tell('I finished the parser for invoices.');
    expect(await ann.items()).toEqual([]);
  });
});

describe('a switch', () => {
  it('stops learning and sending of its kind while it is off; with all off nothing is stored', async () => {
    const told = 'Every Friday I deploy. I prefer tabs. I am building a boat.';
    await ann.tell(told);
    expect([await jobs(), await ann.items()]).toEqual([[], []]);
    for (const kind of PERSONAL_KINDS) {
      await ann.turn(PERSONAL_KINDS, false, true);
      await ann.turn([kind], true);
      await ann.tell(told);
      expect((await ann.items()).map((item) => item.kind)).toEqual([kind]);
    }
    await ann.turn(['WORKING_ON'], false);
    expect(await ann.items()).toHaveLength(1);
    expect(await ann.say(await ann.chat(), 'Tell me about the boat')).toEqual([]);
    expect(lastSystem()).toBeUndefined();
  });

  it('stops learning from a chat when it is turned off while the chat is read', async () => {
    await ann.turn(['PREFERENCE_PROFILE', 'WORKING_ON'], true);
    const chat = await ann.chat();
    await ann.say(chat, 'I prefer tabs. I am building a boat.');
    let turned: Promise<void> | undefined;
    dataPlane.read = (input) => {
      turned = ann.turn(['PREFERENCE_PROFILE'], false);
      return extract(input);
    };
    const run = readChats(test);
    await run;
    await turned;
    await readChats(test);
    // Turned off before the write: the kind is missing. Turned off after it: it was written in time.
    const kinds = (await ann.items()).map(({ kind }) => kind);
    expect(kinds).toContain('WORKING_ON');
    await ann.turn(['PREFERENCE_PROFILE'], true);
    dataPlane.read = () => JSON.stringify({ operations: [] });
    const later = await ann.chat();
    await ann.say(later, 'I like spaces.');
    await ann.turn(['PREFERENCE_PROFILE'], false);
    dataPlane.read = extract;
    await readChats(test);
    expect((await ann.items()).some(({ text }) => text.includes('spaces'))).toBe(false);
  });

  it('deletes also an item that a job is writing, when it is turned off with its items', async () => {
    await ann.turn(PERSONAL_KINDS, true);
    const userId = await ann.id();
    const key = await contentKeysOf(test).of(userId);
    const draft = { userId, kind: 'WORKING_ON', text: 'Building a boat', origin: 'DERIVED' } as const;
    const { turned } = await inTransaction(em(), async (inner) => {
      await lockItems(inner, userId);
      const turning = ann.turn(['WORKING_ON'], false, true);
      await expect.poll(locksWaitedFor).toBeGreaterThan(0);
      await insertItem(inner, key, draft);
      return { turned: turning };
    });
    await turned;
    expect(await ann.items(['WORKING_ON'])).toEqual([]);
  });

  it('has no effect on a temporary chat or a message without items', async () => {
    await ann.turn(PERSONAL_KINDS, true);
    await ann.tell('I prefer tabs.');
    expect(await ann.say(await ann.chat(true), 'Hello')).toEqual([]);
    expect(await ann.say(await ann.chat(), 'Hello', { useItems: false })).toEqual([]);
    expect(lastSystem()).toBeUndefined();
    expect(await ann.say(await ann.chat(), 'Hello')).toHaveLength(1);
  });
});

describe('a deletion', () => {
  it('of a chat deletes its job and the items that have no other source', async () => {
    await ann.turn(PERSONAL_KINDS, true);
    const first = await ann.tell('I prefer tabs. Every Friday I deploy the site.');
    await ann.tell('Every Friday I deploy the site.');
    const chat = await ann.chat();
    await ann.say(chat, 'I like boats.');
    await ann.browser.send(
      `mutation ($id: ID!) {
        conversationDelete(input: { id: $id }) { deletedItemCount userErrors { code } } }`,
      { id: first },
    );
    const kinds = (await ann.items()).map(({ kind }) => kind).sort();
    expect(kinds).toEqual(['CONVERSATION_SUMMARY', 'DURABLE_ROUTINE']);
    await ann.browser.send(`mutation ($id: ID!) { conversationDelete(input: { id: $id }) { deletedIds } }`, {
      id: chat,
    });
    expect(await jobs()).toEqual([]);
  });

  it('of a chat while it is read leaves nothing behind', async () => {
    await ann.turn(PERSONAL_KINDS, true);
    const chat = await ann.chat();
    await ann.say(chat, 'I prefer tabs.');
    let deleted: Promise<unknown> | undefined;
    dataPlane.read = (input) => {
      deleted = ann.browser.send(
        `mutation ($id: ID!) { conversationDelete(input: { id: $id }) { deletedIds } }`,
        { id: chat },
      );
      return extract(input);
    };
    await readChats(test);
    await deleted;
    expect([await ann.items(), await jobs()]).toEqual([[], []]);
  });

  it('of all data leaves no row, no switch and no key', async () => {
    await ann.turn(PERSONAL_KINDS, true);
    await ann.tell('I prefer tabs. Every Friday I deploy. I am building a boat.');
    const [item] = await ann.items();
    await ann.change('derivedItemDelete', 'DerivedItemDeleteInput', { ids: [item?.id] });
    const id = await ann.id();
    expect(
      codesOf(
        await ann.change('personalForgetEverything', 'ForgetEverythingInput', { confirm: 'no' }),
        'personalForgetEverything',
      ),
    ).toEqual(['INVALID']);
    const done = await ann.change('personalForgetEverything', 'ForgetEverythingInput', { confirm: 'FORGET' });
    expect(codesOf(done, 'personalForgetEverything')).toEqual([]);
    for (const table of [
      'personal_item',
      'personal_forgotten',
      'personal_item_term',
      'personal_job',
      'conversation',
      'content_key',
    ]) {
      const rows = await query(em(), { text: `select 1 from ${table} where user_id = $1`, values: [id] });
      expect([table, rows]).toEqual([table, []]);
    }
    const state = await ann.browser.send(
      '{ viewer { personalIntelligence { storing switches { enabled } } } }',
    );
    expect(pick(state, 'viewer', 'personalIntelligence', 'storing')).toBe(false);
  });
});

describe('the model that reads chats', () => {
  beforeEach(async () => {
    await query(em(), sql`delete from personal_job`);
  });

  it('is called by the gateway itself, with its own source, and only while one is chosen', async () => {
    await ann.turn(PERSONAL_KINDS, true);
    await chooseModel(test, { modelName: '' });
    await ann.tell('I prefer tabs.');
    expect(dataPlane.seen.map(({ source }) => source)).toEqual(['PLAYGROUND']);
    await chooseModel(test);
    await readChats(test);
    expect(dataPlane.seen.map(({ source, model }) => [source, model]).at(-1)).toEqual([
      'PERSONAL_INTELLIGENCE',
      'budget',
    ]);
    expect(await texts()).toContain('I prefer tabs.');
  });

  it('does not read failed chats that nobody paid for, at the cost of the operator', async () => {
    await ann.turn(PERSONAL_KINDS, true);
    dataPlane.reply = () => undefined;
    const chat = await ann.chat();
    await ann.say(chat, 'I prefer tabs.');
    const ofChat = await query(em(), sql`select 1 from personal_job where conversation_id = ${chat}`);
    expect(ofChat).toEqual([]);
  });

  it('is asked three times if it answers nonsense; then the chat waits for its next message', async () => {
    await ann.turn(PERSONAL_KINDS, true);
    dataPlane.read = () => 'I would rather not.';
    const chat = await ann.tell('I prefer tabs.');
    await readChats(test);
    await readChats(test);
    expect(await jobs()).toEqual([{ reason: 'NOT_READABLE', tries: 3, quarantined: true }]);
    await readChats(test);
    expect(dataPlane.seen.filter(({ source }) => source === 'PERSONAL_INTELLIGENCE')).toHaveLength(3);
    dataPlane.read = () => undefined;
    await ann.say(chat, 'Indeed.');
    await readChats(test);
    expect(await jobs()).toMatchObject([{ reason: 'MODEL_FAILED', quarantined: false }]);
    dataPlane.read = extract;
    await readChats(test);
    expect([await jobs(), await texts()]).toMatchObject([[], expect.arrayContaining(['I prefer tabs.'])]);
  });

  it('is read no further than the limit if it sends megabytes without an end', async () => {
    await ann.turn(PERSONAL_KINDS, true);
    dataPlane.read = () => `{"operations":[]}${' '.repeat(1_000_000)}`;
    await ann.tell('I prefer tabs.');
    expect(await jobs()).toMatchObject([{ reason: 'MODEL_FAILED', tries: 1 }]);
  });

  it('is asked again about quarantined chats when its settings change', async () => {
    await ann.turn(['PREFERENCE_PROFILE'], true);
    dataPlane.read = () => 'I would rather not.';
    await ann.tell('I prefer tabs.');
    for (let tries = 1; tries < 3; tries += 1) await readChats(test);
    expect(await jobs()).toMatchObject([{ quarantined: true }]);
    dataPlane.read = extract;
    await chooseModel(test);
    await deriveItems(derivingParts(test));
    expect([await jobs(), await texts()]).toEqual([[], ['I prefer tabs.']]);
  });

  it('waits for the next month when the budget is spent', async () => {
    await ann.turn(PERSONAL_KINDS, true);
    await chooseModel(test, { monthlyBudget: '0' });
    await ann.tell('I prefer tabs.');
    expect(await jobs()).toMatchObject([{ reason: 'BUDGET', quarantined: false }]);
    // A raised budget makes them due at once.
    await chooseModel(test, { monthlyBudget: '10' });
    await deriveItems(derivingParts(test));
    expect(await jobs()).toEqual([]);
  });

  it('reads postponed chats at once when the budget is raised', async () => {
    await ann.turn(PERSONAL_KINDS, true);
    const { version } = await personalSettings(em());
    await ann.say(await ann.chat(), 'I prefer tabs.');
    await query(em(), sql`update personal_job set run_after = now()`);
    const job = await claimJob(em());
    // The budget is raised after the job found it spent, and before the job is postponed.
    await chooseModel(test, { monthlyBudget: '11' });
    if (job) await postponeJob(em(), job, version);
    expect(await jobs()).toMatchObject([{ reason: null }]);
    await deriveItems(derivingParts(test));
    expect(await jobs()).toEqual([]);
  });

  it('does not read new chats of a user while a failed chat of the user waits', async () => {
    await ann.turn(PERSONAL_KINDS, true);
    dataPlane.read = () => undefined;
    await ann.tell('I prefer tabs.');
    dataPlane.seen = [];
    await ann.say(await ann.chat(), 'Hello');
    await deriveItems(derivingParts(test));
    expect(dataPlane.seen.filter(({ source }) => source === 'PERSONAL_INTELLIGENCE')).toEqual([]);
  });

  it('reads for each user at most as much as is left for all others', async () => {
    await query(em(), sql`update personal_budget set spent = 0`);
    await query(em(), sql`delete from personal_share`);
    // Four calls of $0.03.
    await chooseModel(test, { monthlyBudget: '0.12' });
    const bea = new Learner(test, await test.user(`bea-${number}@example.com`));
    const counts: number[] = [];
    for (const learner of [ann, bea]) {
      await learner.turn(['PREFERENCE_PROFILE'], true);
      for (let chat = 0; chat < 4; chat += 1) await learner.tell(`I prefer thing number ${chat}.`);
      counts.push((await learner.items()).length);
    }
    expect(counts).toEqual([2, 1]);
    await query(em(), sql`delete from personal_job`);
    await chooseModel(test, { monthlyBudget: '10' });
  });

  it('reads each message once, however many control planes look for work', async () => {
    await ann.turn(['PREFERENCE_PROFILE'], true);
    for (let chat = 0; chat < 6; chat += 1) await ann.say(await ann.chat(), `I prefer thing number ${chat}.`);
    await query(em(), sql`update personal_job set run_after = now()`);
    await Promise.all([deriveItems(derivingParts(test)), deriveItems(derivingParts(test))]);
    expect(dataPlane.seen.filter(({ source }) => source === 'PERSONAL_INTELLIGENCE')).toHaveLength(6);
    expect(await ann.items()).toHaveLength(6);
    await readChats(test);
    expect(dataPlane.seen.filter(({ source }) => source === 'PERSONAL_INTELLIGENCE')).toHaveLength(6);
  });

  it('is previewed with a summary that the user wrote, which belongs to no chat', async () => {
    await ann.turn(['CONVERSATION_SUMMARY'], true);
    const text = 'Compared three ferries to Gothenburg.';
    await ann.change('derivedItemCreate', 'DerivedItemCreateInput', { kind: 'CONVERSATION_SUMMARY', text });
    const answer = await ann.browser.send(
      `{ viewer { personalIntelligence {
        injectionPreview(modelName: "budget", draft: "When does the ferry leave?") { text } } } }`,
    );
    const path = ['viewer', 'personalIntelligence', 'injectionPreview', 'text'] as const;
    expect(pick<string>(answer, ...path)).toContain(text);
  });

  it('is not given items of models whose upstreams may not see them', async () => {
    await ann.turn(['PREFERENCE_PROFILE'], true);
    await ann.tell('I prefer tabs.');
    const preview = async (): Promise<{ text: string; items: object[] }> =>
      pick(
        await ann.browser.send(
          `{ viewer { personalIntelligence {
            injectionPreview(modelName: "budget") { text items { id } } } } }`,
        ),
        ...(['viewer', 'personalIntelligence', 'injectionPreview'] as const),
      );
    expect((await preview()).text).toContain('I prefer tabs.');
    await query(em(), sql`update personal_settings set provider_ids = '{prv_none}'`);
    await query(
      em(),
      sql`insert into provider (id, name, protocols, base_url, enabled, timeouts)
        values ('prv_x', 'x', '{openai-chat}', 'http://127.0.0.1:9/v1', true, '{}')`,
    );
    await query(
      em(),
      sql`insert into route (id, model_id, provider_id, upstream_model, families, priority, weight, enabled)
        select 'rte_x', id, 'prv_x', 'x', '{chat_completions}', 1, 1, true from model where name = 'budget'`,
    );
    expect(await preview()).toMatchObject({ text: '', items: [] });
    // The model that reads chats gets none either.
    await ann.tell('I prefer short answers.');
    const read = dataPlane.seen.findLast(({ source }) => source === 'PERSONAL_INTELLIGENCE');
    expect(JSON.parse(read?.messages.at(-1)?.content ?? '')).toMatchObject({ items: [] });
    await query(em(), sql`update personal_settings set provider_ids = '{prv_x}'`);
    expect((await preview()).text).toContain('I prefer tabs.');
    // A route that is added until the node sends the request leads to no other upstream.
    const chat = await ann.tell('Which editor do you like?');
    for (const source of ['PLAYGROUND', 'PERSONAL_INTELLIGENCE'])
      expect(dataPlane.seen.findLast((request) => request.source === source)?.providerIds).toEqual(['prv_x']);
    await ann.say(chat, 'Hello', { useItems: false });
    expect(dataPlane.seen.at(-1)?.providerIds).toBeUndefined();
    await query(em(), sql`update personal_settings set provider_ids = null`);
  });
});
