/** Stored chats are encrypted under a key of their user, can be searched, and end with their key. */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { pick, startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { writeExport } from '../accounts/export.service.ts';
import { newId } from '../database/ids.ts';
import { query, sql } from '../database/sql.ts';
import { contentKeysOf } from '../intelligence/open-keys.ts';
import type { ContentKeys } from '../intelligence/content-keys.ts';
import { destroyKeysOfClosedAccounts, sealPlainChats } from './seal-chats.ts';

const REPLY = 'The otter answers.';
const PICTURE = { mimeType: 'image/png', dataBase64: 'aGVkZ2Vob2c=' };

let dataPlane: Server;
let test: TestApp;
let ann: Browser;
let annId: string;
let contentKeys: ContentKeys;
let number = 0;

beforeAll(async () => {
  dataPlane = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': `request-${number}` });
    response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: REPLY } }] })}\n\n`);
    response.end('data: [DONE]\n\n');
  });
  await new Promise<void>((resolve) => dataPlane.listen(0, '127.0.0.1', resolve));
  const { port } = dataPlane.address() as AddressInfo;
  test = await startTestApp({ env: { DATA_URL: `http://127.0.0.1:${port}` } });
  contentKeys = contentKeysOf(test);
});

afterAll(async () => {
  await test.close();
  dataPlane.closeAllConnections();
  dataPlane.close();
});

beforeEach(async () => {
  number += 1;
  ann = await test.user(`ann-${number}@example.com`);
  annId = pick<string>(await ann.send('{ viewer { id } }'), 'viewer', 'id');
  await ann.send(
    'mutation { personalSwitchSet(input: { kind: WORKING_ON, enabled: true }) { userErrors { code } } }',
  );
});

const em = () => test.orm.em.fork();

async function chat(content: string, attachments: object[] = []): Promise<string> {
  const made = await ann.send(
    `mutation { conversationCreate(input: { modelName: "budget" }) { conversation { id } } }`,
  );
  const conversationId: string = pick(made, 'conversationCreate', 'conversation', 'id');
  number += 1;
  const input = {
    conversationId,
    content,
    attachments,
    idempotencyKey: `send-${number}`,
    modelName: 'vision',
  };
  const { modelName, ...plain } = input;
  await ann.send(
    `mutation ($input: MessageSendInput!) { messageSend(input: $input) { userErrors { code } } }`,
    { input: attachments.length > 0 ? { ...plain, modelName } : plain },
  );
  await expect.poll(async () => (await messages(conversationId)).at(-1)?.state).toBe('COMPLETE');
  return conversationId;
}

interface Message {
  content: string;
  state: string;
  attachments: object[];
}

async function messages(id: string): Promise<Message[]> {
  const fields = 'messages { nodes { content state attachments { mimeType dataBase64 } } }';
  const answer = await ann.send(
    `query ($id: ID!) { node(id: $id) { ... on Conversation { title ${fields} } } }`,
    { id },
  );
  return pick(answer, 'node', 'messages', 'nodes');
}

async function found(search: string): Promise<string[]> {
  const answer = await ann.send(
    `query ($search: String) { viewer { playground { conversations(search: $search) {
      totalCount nodes { id } } } } }`,
    { search },
  );
  const list = pick<{ totalCount: number; nodes: { id: string }[] }>(
    ...([answer, 'viewer', 'playground', 'conversations'] as const),
  );
  expect(list.totalCount).toBe(list.nodes.length);
  return list.nodes.map(({ id }) => id);
}

/** All rows of the two tables as text; bytes as the characters that they would be in a plain text. */
async function stored(): Promise<string> {
  const rows = await query<{ row: string }>(
    em(),
    sql`select c::text || coalesce(encode(c.title_sealed, 'escape'), '') as row from conversation c
        where user_id = ${annId}
      union all select m::text || coalesce(encode(m.sealed, 'escape'), '')
        || coalesce(encode(m.pictures_sealed, 'escape'), '')
        from conversation_message m join conversation c on c.id = m.conversation_id
        where user_id = ${annId}`,
  );
  return rows.map(({ row }) => row).join('\n');
}

