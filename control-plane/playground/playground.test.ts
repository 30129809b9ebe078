/** Tests the Playground over the real app, with a fake data plane. */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from 'graphql-ws';
import type { Client } from 'graphql-ws';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { readPlaygroundPass } from '@gateway/shared/playground-pass';
import { digestOf } from '@gateway/shared/secrets';
import { codesOf, pick, startTestApp } from '../../test/control/app.ts';
import type { Answer, Browser, TestApp } from '../../test/control/app.ts';
import { query, sql } from '../database/sql.ts';
import { hiddenKeyOf, passKeyOf } from './hidden-key.ts';

interface DataRequest {
  headers: IncomingMessage['headers'];
  body: { model: string; messages: { role: string; content: unknown }[] };
  response: ServerResponse;
}

/** Requests that the fake data plane received, oldest first. */
let requests: DataRequest[] = [];
/** Answers each request; set by the tests. */
let answer: (request: DataRequest) => void;
let dataPlane: Server;
let test: TestApp;
let ann: Browser;
let annId: string;
let socket: Client;
let number = 0;

beforeAll(async () => {
  dataPlane = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on('end', () => {
      const body = JSON.parse(text) as DataRequest['body'];
      const received = { headers: request.headers, body, response };
      requests.push(received);
      answer(received);
    });
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
  requests = [];
  answer = ({ response }) => sendWhole(response, 'An answer.');
  number += 1;
  ann = await test.user(`ann-${number}@example.com`);
  annId = pick<string>(await ann.send('{ viewer { id } }'), 'viewer', 'id');
  const { cookie } = ann;
  class WithCookie extends WebSocket {
    constructor(address: string, protocols: string[]) {
      super(address, protocols, { headers: { cookie: cookie ?? '' } });
    }
  }
  socket = createClient({ url: test.url.replace('http', 'ws') + '/graphql', webSocketImpl: WithCookie });
});

afterEach(() => socket.dispose());

function begin(response: ServerResponse): void {
  number += 1;
  response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': `request-${number}` });
}

