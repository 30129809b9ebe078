/**
 * Personal Intelligence over real planes, with the keys of chats on a server of their own. Only the kind that
 * is on is learned. No text is on any disk. What a user forgot cannot be read from an earlier base backup.
 */
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import type { ChatCompletionRequest } from '@copilotkit/aimock';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startPostgres } from '../../control-plane/local/postgres.ts';
import type { Postgres } from '../../control-plane/local/postgres.ts';
import { findFreePort } from '../../control-plane/local/ports.ts';
import { PERSONAL_KINDS } from '../../control-plane/intelligence/switch.entity.ts';
import { addCustomer, addUpstream, ADMIN, startHouse } from '../house.ts';
import type { Customer, House } from '../house.ts';
import { extract } from '../memory/extractor.ts';
import type { ExtractorInput } from '../memory/extractor.ts';
import { COPIED_WHILE_RUNNING, takeBackup } from './base-backup.ts';

const CANARY = 'zanzibarquokka';
/** States something of every kind. */
const MESSAGE = `I prefer ${CANARY} tabs. Every Friday I test ${CANARY}. I am working on a ${CANARY} parser.`;
const WITHIN_MS = 60_000;

let folder: string;
let main: Postgres;
let keys: Postgres;
let house: House;
const mock = new LLMock({ host: '127.0.0.1', port: 0, logLevel: 'silent', journalMaxEntries: 1 });

beforeAll(async () => {
  mock.on({ predicate: () => true }, answer);
  await mock.start();
  folder = mkdtempSync(join(tmpdir(), 'gateway-forgotten-'));
  // Run as root, PostgreSQL runs as another user, who needs access through this folder.
  chmodSync(folder, 0o711);
  main = await startPostgres({ dataDir: join(folder, 'main'), settings: COPIED_WHILE_RUNNING });
  keys = await startPostgres({ dataDir: join(folder, 'keys') });
  const dataDir = join(folder, 'planes');
  const temporary = { TMPDIR: join(folder, 'temporary') };
  for (const path of [dataDir, temporary.TMPDIR]) mkdirSync(path);
  const controlEnv = { CONTENT_KEYS_URL: keys.url, ...temporary };
  const planes = { dataDir, dataPort: await findFreePort(), controlEnv, nodeEnv: temporary };
  house = await startHouse({ databaseUrl: main.url, ...planes });
  await addUpstream(house, { baseUrl: `${mock.url}/v1`, models: ['budget'] });
  await house.admin.mutate(
    'adminPersonalIntelligenceSet',
    { modelName: 'budget', reason: 'test' },
    'settings { modelName }',
  );
}, 120_000);

