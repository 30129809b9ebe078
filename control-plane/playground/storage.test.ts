/** How much of chats is stored, over the real app and database, with a data plane that answers at once. */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { codesOf, pick, startTestApp } from '../../test/control/app.ts';
import type { Answer, Browser, TestApp } from '../../test/control/app.ts';
import { query, queryOne, sql } from '../sql.ts';

const ERRORS = 'userErrors { code message }';
const MB = 1_000_000;
const REPLY = 'Grüße.';

let dataPlane: Server;
let asked = 0;
let test: TestApp;
let ann: Browser;
let annId: string;
let number = 0;

beforeAll(async () => {
  dataPlane = createServer((request, response) => {
    asked += 1;
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': `request-${asked}` });
    response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: REPLY } }] })}\n\n`);
    response.end('data: [DONE]\n\n');
  });
  await new Promise<void>((resolve) => {
    dataPlane.listen(0, '127.0.0.1', resolve);
  });
  const { port } = dataPlane.address() as AddressInfo;
  test = await startTestApp({ env: { DATA_URL: `http://127.0.0.1:${port}` } });
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
  await ann.send(`mutation { personalSwitchSet(input: { kind: WORKING_ON, enabled: true }) { ${ERRORS} } }`);
  asked = 0;
});

const em = () => test.orm.em.fork();

async function chat(temporary = false): Promise<string> {
  const made = await ann.send(
    `mutation ($input: ConversationCreateInput!) { conversationCreate(input: $input) {
      conversation { id } ${ERRORS} } }`,
    { input: { modelName: 'balanced', temporary } },
  );
  return pick(made, 'conversationCreate', 'conversation', 'id');
}

function send(conversationId: string, content: string, more: object = {}): Promise<Answer> {
  number += 1;
  return ann.send(
    `mutation ($input: MessageSendInput!) { messageSend(input: $input) { reply { id } ${ERRORS} } }`,
    { input: { conversationId, content, idempotencyKey: `send-${number}`, ...more } },
  );
}

/** Chats that are stored besides, of so many bytes each. */
const fill = (count: number, bytes = 0) =>
  query(
    em(),
    sql`insert into conversation (id, user_id, title, model_name, created_at, updated_at, bytes)
      select ${`con_${number}_`} || n, ${annId}, 'filled', 'balanced', now(), now(), ${bytes}
      from generate_series(1, ${count}::integer) n`,
  );

/** Messages that stand in a stored chat besides. */
const lengthen = (conversationId: string, count: number) =>
  query(
    em(),
    sql`insert into conversation_message (id, conversation_id, role, content, state, created_at)
      select ${`msg_0${number}_`} || n, ${conversationId}, 'USER', 'x', 'COMPLETE', now()
      from generate_series(1, ${count}::integer) n`,
  );

const storedCount = async () =>
  (await query(em(), sql`select from conversation where user_id = ${annId}`)).length;
const bytesOf = async (id: string) =>
  Number(
    (await queryOne<{ bytes: string }>(em(), sql`select bytes from conversation where id = ${id}`))?.bytes,
  );
const used = async () =>
  pick<number>(
    await ann.send('{ viewer { personalIntelligence { storageUsed } } }'),
    ...['viewer', 'personalIntelligence', 'storageUsed'],
  );

