/**
 * Two control planes over one database behave as one: whoever asks the one hears of what the other did, and
 * one may die.
 */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LLMock } from '@copilotkit/aimock';
import { createClient } from 'graphql-ws';
import type { Client } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { findFreePort } from '../control-plane/local/ports.ts';
import { createEmptyDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';
import { addCustomer, addKey, addUpstream, ADMIN, startHouse, topUp } from './house.ts';
import type { Customer, House } from './house.ts';
import { apiClient } from './house/client.ts';
import type { ApiClient } from './house/client.ts';
import { addPool } from './house/pool.ts';
import { startProcess } from './house/process.ts';
import type { HouseProcess } from './house/process.ts';
import { ask, compare, traffic } from './house/traffic.ts';

const UNTIL_MS = 45_000;
/** Each control plane looks at pools every 10 s: in this time both have. */
const ROUND_MS = 11_000;
/** The base price of the seeded storefront, in micro-USD. */
const POOL_PRICE = 99_000_000;
const REPLY = 'word '.repeat(60);

let database: TestDatabase;
let house: House;
let second: HouseProcess;
let startSecond: () => Promise<HouseProcess>;
let secondUrl: string;
let customer: Customer;
/** The customer at the second control plane, by the same session. */
let there: ApiClient;
const mock = new LLMock({ host: '127.0.0.1', port: 0, logLevel: 'silent', latency: 15, chunkSize: 10 });

beforeAll(async () => {
  mock.on({ predicate: () => true }, { content: REPLY });
  await mock.start();
  database = await createEmptyDatabase();
  const dataPort = await findFreePort();
  const secondPort = await findFreePort();
  secondUrl = `http://127.0.0.1:${secondPort}`;
  const controlEnv = { SECRET_KEY: randomBytes(32).toString('base64url') };
  startSecond = () =>
    startProcess({
      entry: 'dist/control-plane/main.js',
      env: {
        ...controlEnv,
        DATABASE_URL: database.url,
        CONTROL_PORT: String(secondPort),
        DATA_URL: `http://127.0.0.1:${dataPort}`,
        ADMIN_EMAIL: ADMIN.email,
        ADMIN_PASSWORD: ADMIN.password,
        ALLOW_PRIVATE_UPSTREAMS: 'on',
        DEMO: 'off',
      },
      logFile: join(tmpdir(), `gateway-second-${secondPort}.log`),
    });
  // Both start at once on the empty database: they race for its migrations and seeds.
  [house, second] = await Promise.all([
    startHouse({
      databaseUrl: database.url,
      dataPort,
      controlEnv,
      // The node finds the second one first, and the first one after that.
      reachControl: async (url) => `${secondUrl},${url}`,
    }),
    startSecond(),
  ]);
  await addUpstream(house, { baseUrl: `${mock.url}/v1`, models: ['budget'] });
  customer = await addCustomer(house, '100');
  there = apiClient(secondUrl, customer.api.cookie());
}, 180_000);

afterAll(async () => {
  await house?.stop();
  await second?.stop();
  if (second) rmSync(second.logFile, { force: true });
  await mock.stop();
  await database?.drop();
});

/** Whom this person's subscriptions ask. */
function socketOf(url: string): Client {
  const cookie = customer.api.cookie();
  class WithCookie extends WebSocket {
    constructor(address: string, protocols: string[]) {
      super(address, protocols, { headers: { cookie } });
    }
  }
  return createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WithCookie,
    retryAttempts: 0,
  });
}

/**
 * What a subscription at the second control plane hears of what is done at the first. A subscription says
 * nothing when it begins: what was done too early for it is done again.
 */
async function heardThere(subscription: string, work: () => Promise<unknown>): Promise<unknown> {
  const socket = socketOf(secondUrl);
  const results = socket.iterate({ query: subscription });
  let heard: unknown;
  const hearing = results.next().then(({ value }) => {
    heard = value;
  });
  for (let attempt = 0; heard === undefined && attempt < 20; attempt += 1) {
    await work();
    await Promise.race([hearing, sleep(500)]);
  }
  await results.return?.();
  await socket.dispose();
  return heard;
}

async function until(condition: () => Promise<boolean>, what: string): Promise<void> {
  const end = Date.now() + UNTIL_MS;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`Not in time: ${what}.`);
    await sleep(50);
  }
}