afterAll(async () => {
  await house?.stop();
  await mock.stop();
  await main?.stop();
  await keys?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Answers a chat with its own words, and the request to read a chat as a mediocre model does. */
function answer({ messages }: ChatCompletionRequest): { content: string } {
  const content = messages.at(-1)?.content;
  const text = typeof content === 'string' ? content : '';
  const isReading = text.startsWith('{"items"');
  return { content: isReading ? extract(JSON.parse(text) as ExtractorInput) : `You said: ${text}` };
}

async function rows<Row extends pg.QueryResultRow>(url: string, text: string, values: unknown[] = []) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const result = await client.query<Row>(text, values);
  await client.end();
  return result.rows;
}

async function until(condition: () => Promise<boolean>, what: string): Promise<void> {
  const end = Date.now() + WITHIN_MS;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`Not in time: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function turnOn({ api }: Customer, kind: string): Promise<void> {
  await api.mutate('personalSwitchSet', { kind, enabled: true }, 'personalIntelligence { storing }');
}

/** Sends the message in a new chat and waits for the reply. Returns the id of the chat. */
async function chat(customer: Customer, content = MESSAGE): Promise<string> {
  const { conversation } = await customer.api.mutate<{ conversation: { id: string } }>(
    'conversationCreate',
    { modelName: 'budget' },
    'conversation { id }',
  );
  const input = { conversationId: conversation.id, content, idempotencyKey: randomUUID() };
  await customer.api.mutate('messageSend', input, 'reply { id }');
  await until(
    async () => (await messages(customer, conversation.id)).some(({ state }) => state === 'COMPLETE'),
    'the reply',
  );
  return conversation.id;
}

async function messages({ api }: Customer, id: string): Promise<{ state: string; content: string }[]> {
  const { node } = await api.query<{ node: { messages: { nodes: { state: string; content: string }[] } } }>(
    `query { node(id: "${id}") { ... on Conversation { messages { nodes { state content role } } } } }`,
  );
  return node.messages.nodes;
}

/** Lets the user's chats be read now, and waits for it. */
async function read({ userId }: Customer): Promise<void> {
  const due = 'update personal_job set run_after = now() where user_id = $1 and claim is null';
  const unread = 'select 1 from conversation where user_id = $1 and derived_through is null';
  await until(async () => {
    await rows(main.url, due, [userId]);
    return (await rows(main.url, unread, [userId])).length === 0;
  }, 'the chat is read');
}

async function kindsOf({ userId }: Customer): Promise<string[]> {
  const found = await rows<{ kind: string }>(
    main.url,
    'select distinct kind from personal_item where user_id = $1 order by 1',
    [userId],
  );
  return found.map(({ kind }) => kind);
}

/** Files of both servers and of the planes that contain the text: tables, logs, journals, temporary files. */
async function filesWith(text: string): Promise<string[]> {
  for (const { url } of [main, keys]) await rows(url, 'checkpoint');
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
  const [row] = await rows<{ count: string }>(main.url, `select ${counts.join(' + ')} as count`, [userId]);
  return Number(row?.count);
}

it('with all switches off, writes nothing of a chat to any table or to any disk', async () => {
  const customer = await addCustomer(house, '1');
  await chat(customer);
  expect(await rowsOf(customer)).toBe(0);
  expect(await tablesWith(CANARY)).toEqual([]);
  expect(await filesWith(CANARY)).toEqual([]);
}, 60_000);

it('with one switch on, learns that kind alone, and writes no text to any disk', async () => {
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
    expect(await rows(main.url, `select 1 from ${table} where user_id = $1`, [customer.userId])).toEqual([]);
  expect(await filesWith(CANARY)).toEqual([]);
});

it('leaves nothing of a deleted item or chat in any table', async () => {
  const customer = await addCustomer(house, '1');
  for (const kind of PERSONAL_KINDS) await turnOn(customer, kind);
  const id = await chat(customer);
  await read(customer);
  const [item] = await rows<{ id: string }>(
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
  const ids = (await rows<{ id: string }>(main.url, items, [customer.userId])).map((row) => row.id);
  expect(ids.length).toBeGreaterThan(0);
  await customer.api.mutate('accountDelete', { password: ADMIN.password }, 'ok');
  expect(await rowsOf(customer)).toBe(0);
  for (const gone of [id, ...ids]) expect(await tablesWith(gone)).toEqual([]);
  const kept = 'select 1 from gateway_keys.content_key where user_id = $1';
  expect(await rows(keys.url, kept, [customer.userId])).toEqual([]);
}, 60_000);

/** Tables that contain the text in any column. */
async function tablesWith(text: string): Promise<string[]> {
  const names = await rows<{ name: string }>(
    main.url,
    "select tablename as name from pg_tables where schemaname = 'public' order by 1",
  );
  const found: string[] = [];
  for (const { name } of names) {
    const hits = `select 1 from "${name}" t where strpos(row_to_json(t)::text, $1) > 0 limit 1`;
    if ((await rows(main.url, hits, [text])).length > 0) found.push(name);
  }
  return found;
}

it('cannot read, from a base backup of before, what a user forgot, and reads what others keep', async () => {
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
  for (const id of [ofAnn, ofBea]) expect(await rows(main.url, sealed, [id])).toHaveLength(2);
  expect((await messages(bea, ofBea))[0]?.content).toBe(MESSAGE);
  expect((await messages(ann, ofAnn)).map(({ content }) => content)).toEqual(['', '']);
  const { viewer } = await ann.api.query<{
    viewer: { personalIntelligence: { items: { nodes: object[] } } };
  }>('{ viewer { personalIntelligence { items(first: 100) { nodes { text } } } } }');
  expect(viewer.personalIntelligence.items.nodes).toEqual([]);
  const kept = 'select user_id from gateway_keys.content_key where user_id = any($1)';
  expect(await rows(keys.url, kept, [[ann.userId, bea.userId]])).toEqual([{ user_id: bea.userId }]);
  expect(await rows(main.url, 'select 1 from content_key')).toEqual([]);
}, 120_000);
