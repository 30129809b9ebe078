/**
 * Personal Intelligence over real planes, with the keys of chats on a server of their own. Only the kind that
 * is on is learned. No text is on any disk. What a user forgot cannot be read from an earlier base backup.
 */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startPostgres } from '../../control-plane/local/postgres.ts';
import type { Postgres } from '../../control-plane/local/postgres.ts';
import { PERSONAL_KINDS } from '../../control-plane/intelligence/switch.entity.ts';
import { addCustomer, ADMIN } from '../house.ts';
import type { Customer, House } from '../house.ts';
import { COPIED_WHILE_RUNNING, takeBackup } from './base-backup.ts';
import { chatWith, messagesIn, readNow, rowsAt, startLearningHouse, turnOn } from './learning-house.ts';
import type { LearningHouse } from './learning-house.ts';

const CANARY = 'zanzibarquokka';
/** States something of every kind. */
const MESSAGE = `I prefer ${CANARY} tabs. Every Friday I test ${CANARY}. I am working on a ${CANARY} parser.`;

let folder: string;
let main: Postgres;
let keys: Postgres;
let house: House;
let learning: LearningHouse;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-forgotten-'));
  // Run as root, PostgreSQL runs as another user, who needs access through this folder.
  chmodSync(folder, 0o711);
  main = await startPostgres({ dataDir: join(folder, 'main'), settings: COPIED_WHILE_RUNNING });
  keys = await startPostgres({ dataDir: join(folder, 'keys') });
  learning = await startLearningHouse(main.url, folder, { CONTENT_KEYS_URL: keys.url });
  house = learning.house;
}, 120_000);

afterAll(async () => {
  await learning?.close();
  await main?.stop();
  await keys?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Sends the message in a new chat and waits for the reply. Returns the id of the chat. */
function chat(customer: Customer, content = MESSAGE): Promise<string> {
  return chatWith(customer, content);
}

/** Lets the user's chats be read now, and waits for it. */
function read(customer: Customer): Promise<void> {
  return readNow(main.url, customer);
}

async function kindsOf({ userId }: Customer): Promise<string[]> {
  const found = await rowsAt<{ kind: string }>(
    main.url,
    'select distinct kind from personal_item where user_id = $1 order by 1',
    [userId],
  );
  return found.map(({ kind }) => kind);
}

/** Files of both servers and of the planes that contain the text: tables, logs, journals, temporary files. */
async function filesWith(text: string): Promise<string[]> {
  for (const { url } of [main, keys]) await rowsAt(url, 'checkpoint');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => {
      try {
        return statSync(file).isFile() && readFileSync(file).includes(text);
      } catch {
        // The file was deleted meanwhile.
        return false;
      }
    });
}

/** Number of rows of a user in the tables that hold chats and what is learned from them. */
async function rowsOf({ userId }: Customer): Promise<number> {
  const tables = [
    'conversation',
    'personal_item',
    'personal_item_term',
    'personal_job',
    'personal_forgotten',
  ];
  const counts = tables.map((table) => `(select count(*) from ${table} where user_id = $1)`);
  const [row] = await rowsAt<{ count: string }>(main.url, `select ${counts.join(' + ')} as count`, [userId]);
  return Number(row?.count);
}

it('a chat with all switches off leaves nothing in any table or on any disk', async () => {
  const customer = await addCustomer(house, '1');
  await chat(customer);
  expect(await rowsOf(customer)).toBe(0);
  expect(await tablesWith(CANARY)).toEqual([]);
  expect(await filesWith(CANARY)).toEqual([]);
}, 60_000);

it('a chat with one switch on teaches only that kind, and leaves no text on any disk', async () => {
  for (const kind of PERSONAL_KINDS) {
    const customer = await addCustomer(house, '1');
    await turnOn(customer, kind);
    await chat(customer);
    await read(customer);
    expect(await kindsOf(customer)).toEqual([kind]);
  }
  expect(await filesWith(CANARY)).toEqual([]);
}, 120_000);

it('never learns from requests with an API key, with all switches on', async () => {
  const customer = await addCustomer(house, '1');
  for (const kind of PERSONAL_KINDS) await turnOn(customer, kind);
  const response = await fetch(`${house.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${customer.key}` },
    body: JSON.stringify({ model: 'budget', messages: [{ role: 'user', content: MESSAGE }] }),
  });
  expect(await response.text()).toContain(CANARY);
  for (const table of ['personal_job', 'personal_item', 'conversation'])
    expect(await rowsAt(main.url, `select 1 from ${table} where user_id = $1`, [customer.userId])).toEqual(
      [],
    );
  expect(await filesWith(CANARY)).toEqual([]);
});