const isServed = (who: Customer): Promise<void> =>
  until(async () => (await ask(house.url, who)).status === 200, 'the node serves');

describe('two control planes over one database', () => {
  it('migrate and seed it once, though they start together', async () => {
    const { rows } = await house.database.query<{ twice: number; models: number; admins: number }>(
      `select (select count(*) - count(distinct name) from mikro_orm_migrations)::integer as twice,
        (select count(*) from model)::integer as models,
        (select count(*) from users where role = 'ADMIN')::integer as admins`,
    );
    expect(rows[0]).toEqual({ twice: 0, models: 10, admins: 1 });
  });

  it('take the session of the other', async () => {
    const { viewer } = await there.query<{ viewer: { id: string } }>('query { viewer { id } }');
    expect(viewer.id).toBe(customer.userId);
  });

  it('confirm that a key is disabled at the node that is connected to the other', async () => {
    const other = await addCustomer(house, '1');
    await isServed(other);
    const { appliedNodes, pendingNodes } = await other.api.mutate<{
      appliedNodes: number;
      pendingNodes: object[];
    }>('apiKeyDisable', { id: other.keyId }, 'appliedNodes pendingNodes { id }');
    expect({ appliedNodes, pendingNodes }).toEqual({ appliedNodes: 1, pendingNodes: [] });
    expect((await ask(house.url, other)).status).toBe(403);
  });

  it('confirm that the old secret of a key is refused once its grace is ended, the new one not', async () => {
    const old = await addCustomer(house, '1');
    const { api, keyId } = old;
    await api.mutate('apiKeyRotate', { id: keyId, idempotencyKey: 'rotate' }, 'apiKey { id }');
    const { secret } = await api.mutate<{ secret: string }>('apiKeyReveal', { id: keyId }, 'secret');
    await isServed({ ...old, key: secret });
    await isServed(old);
    const { appliedNodes, pendingNodes } = await api.mutate<{ appliedNodes: number; pendingNodes: object[] }>(
      'apiKeyGraceEnd',
      { id: keyId },
      'appliedNodes pendingNodes { id }',
    );
    expect({ appliedNodes, pendingNodes }).toEqual({ appliedNodes: 1, pendingNodes: [] });
    expect((await ask(house.url, old)).status).toBe(401);
    expect((await ask(house.url, { ...old, key: secret })).status).toBe(200);
  });

  it('tell subscribers of the one what was done at the other', async () => {
    const wallet = await heardThere('subscription { walletUpdated { id } }', () =>
      topUp(house, customer.userId, '1'),
    );
    expect(wallet).toMatchObject({ data: { walletUpdated: { id: customer.walletId } } });
    const made: string[] = [];
    const key = await heardThere('subscription { apiKeyUpdated { id } }', async () => {
      made.push((await addKey(house, customer)).keyId);
    });
    expect(made).toContain((key as { data: { apiKeyUpdated: { id: string } } }).data.apiKeyUpdated.id);
  });
});

describe('work beside requests', () => {
  it('is done once: a pool that both want to renew is paid once', async () => {
    const pool = await addPool(house, { model: 'budget', rpmCap: 60 });
    const periods = async (): Promise<number> => {
      const { rows } = await house.database.query<{ count: number }>(
        'select count(*)::integer as count from pool_periods where pool_id = $1',
        [pool.id],
      );
      return rows[0]?.count ?? 0;
    };
    await house.database.query(
      `update pools set auto_renew = true, ends_at = now() + interval '20 hours' where id = $1`,
      [pool.id],
    );
    await until(async () => (await periods()) > 1, 'the pool is renewed');
    await sleep(ROUND_MS);
    expect(await periods()).toBe(2);
    const { rows } = await house.database.query<{ paid: string }>(
      `select sum(-e.amount)::text as paid from ledger_entry e join pools p using (wallet_id)
        where p.id = $1 and e.kind like 'POOL_%' and e.bucket = 'CASH'`,
      [pool.id],
    );
    expect(rows).toEqual([{ paid: String(2 * POOL_PRICE) }]);
  }, 120_000);
});

interface ReplyEvent {
  __typename: string;
  text?: string;
  message?: { state: string; content: string };
}