/** Stores a chat as earlier releases did. */
async function plainChat(): Promise<string> {
  const id = newId('con');
  await query(
    em(),
    sql`insert into conversation (id, user_id, title, model_name, created_at, updated_at)
      values (${id}, ${annId}, 'About badgers', 'budget', now(), now())`,
  );
  await query(
    em(),
    sql`insert into conversation_message (id, conversation_id, role, content, reasoning, attachments, state,
        created_at)
      values (${newId('msg')}, ${id}, 'USER', 'A badger digs.', 'It must.',
        ${JSON.stringify([PICTURE])}::jsonb, 'COMPLETE', now())`,
  );
  return id;
}

it('a stored chat is in no column as plain text, and its user can read all of it', async () => {
  const id = await chat('What does the otter say?');
  const text = await stored();
  expect(text).toContain(id);
  for (const word of ['otter', 'answers']) expect(text).not.toContain(word);
  expect((await messages(id)).map(({ content }) => content)).toEqual(['What does the otter say?', REPLY]);
});

it('a search finds encrypted titles, questions and replies, and no chat of somebody else', async () => {
  const otter = await chat('What does the OTTER say?\nIt is a long story.');
  const bird = await chat('Tell me about birds 鸟类. 100% true_story');
  expect((await found('otter')).sort()).toEqual([otter, bird].sort());
  expect(await found('long story')).toEqual([otter]);
  expect(await found('鸟')).toEqual([bird]);
  expect(await found('100%')).toEqual([bird]);
  expect(await found('true.story')).toEqual([]);
  ann = await test.user(`bob-${number}@example.com`);
  expect(await found('otter')).toEqual([]);
});

it('a chat of an earlier release stays readable while and after it is encrypted', async () => {
  const id = await plainChat();
  const check = async (): Promise<void> => {
    expect(await messages(id)).toMatchObject([{ content: 'A badger digs.', attachments: [PICTURE] }]);
    expect(await found('badger digs')).toEqual([id]);
    expect(await found('about badgers')).toEqual([id]);
  };
  await check();
  await sealPlainChats({ em, contentKeys });
  await check();
  const text = await stored();
  for (const word of ['badger', 'must', 'hedgehog', PICTURE.dataBase64]) expect(text).not.toContain(word);
});

it('a new title is encrypted', async () => {
  const id = await chat('Hello');
  await ann.send(
    `mutation ($id: ID!) {
      conversationRename(input: { id: $id, title: "Weasels" }) { userErrors { code } } }`,
    { id },
  );
  expect(await found('weasel')).toEqual([id]);
  expect(await stored()).not.toContain('Weasels');
});

it('an export holds the decrypted chats', async () => {
  await chat('What does the otter say?');
  await plainChat();
  let text = '';
  for await (const piece of writeExport({ em, keys: contentKeys }, annId)) text += piece;
  const file = JSON.parse(text) as { conversations: object[]; messages: object[] };
  expect(file.conversations).toMatchObject([
    { title: 'What does the otter say?' },
    { title: 'About badgers' },
  ]);
  expect(file.messages).toMatchObject([
    { content: 'What does the otter say?', attachments: [] },
    { content: REPLY },
    { content: 'A badger digs.', reasoning: 'It must.', attachments: [PICTURE] },
  ]);
  expect(text).not.toMatch(/"sealed"|"pictures"/);
});

it('a chat cannot be read without its key', async () => {
  const id = await chat('What does the otter say?');
  await contentKeys.destroy(annId);
  expect((await messages(id)).map(({ content }) => content)).toEqual(['', '']);
  expect(await found('otter')).toEqual([]);
  // A new key does not open what another key has encrypted.
  const key = await contentKeys.of(annId);
  const [row] = await query<{ sealed: Buffer; id: string }>(
    em(),
    sql`select id, sealed from conversation_message where conversation_id = ${id} limit 1`,
  );
  expect(() => key.open(row?.id ?? '', row?.sealed ?? Buffer.alloc(0))).toThrow();
});

it('the key of a closed account is destroyed', async () => {
  await chat('What does the otter say?');
  await ann.send(
    'mutation { accountDelete(input: { password: "a long enough password" }) { userErrors { code } } }',
  );
  expect(await contentKeys.find(annId)).toBeUndefined();
  // Also if the process ended before it was destroyed.
  await contentKeys.of(annId);
  await destroyKeysOfClosedAccounts({ em, contentKeys });
  expect(await contentKeys.find(annId)).toBeUndefined();
});
