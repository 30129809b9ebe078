/** Tests the storage limits of chats over the real app and database, with a fake data plane. */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { codesOf, pick, startTestApp } from '../../test/control/app.ts';
import type { Answer, Browser, TestApp } from '../../test/control/app.ts';
import { query, queryOne, sql } from '../database/sql.ts';

const ERRORS = 'userErrors { code message }';
const MB = 1_000_000;
const REPLY = 'Grüße.';

let dataPlane: Server;
/** Number of requests to the data plane. */
let requests = 0;
const logged: Record<string, unknown>[] = [];
let test: TestApp;
let ann: Browser;
let annId: string;
let number = 0;

beforeAll(async () => {
  dataPlane = createServer((request, response) => {
    requests += 1;
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': `request-${requests}` });
    response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: REPLY } }] })}\n\n`);
    response.end('data: [DONE]\n\n');
  });
  await new Promise<void>((resolve) => {
    dataPlane.listen(0, '127.0.0.1', resolve);
  });
  const { port } = dataPlane.address() as AddressInfo;
  const env = { DATA_URL: `http://127.0.0.1:${port}` };
  test = await startTestApp({ env, log: (line) => logged.push(line) });
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
  requests = 0;
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

/** Stores this many other chats of this size each. */
const fill = (count: number, bytes = 0) =>
  query(
    em(),
    sql`insert into conversation (id, user_id, title, model_name, created_at, updated_at, bytes)
      select ${`con_${number}_`} || n, ${annId}, 'filled', 'balanced', now(), now(), ${bytes}
      from generate_series(1, ${count}::integer) n`,
  );

/** Adds this many messages to a stored chat. */
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

describe('the storage of a user', () => {
  it('holds 1,000 chats, and the next one is refused without a request until one is deleted', async () => {
    await fill(999);
    expect(codesOf(await send(await chat(), 'The last'), 'messageSend')).toEqual([]);
    const id = await chat();
    expect(requests).toBe(1);
    const refused = await send(id, 'One more');
    expect(codesOf(refused, 'messageSend')).toEqual(['STORAGE_FULL']);
    expect(pick<{ message: string }[]>(refused, 'messageSend', 'userErrors')[0]?.message).toBe(
      'At most 1000 chats and 500 MB are stored. Delete some chats, or use a temporary chat.',
    );
    expect([requests, await storedCount(), await used()]).toEqual([1, 1_000, 1]);
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

  it('does not limit chats that are stored already, nor chats that are not stored', async () => {
    const id = await chat();
    await send(id, 'Early');
    await fill(999);
    expect(codesOf(await send(id, 'On'), 'messageSend')).toEqual([]);
    expect(codesOf(await send(await chat(true), 'Whisper'), 'messageSend')).toEqual([]);
    await ann.send(
      `mutation { personalSwitchSet(input: { kind: WORKING_ON, enabled: false }) { ${ERRORS} } }`,
    );
    expect(codesOf(await send(await chat(), 'Unstored'), 'messageSend')).toEqual([]);
    expect([requests, await storedCount()]).toEqual([4, 1_000]);
  });

  it('takes one of several chats that start at the same moment if it has room for one', async () => {
    await fill(999);
    const ids = [await chat(), await chat(), await chat()];
    const answers = await Promise.all(ids.map((id) => send(id, 'First')));
    const codes = answers.flatMap((answer) => codesOf(answer, 'messageSend'));
    expect(codes).toEqual(['STORAGE_FULL', 'STORAGE_FULL']);
    expect([requests, await storedCount()]).toEqual([1, 1_000]);
  });

  it('reports its used share, of the number or of the size, whichever is larger', async () => {
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
  it('holds 500 messages, and the next one is refused but accepted in a new chat', async () => {
    const id = await chat();
    await send(id, 'Begun');
    await lengthen(id, 496);
    expect(codesOf(await send(id, 'The last'), 'messageSend')).toEqual([]);
    const refused = await send(id, 'One more');
    expect(codesOf(refused, 'messageSend')).toEqual(['CONVERSATION_FULL']);
    expect(pick<{ message: string }[]>(refused, 'messageSend', 'userErrors')[0]?.message).toBe(
      'A chat holds at most 500 messages and 20 MB. Start a new chat.',
    );
    expect(codesOf(await send(await chat(), 'One more'), 'messageSend')).toEqual([]);
    expect(requests).toBe(3);
  });

  it('counts the size of its questions, pictures and replies, and is full at 20 MB', async () => {
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

/** Runs the work while the database refuses to store the end of any reply. */
async function withoutWrites(work: () => Promise<void>): Promise<void> {
  const owner = new pg.Client({ connectionString: test.settings.databaseUrl });
  await owner.connect();
  try {
    await owner.query(`create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'no space left'; end $$`);
    await owner.query(`create trigger refuse before update on conversation_message
      for each row execute function refuse()`);
    await work();
  } finally {
    await owner.query('drop function if exists refuse cascade');
    await owner.end();
  }
}

describe('a reply whose end cannot be stored', () => {
  it('fails with NOT_STORED, still shows its text, and is logged without it', async () => {
    await withoutWrites(async () => {
      const id = pick<string>(await send(await chat(), 'Tell'), 'messageSend', 'reply', 'id');
      const read = async () =>
        pick<object>(
          await ann.send(
            'query ($id: ID!) { node(id: $id) { ... on Message { state errorCode content } } }',
            { id },
          ),
          'node',
        );
      await expect.poll(read).toEqual({ state: 'FAILED', errorCode: 'NOT_STORED', content: REPLY });
      const errors = logged.filter(({ level }) => level === 'error');
      expect(errors).toMatchObject([{ messageId: id, reason: expect.any(String) }]);
      expect(JSON.stringify(errors)).toContain('no space left');
      expect(JSON.stringify(logged)).not.toContain(REPLY);
    });
  });
});