/** Follows a reply at one control plane to its end; `heard` is told of every event. */
async function follow(url: string, id: string, heard?: (event: ReplyEvent) => void): Promise<ReplyEvent[]> {
  const socket = socketOf(url);
  const events: ReplyEvent[] = [];
  const results = socket.iterate<{ messageStream: ReplyEvent }>({
    query: `subscription ($id: ID!) { messageStream(messageId: $id) {
      __typename ... on MessageTextDelta { text }
      ... on MessageCompleted { message { state content } }
      ... on MessageFailed { errorCode message { state error } } } }`,
    variables: { id },
  });
  for await (const { data, errors } of results) {
    if (errors) throw new Error(JSON.stringify(errors));
    if (data) events.push(data.messageStream);
    if (data) heard?.(data.messageStream);
  }
  await socket.dispose();
  return events;
}

const textOf = (events: ReplyEvent[]): string => events.map(({ text }) => text ?? '').join('');

async function newChat(): Promise<string> {
  const { conversation } = await customer.api.mutate<{ conversation: { id: string } }>(
    'conversationCreate',
    { modelName: 'budget', temporary: false },
    'conversation { id }',
  );
  return conversation.id;
}

interface Sent {
  reply: { id: string };
  replayed: boolean;
}

const send = (api: ApiClient, conversationId: string, idempotencyKey: string): Promise<Sent> =>
  api.mutate('messageSend', { conversationId, content: 'Hi', idempotencyKey }, 'reply { id } replayed');

describe('the Playground over two control planes', () => {
  // The node has credit of the wallet then, whatever else this machine does.
  beforeAll(() => isServed(customer), 60_000);

  it('answers in the one to a chat of the other, and is followed from both', async () => {
    const chat = await newChat();
    const sent = await send(there, chat, 'across');
    const [first, second] = await Promise.all([
      follow(house.controlUrl, sent.reply.id),
      follow(secondUrl, sent.reply.id),
    ]);
    for (const events of [first, second]) {
      expect(events.at(-1)?.message).toEqual({ state: 'COMPLETE', content: REPLY });
      expect(textOf(events)).toBe(REPLY);
    }
    const again = await send(customer.api, chat, 'across');
    expect(again).toMatchObject({ reply: { id: sent.reply.id }, replayed: true });
  });

  it('takes the chat back, and stops its reply from the other one while it is written', async () => {
    const chat = await newChat();
    const one = await send(there, chat, 'there first');
    await follow(secondUrl, one.reply.id);
    const two = await send(customer.api, chat, 'then here');
    const events = await follow(secondUrl, two.reply.id, ({ __typename }) => {
      if (__typename === 'MessageTextDelta')
        void there.mutate('messageStop', { id: two.reply.id }, 'message { id }');
    });
    expect(events.at(-1)?.message?.state).toBe('STOPPED');
  });

  it('shows nobody the replies of somebody else', async () => {
    const { reply } = await send(there, await newChat(), 'mine');
    const other = await addCustomer(house, '1');
    await expect(other.api.mutate('messageStop', { id: reply.id }, 'message { id }')).rejects.toThrow(
      'NOT_FOUND',
    );
    await follow(secondUrl, reply.id);
  });
});

describe('a control plane is killed', () => {
  it('a reply that it wrote ends as a failure where it is followed', async () => {
    const { reply } = await send(there, await newChat(), 'cut');
    let killed: Promise<void> | undefined;
    const events = await follow(house.controlUrl, reply.id, () => {
      killed ??= second.kill();
    });
    await killed;
    expect(events.at(-1)).toMatchObject({ __typename: 'MessageFailed', message: { state: 'FAILED' } });
    second = await startSecond();
    await until(
      async () => (await send(there, await newChat(), `again ${Date.now()}`)).reply.id !== '',
      'it serves again',
    );
  }, 120_000);

  it('its node goes on with the other: served, settled, and told of changes', async () => {
    // Somebody new, whose every request stands in `seen`.
    const busy = await addCustomer(house, '100');
    const load = traffic(house.url, busy);
    await load.ended(30);
    await second.kill();
    await load.ended(60);
    const other = await addCustomer(house, '1');
    await isServed(other);
    await load.stop();
    await compare(house, { customer: busy, seen: load.seen, cutAtMost: 0 });
  }, 120_000);
});