it('leaves nothing of a deleted item or chat in any table', async () => {
  const customer = await addCustomer(house, '1');
  for (const kind of PERSONAL_KINDS) await turnOn(customer, kind);
  const id = await chat(customer);
  await read(customer);
  const [item] = await rowsAt<{ id: string }>(
    main.url,
    `select id from personal_item where user_id = $1 and kind = 'PREFERENCE_PROFILE'`,
    [customer.userId],
  );
  const second = await chat(customer, 'Hello');
  // The item is in the lines of the second reply.
  expect(await tablesWith(String(item?.id))).toContain('personal_used_line');
  await customer.api.mutate('derivedItemDelete', { ids: [item?.id] }, 'personalIntelligence { storing }');
  expect(await tablesWith(String(item?.id))).toEqual([]);
  for (const chatId of [id, second]) {
    await customer.api.mutate('conversationDelete', { id: chatId }, 'deletedIds');
    expect(await tablesWith(chatId)).toEqual([]);
  }
  expect(await kindsOf(customer)).toEqual([]);
}, 60_000);

it('leaves nothing of a closed account, and no key', async () => {
  const customer = await addCustomer(house, '1');
  for (const kind of PERSONAL_KINDS) await turnOn(customer, kind);
  const id = await chat(customer);
  await read(customer);
  const items = 'select id from personal_item where user_id = $1';
  const ids = (await rowsAt<{ id: string }>(main.url, items, [customer.userId])).map((row) => row.id);
  expect(ids.length).toBeGreaterThan(0);
  await customer.api.mutate('accountDelete', { password: ADMIN.password }, 'ok');
  expect(await rowsOf(customer)).toBe(0);
  for (const gone of [id, ...ids]) expect(await tablesWith(gone)).toEqual([]);
  const kept = 'select 1 from gateway_keys.content_key where user_id = $1';
  expect(await rowsAt(keys.url, kept, [customer.userId])).toEqual([]);
}, 60_000);

/** Tables that contain the text in any column. */
async function tablesWith(text: string): Promise<string[]> {
  const names = await rowsAt<{ name: string }>(
    main.url,
    "select tablename as name from pg_tables where schemaname = 'public' order by 1",
  );
  const found: string[] = [];
  for (const { name } of names) {
    const hits = `select 1 from "${name}" t where strpos(row_to_json(t)::text, $1) > 0 limit 1`;
    if ((await rowsAt(main.url, hits, [text])).length > 0) found.push(name);
  }
  return found;
}

it('a base backup from before a deletion reveals no deleted data, and keeps other data', async () => {
  const [ann, bea] = [await addCustomer(house, '1'), await addCustomer(house, '1')];
  for (const customer of [ann, bea]) for (const kind of PERSONAL_KINDS) await turnOn(customer, kind);
  const [ofAnn, ofBea] = [await chat(ann), await chat(bea)];
  await read(ann);
  await takeBackup(main.url, join(folder, 'main'), join(folder, 'backup'));
  await ann.api.mutate('personalForgetEverything', { confirm: 'FORGET' }, 'personalIntelligence { storing }');

  await house.control.stop();
  const { port } = main;
  await main.stop();
  main = await startPostgres({ dataDir: join(folder, 'backup'), port });
  await house.restartControl();
  // The backup holds the rows of both. Only the key of one of them exists.
  const sealed = 'select 1 from conversation_message where conversation_id = $1 and sealed is not null';
  for (const id of [ofAnn, ofBea]) expect(await rowsAt(main.url, sealed, [id])).toHaveLength(2);
  expect((await messagesIn(bea, ofBea))[0]?.content).toBe(MESSAGE);
  expect((await messagesIn(ann, ofAnn)).map(({ content }) => content)).toEqual(['', '']);
  const { viewer } = await ann.api.query<{
    viewer: { personalIntelligence: { items: { nodes: object[] } } };
  }>('{ viewer { personalIntelligence { items(first: 100) { nodes { text } } } } }');
  expect(viewer.personalIntelligence.items.nodes).toEqual([]);
  const kept = 'select user_id from gateway_keys.content_key where user_id = any($1)';
  expect(await rowsAt(keys.url, kept, [[ann.userId, bea.userId]])).toEqual([{ user_id: bea.userId }]);
  expect(await rowsAt(main.url, 'select 1 from content_key')).toEqual([]);
}, 120_000);
