/**
 * Two control planes over one database behave as one: whoever asks the one hears of what the other did, and one
 * may die.
 */
import { randomBytes } from 'node:crypto';
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
import { startProcess } from './house/process.ts';
import type { HouseProcess } from './house/process.ts';
import { ask, compare, traffic } from './house/traffic.ts';

const UNTIL_MS = 15_000;
const WORDS = 60;

let database: TestDatabase;
let house: House;
let second: HouseProcess;
let secondUrl: string;
let customer: Customer;
/** The customer at the second control plane, by the same session. */
let there: ApiClient;
const mock = new LLMock({ host: '127.0.0.1', port: 0, logLevel: 'silent', latency: 15, chunkSize: 10 });

beforeAll(async () => {
  mock.on({ predicate: () => true }, { content: 'word '.repeat(WORDS) });
  await mock.start();
  database = await createEmptyDatabase();
  const dataPort = await findFreePort();
  const secondPort = await findFreePort();
  secondUrl = `http://127.0.0.1:${secondPort}`;
  const controlEnv = { SECRET_KEY: randomBytes(32).toString('base64url') };
  const both = startProcess({
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
    logFile: join(process.env['TMPDIR'] ?? '/tmp', `gateway-second-${secondPort}.log`),
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
    both,
  ]);
  await addUpstream(house, { baseUrl: `${mock.url}/v1`, models: ['budget'] });
  customer = await addCustomer(house, '100');
  there = apiClient(secondUrl, customer.api.cookie());
}, 60_000);

afterAll(async () => {
  await house?.stop();
  await second?.stop();
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
  return createClient({ url: `${url.replace('http', 'ws')}/graphql`, webSocketImpl: WithCookie, retryAttempts: 0 });
}

/**
 * What a subscription at the second control plane hears of what is done at the first. A subscription says nothing
 * when it begins: what was done too early for it is done again.
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
    expect((await ask(house.url, other)).status).toBe(200);
    const { appliedNodes, pendingNodes } = await other.api.mutate<{ appliedNodes: number; pendingNodes: object[] }>(
      'apiKeyDisable',
      { id: other.keyId },
      'appliedNodes pendingNodes { id }',
    );
    expect({ appliedNodes, pendingNodes }).toEqual({ appliedNodes: 1, pendingNodes: [] });
    expect((await ask(house.url, other)).status).toBe(403);
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

describe('a control plane is killed', () => {
  it('its node goes on with the other: served, settled, and told of changes', async () => {
    const load = traffic(house.url, customer);
    await load.ended(30);
    await second.kill();
    await load.ended(60);
    const other = await addCustomer(house, '1');
    await until(async () => (await ask(house.url, other)).status === 200, 'the node knows the new key');
    await load.stop();
    await compare(house, { customer, seen: load.seen, cutAtMost: 0 });
  }, 60_000);
});