describe('the room for stored chats', () => {
  it('holds 1,000 chats: the next one is refused unasked and unpaid, until one is deleted', async () => {
    await fill(999);
    expect(codesOf(await send(await chat(), 'The last'), 'messageSend')).toEqual([]);
    const id = await chat();
    expect(asked).toBe(1);
    const refused = await send(id, 'One more');
    expect(codesOf(refused, 'messageSend')).toEqual(['STORAGE_FULL']);
    expect(pick<{ message: string }[]>(refused, 'messageSend', 'userErrors')[0]?.message).toBe(
      'At most 1000 chats and 500 MB are stored. Delete chats, or begin a temporary one.',
    );
    expect([asked, await storedCount(), await used()]).toEqual([1, 1_000, 1]);
    const gone = (await queryOne<{ id: string }>(
      em(),
      sql`select id from conversation where user_id = ${annId} and title = 'filled' limit 1`,
    )) ?? { id: '' };
    await ann.send(
      `mutation ($input: ConversationDeleteInput!) { conversationDelete(input: $input) { deletedIds } }`,
      { input: gone },
    );
    expect(codesOf(await send(id, 'One more'), 'messageSend')).toEqual([]);
    expect(await storedCount()).toBe(1_000);
  });

  it('is no matter for chats that are stored already, nor for what is not stored', async () => {
    const id = await chat();
    await send(id, 'Early');
    await fill(999);
    expect(codesOf(await send(id, 'On'), 'messageSend')).toEqual([]);
    expect(codesOf(await send(await chat(true), 'Whisper'), 'messageSend')).toEqual([]);
    await ann.send(
      `mutation { personalSwitchSet(input: { kind: WORKING_ON, enabled: false }) { ${ERRORS} } }`,
    );
    expect(codesOf(await send(await chat(), 'Unstored'), 'messageSend')).toEqual([]);
    expect([asked, await storedCount()]).toEqual([4, 1_000]);
  });

  it('is given to one of many chats that begin at the same time', async () => {
    await fill(999);
    const ids = [await chat(), await chat(), await chat()];
    const answers = await Promise.all(ids.map((id) => send(id, 'First')));
    const codes = answers.flatMap((answer) => codesOf(answer, 'messageSend'));
    expect(codes).toEqual(['STORAGE_FULL', 'STORAGE_FULL']);
    expect([asked, await storedCount()]).toEqual([1, 1_000]);
  });

  it('is told while it lasts, by number or by size, whichever is more', async () => {
    expect(await used()).toBe(0);
    await fill(100, MB);
    expect(await used()).toBeCloseTo(0.2);
    await query(em(), sql`update conversation set bytes = 0 where user_id = ${annId}`);
    expect(await used()).toBeCloseTo(0.1);
  });

  it('holds 500 MB over all chats', async () => {
    const id = await chat();
    await send(id, 'Begun');
    await fill(50, 10 * MB);
    expect(codesOf(await send(id, 'More'), 'messageSend')).toEqual(['STORAGE_FULL']);
  });
});

describe('a stored chat', () => {
  it('holds 500 messages: the next one is refused, and a new chat is open', async () => {
    const id = await chat();
    await send(id, 'Begun');
    await lengthen(id, 496);
    expect(codesOf(await send(id, 'The last'), 'messageSend')).toEqual([]);
    const refused = await send(id, 'One more');
    expect(codesOf(refused, 'messageSend')).toEqual(['CONVERSATION_FULL']);
    expect(pick<{ message: string }[]>(refused, 'messageSend', 'userErrors')[0]?.message).toBe(
      'A chat holds 500 messages and 20 MB. Go on in a new one.',
    );
    expect(codesOf(await send(await chat(), 'One more'), 'messageSend')).toEqual([]);
    expect(asked).toBe(3);
  });

  it('counts what its questions, pictures and replies take, and is full at 20 MB', async () => {
    const id = await chat();
    const dataBase64 = 'iVBORw0KGgo=';
    const question = 'Schöne Bücher?';
    await send(id, question, { attachments: [{ mimeType: 'image/png', dataBase64 }] });
    const size = Buffer.byteLength(question) + dataBase64.length + Buffer.byteLength(REPLY);
    await expect.poll(() => bytesOf(id)).toBe(size);
    await query(em(), sql`update conversation set bytes = ${20 * MB - 4} where id = ${id}`);
    expect(codesOf(await send(id, 'abcde'), 'messageSend')).toEqual(['CONVERSATION_FULL']);
    expect(codesOf(await send(id, 'abcd'), 'messageSend')).toEqual([]);
  });
});