function sendText(response: ServerResponse, content: string): void {
  response.write(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`);
}

function sendWhole(response: ServerResponse, content: string): void {
  begin(response);
  for (const word of content.split(/(?<= )/)) sendText(response, word);
  response.end('data: [DONE]\n\n');
}

async function call(browser: Browser, mutation: string, type: string, input: object): Promise<Answer> {
  const fields: Record<string, string> = {
    messageSend: 'userMessage { id content } reply { id state } price replayed',
    messageRegenerate: 'userMessage { id } reply { id state } price replayed',
    messageStop: 'message { id state content }',
    conversationCreate: 'conversation { id stored temporary }',
    conversationRename: 'conversation { id title }',
    conversationDelete: 'deletedIds personalIntelligence { storedConversationCount }',
    conversationsDeleteAll: 'deletedIds',
    personalSwitchSet: 'personalIntelligence { storing switches { kind enabled changedAt } }',
  };
  const text = `mutation ($input: ${type}!) { ${mutation}(input: $input) {
    ${fields[mutation]} userErrors { code message } } }`;
  return browser.send(text, { input });
}

async function chat(input: object = {}, browser = ann): Promise<string> {
  const made = await call(browser, 'conversationCreate', 'ConversationCreateInput', {
    modelName: 'budget',
    ...input,
  });
  return pick<string>(made, 'conversationCreate', 'conversation', 'id');
}

async function send(conversationId: string, content: string, more: object = {}): Promise<string> {
  const sent = await call(ann, 'messageSend', 'MessageSendInput', {
    conversationId,
    content,
    idempotencyKey: `send-${(number += 1)}`,
    ...more,
  });
  return pick<string>(sent, 'messageSend', 'reply', 'id');
}

type Event = { __typename: string; seq: number; text?: string; message?: Record<string, unknown> } & Record<
  string,
  unknown
>;

async function follow(messageId: string, afterSeq = 0, until = (_event: Event) => false): Promise<Event[]> {
  const events: Event[] = [];
  const results = socket.iterate<{ messageStream: Event }>({
    query: `subscription ($id: ID!, $after: Int!) { messageStream(messageId: $id, afterSeq: $after) {
      __typename ... on MessageTextDelta { seq text } ... on MessageReasoningDelta { seq text }
      ... on MessageCompleted { seq message { state content reasoning } }
      ... on MessageFailed { seq errorCode error { code message } retryable
        message { state content error } } } }`,
    variables: { id: messageId, after: afterSeq },
  });
  for await (const { data, errors } of results) {
    if (errors) throw new Error(JSON.stringify(errors));
    if (!data) continue;
    events.push(data.messageStream);
    if (until(data.messageStream)) break;
  }
  return events;
}

const setSwitch = (kind: string, enabled: boolean): Promise<Answer> =>
  call(ann, 'personalSwitchSet', 'PersonalSwitchInput', { kind, enabled });

async function stored(): Promise<{ conversations: number; messages: number }> {
  const [row] = await query<{ conversations: number; messages: number }>(
    test.orm.em.fork(),
    sql`select (select count(*)::int from conversation where user_id = ${annId}) as conversations,
      (select count(*)::int from conversation_message m join conversation c on c.id = m.conversation_id
        where c.user_id = ${annId}) as messages`,
  );
  if (!row) throw new Error('The count returned no row.');
  return row;
}

describe('a message', () => {
  it('is sent to the data plane with the hidden key of its user and a pass with source and IP', async () => {
    const replyId = await send(await chat(), 'Good day');
    const events = await follow(replyId);
    expect(events.at(-1)).toMatchObject({
      __typename: 'MessageCompleted',
      message: { state: 'COMPLETE', content: 'An answer.' },
    });
    const [request] = requests;
    const key = hiddenKeyOf(annId, test.settings);
    expect(request?.headers.authorization).toBe(`Bearer ${key.secret}`);
    const pass = String(request?.headers['x-gateway-playground-pass']);
    expect(readPlaygroundPass(passKeyOf(test.settings), pass, Date.now())).toMatchObject({
      source: 'PLAYGROUND',
      ip: '127.0.0.1',
      keyId: key.id,
    });
    expect(request?.body).toEqual({
      model: 'budget',
      stream: true,
      messages: [{ role: 'user', content: 'Good day' }],
    });
  });

  it('is sent with the system prompt and the parameters, also when its reply is written again', async () => {
    await call(ann, 'personalSwitchSet', 'PersonalSwitchInput', { kind: 'WORKING_ON', enabled: true });
    const settings = {
      ...{ systemPrompt: 'Answer as a pirate.', temperature: 0.4, maxTokens: 300, topP: 0.9 },
      ...{ effort: 'LOW', stop: ['END'], seed: 7 },
    };
    const replyId = await send(await chat(), 'Good day', { settings });
    await follow(replyId);
    expect(requests[0]?.body).toEqual({
      ...{ model: 'budget', stream: true, temperature: 0.4, max_completion_tokens: 300, top_p: 0.9 },
      ...{ reasoning_effort: 'low', stop: ['END'], seed: 7 },
      messages: [
        { role: 'system', content: 'Answer as a pirate.' },
        { role: 'user', content: 'Good day' },
      ],
    });
    const again = { messageId: replyId, settings: { systemPrompt: 'Be brief.' }, idempotencyKey: 'again' };
    const regenerated = await call(ann, 'messageRegenerate', 'MessageRegenerateInput', again);
    await follow(pick<string>(regenerated, 'messageRegenerate', 'reply', 'id'));
    expect(requests[1]?.body.messages[0]).toEqual({ role: 'system', content: 'Be brief.' });
  });

  it('publishes the hidden key in the default group to nodes, and no list shows the key', async () => {
    await follow(await send(await chat(), 'Good day'));
    const [row] = await query<{ payload: Record<string, unknown> }>(
      test.orm.em.fork(),
      sql`select payload from config_log where key = ${hiddenKeyOf(annId, test.settings).id}`,
    );
    const digest = digestOf(hiddenKeyOf(annId, test.settings).secret);
    expect(row?.payload).toMatchObject({ hidden: true, group: 'default', enabled: true, digest });
    const keys = await ann.send('{ viewer { apiKeys { totalCount } } }');
    expect(keys.data).toEqual({ viewer: { apiKeys: { totalCount: 0 } } });
  });

  it('returns its price, and is sent once when the mutation is repeated', async () => {
    const input = { conversationId: await chat(), content: 'Good day', idempotencyKey: 'once' };
    const sends = [1, 2, 3].map(() => call(ann, 'messageSend', 'MessageSendInput', input));
    const answers = await Promise.all(sends);
    const ids = answers.map((result) => pick<string>(result, 'messageSend', 'reply', 'id'));
    expect(new Set(ids).size).toBe(1);
    const replayed = answers.filter((result) => pick<boolean>(result, 'messageSend', 'replayed'));
    expect(replayed).toHaveLength(2);
    expect(pick(answers[0] as Answer, 'messageSend', 'price')).toBe('0.03');
    await follow(ids[0] ?? '');
    expect(requests).toHaveLength(1);
    const other = await call(ann, 'messageSend', 'MessageSendInput', { ...input, content: 'Another' });
    expect(codesOf(other, 'messageSend')).toEqual(['IDEMPOTENCY_MISMATCH']);
  });

  it('is streamed while it is written, and a reconnected follower continues where it stopped', async () => {
    answer = ({ response }) => {
      begin(response);
      sendText(response, 'One ');
    };
    const replyId = await send(await chat(), 'Count');
    const [first] = await follow(replyId, 0, () => true);
    expect(first).toMatchObject({ __typename: 'MessageTextDelta', seq: 1, text: 'One ' });
    const { response } = requests[0] ?? {};
    if (!response) throw new Error('The data plane received no request.');
    sendText(response, 'two ');
    sendText(response, 'three.');
    response.end('data: [DONE]\n\n');
    const rest = await follow(replyId, 1);
    expect(
      rest
        .slice(0, -1)
        .map((event) => event.text)
        .join(''),
    ).toBe('two three.');
    const again = await follow(replyId);
    expect(again.slice(0, -1)).toMatchObject([{ seq: 3, text: 'One two three.' }]);
    expect(again.at(-1)).toMatchObject({ __typename: 'MessageCompleted', seq: 4 });
  });

  it('is stopped at the data plane too, and keeps the text so far', async () => {
    answer = ({ response }) => {
      begin(response);
      sendText(response, 'Half of');
    };
    const replyId = await send(await chat(), 'Tell');
    await follow(replyId, 0, () => true);
    const closed = new Promise((resolve) => requests[0]?.response.on('close', resolve));
    await call(ann, 'messageStop', 'IdInput', { id: replyId });
    await closed;
    expect((await follow(replyId)).at(-1)).toMatchObject({
      __typename: 'MessageCompleted',
      message: { state: 'STOPPED', content: 'Half of' },
    });
  });

  it.each([
    ['loses its connection', (response: ServerResponse) => response.destroy(), 'UPSTREAM_FAILED'],
    ['ends without [DONE]', (response: ServerResponse) => response.end(), 'UPSTREAM_FAILED'],
    [
      'ends with an error event',
      (response: ServerResponse) =>
        response.end('data: {"error":{"code":"upstream_failed","message":"It broke."}}\n\n'),
      'UPSTREAM_FAILED',
    ],
  ])('fails if its stream %s', async (_how, end, code) => {
    answer = ({ response }) => {
      begin(response);
      sendText(response, 'Half');
      setTimeout(() => end(response), 50);
    };
    const events = await follow(await send(await chat(), 'Tell'));
    expect(events.at(-1)).toMatchObject({
      __typename: 'MessageFailed',
      errorCode: code,
      error: { code },
      retryable: true,
      message: { state: 'FAILED' },
    });
  });

  it('fails with INSUFFICIENT_BALANCE and is not retryable if the wallet is empty', async () => {
    answer = ({ response }) => {
      response.writeHead(402, { 'content-type': 'application/json' });
      response.end('{"error":{"code":"insufficient_quota","message":"Top up the wallet."}}');
    };
    expect((await follow(await send(await chat(), 'Tell'))).at(-1)).toMatchObject({
      errorCode: 'INSUFFICIENT_BALANCE',
      error: { code: 'INSUFFICIENT_BALANCE', message: 'Top up the wallet.' },
      retryable: false,
      message: { error: 'Top up the wallet.' },
    });
  });

  it('is sent again while the node does not know the key yet', async () => {
    answer = ({ response }) => {
      if (requests.length > 2) return sendWhole(response, 'Now.');
      response.writeHead(401).end('{}');
    };
    expect((await follow(await send(await chat(), 'Tell'))).at(-1)).toMatchObject({
      message: { content: 'Now.' },
    });
  });

  it('is sent with pictures only to models that accept images', async () => {
    const attachments = [{ mimeType: 'image/png', dataBase64: 'iVBORw0KGgo=' }];
    const blind = { conversationId: await chat(), content: 'Look', attachments, idempotencyKey: 'blind' };
    expect(codesOf(await call(ann, 'messageSend', 'MessageSendInput', blind), 'messageSend')).toEqual([
      'MODEL_UNAVAILABLE',
    ]);
    await follow(await send(await chat({ modelName: 'balanced' }), 'Look', { attachments }));
    expect(requests[0]?.body.messages[0]?.content).toEqual([
      { type: 'text', text: 'Look' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
    ]);
  });

  it('is refused if it is empty or malformed, or names an unknown chat or model', async () => {
    const id = await chat();
    const code = async (input: object): Promise<string[]> =>
      codesOf(
        await call(ann, 'messageSend', 'MessageSendInput', {
          conversationId: id,
          content: 'x',
          idempotencyKey: `bad-${(number += 1)}`,
          ...input,
        }),
        'messageSend',
      );
    expect(await code({ content: ' ' })).toEqual(['REQUIRED']);
    expect(await code({ content: 'a\0b' })).toEqual(['INVALID']);
    expect(await code({ modelName: 'nope' })).toEqual(['MODEL_UNAVAILABLE']);
    expect(await code({ conversationId: 'con_01ARZ3NDEKTSV4RRFFQ69G5FAV' })).toEqual(['NOT_FOUND']);
    expect(await code({ attachments: [{ mimeType: 'text/html', dataBase64: 'AAAA' }] })).toEqual(['INVALID']);
    expect(requests).toHaveLength(0);
  });
});

describe('the storing of chats', () => {
  it('is off by default: nothing is stored, and the client sends the earlier messages', async () => {
    const id = await chat();
    await follow(await send(id, 'Good day'));
    await follow(
      await send(id, 'And now?', {
        history: [
          { role: 'USER', content: 'Good day' },
          { role: 'ASSISTANT', content: 'An answer.' },
        ],
      }),
    );
    expect(requests[1]?.body.messages.map((message) => message.content)).toEqual([
      'Good day',
      'An answer.',
      'And now?',
    ]);
    expect(await stored()).toEqual({ conversations: 0, messages: 0 });
  });

  it('starts with the first switch and ends with the last, from the next message', async () => {
    const on = await setSwitch('WORKING_ON', true);
    expect(pick(on, 'personalSwitchSet', 'personalIntelligence')).toMatchObject({ storing: true });
    const id = await chat();
    await follow(await send(id, 'Keep this'));
    await follow(await send(id, 'And this'));
    expect(requests[1]?.body.messages.map((message) => message.content)).toEqual([
      'Keep this',
      'An answer.',
      'And this',
    ]);
    expect(await stored()).toEqual({ conversations: 1, messages: 4 });
    await setSwitch('WORKING_ON', false);
    await follow(await send(id, 'Not this'));
    await follow(await send(await chat(), 'Nor this'));
    expect(await stored()).toEqual({ conversations: 1, messages: 4 });
  });

  it('excludes temporary chats, and chats with messages that were not stored', async () => {
    const early = await chat();
    await follow(await send(early, 'Before'));
    await setSwitch('WORKING_ON', true);
    await follow(await send(early, 'After'));
    await follow(await send(await chat({ temporary: true }), 'Whisper'));
    expect(await stored()).toEqual({ conversations: 0, messages: 0 });
  });

  it('is refused by the database while all switches are off', async () => {
    const em = test.orm.em.fork();
    await query(em, sql`insert into conversation values ('con_x', ${annId}, '', 'budget', now(), now())`);
    await expect(
      query(
        em,
        sql`insert into conversation_message (id, conversation_id, role, content, state, created_at)
          values ('msg_x', 'con_x', 'USER', 'x', 'COMPLETE', now())`,
      ),
    ).rejects.toThrow('nothing is stored');
  });

  it('lets users search, rename, regenerate and delete, also while a reply is written', async () => {
    await setSwitch('PREFERENCE_PROFILE', true);
    const id = await chat();
    const replyId = await send(id, 'A quartz question');
    await follow(replyId);
    const list = async (search: string): Promise<string[]> =>
      pick<{ title: string }[]>(
        await ann.send(
          `query ($search: String) { viewer { playground { conversations(search: $search) {
            nodes { title } } } } }`,
          { search },
        ),
        'viewer',
        'playground',
        'conversations',
        'nodes',
      ).map((node) => node.title);
    expect(await list('QUARTZ')).toEqual(['A quartz question']);
    expect(await list('an answer')).toEqual(['A quartz question']);
    expect(await list('100%')).toEqual([]);
    await call(ann, 'conversationRename', 'RenameInput', { id, title: 'Stones' });
    expect(await list('stones')).toEqual(['Stones']);
    const again = { messageId: replyId, modelName: 'swift', idempotencyKey: 'again' };
    const repeated = await call(ann, 'messageRegenerate', 'MessageRegenerateInput', again);
    await follow(pick<string>(repeated, 'messageRegenerate', 'reply', 'id'));
    expect(requests[1]?.body).toMatchObject({
      model: 'swift',
      messages: [{ role: 'user', content: 'A quartz question' }],
    });
    expect(await stored()).toEqual({ conversations: 1, messages: 3 });
    answer = ({ response }) => {
      begin(response);
      sendText(response, 'Long');
    };
    const running = await send(id, 'More');
    await follow(running, 0, () => true);
    const gone = await call(ann, 'conversationDelete', 'ConversationDeleteInput', { id });
    expect(pick(gone, 'conversationDelete', 'personalIntelligence')).toEqual({ storedConversationCount: 0 });
    expect(await stored()).toEqual({ conversations: 0, messages: 0 });
    await expect(follow(running)).rejects.toThrow('Unknown reply');
    const [left] = await query<{ count: number }>(
      test.orm.em.fork(),
      sql`select count(*)::int as count from conversation_message where id = ${running}`,
    );
    expect(left?.count).toBe(0);
  });

  it('deletes all chats only after the word DELETE', async () => {
    await setSwitch('WORKING_ON', true);
    await follow(await send(await chat(), 'One'));
    await follow(await send(await chat(), 'Two'));
    const all = (confirm: string): Promise<Answer> =>
      call(ann, 'conversationsDeleteAll', 'ConversationsDeleteAllInput', { confirm });
    expect(codesOf(await all('yes'), 'conversationsDeleteAll')).toEqual(['INVALID']);
    expect(pick<string[]>(await all('DELETE'), 'conversationsDeleteAll', 'deletedIds')).toHaveLength(2);
    expect(await stored()).toEqual({ conversations: 0, messages: 0 });
  });
});

describe('chats of another user', () => {
  it('get the same errors as chats that do not exist, also for administrators', async () => {
    await setSwitch('WORKING_ON', true);
    const id = await chat();
    const replyId = await send(id, 'Private');
    await follow(replyId);
    for (const other of [await test.user(`bob-${number}@example.com`), await test.admin()]) {
      const code = async (mutation: string, type: string, input: object): Promise<string[]> =>
        codesOf(await call(other, mutation, type, input), mutation);
      expect(await code('conversationDelete', 'ConversationDeleteInput', { id })).toEqual(['NOT_FOUND']);
      expect(await code('conversationRename', 'RenameInput', { id, title: 'x' })).toEqual(['NOT_FOUND']);
      expect(await code('messageStop', 'IdInput', { id: replyId })).toEqual(['NOT_FOUND']);
      const send = { conversationId: id, content: 'x', idempotencyKey: 'x' };
      expect(await code('messageSend', 'MessageSendInput', send)).toEqual(['NOT_FOUND']);
      const node = await other.send('query ($id: ID!) { node(id: $id) { id } }', { id });
      expect(node.data).toEqual({ node: null });
    }
    const admin = await test.admin();
    const seen = await admin.send(`{ admin { user(id: "${annId}") { playground { storing } } } }`);
    expect(seen.errors[0]?.extensions.code).toBe('FORBIDDEN');
  });
});
