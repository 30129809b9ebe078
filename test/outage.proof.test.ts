/** End-to-end tests of killed processes: the others keep serving, and no charge is lost or made twice. */
import { setTimeout as sleep } from 'node:timers/promises';
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';
import { addCustomer, addUpstream, startHouse } from './house.ts';
import type { House } from './house.ts';
import { ask, CLIENTS, compare, traffic } from './house/traffic.ts';

/** Generous, because the machine may be busy; on an idle machine a test takes seconds. */
const TEST_MS = 120_000;
const SETTLED_WITHIN_MS = 60_000;

let database: TestDatabase;
let house: House;
const mock = new LLMock({ host: '127.0.0.1', port: 0, logLevel: 'silent', latency: 5, chunkSize: 20 });

beforeAll(async () => {
  mock.on({ predicate: () => true }, { content: 'word '.repeat(60) });
  await mock.start();
  database = await createTestDatabase();
  house = await startHouse({ databaseUrl: database.url });
  await addUpstream(house, { baseUrl: `${mock.url}/v1`, models: ['budget'] });
});

afterAll(async () => {
  await house?.stop();
  await mock.stop();
  await database?.drop();
});

describe('a node whose control plane is killed under traffic', () => {
  it(
    'keeps serving from its leases, and settles everything afterwards',
    async () => {
      const customer = await addCustomer(house, '100');
      const load = traffic(house.url, customer);
      await load.ended(100);
      await house.control.kill();
      await load.ended(150);
      await house.restartControl();
      await load.ended(200);
      await load.stop();
      await compare(house, { customer, seen: load.seen, cutAtMost: 0 });
    },
    TEST_MS,
  );
});

describe('a node that is killed under traffic', () => {
  it(
    'loses no charge and charges nothing twice',
    async () => {
      const customer = await addCustomer(house, '100');
      const load = traffic(house.url, customer);
      await load.ended(50);
      await house.nodes[0]?.process.kill();
      await house.nodes[0]?.restart();
      await load.ended(100);
      await load.stop();
      await compare(house, { customer, seen: load.seen, cutAtMost: CLIENTS });
    },
    TEST_MS,
  );
});

describe('a node whose control plane is down', () => {
  it(
    'lists models from its file after a restart, refuses unknown keys, and answers 503 to paid requests',
    async () => {
      const customer = await addCustomer(house, '100');
      await house.control.kill();
      const [node] = house.nodes;
      await node?.process.kill();
      await node?.restart();
      expect((await ask(house.url, customer)).status).toBe(503);
      expect((await ask(house.url, { ...customer, key: `sk-${'0'.repeat(48)}` })).status).toBe(401);
      const models = await fetch(`${house.url}/v1/models`, {
        headers: { authorization: `Bearer ${customer.key}` },
      });
      expect(models.status).toBe(200);
      await house.restartControl();
      const until = Date.now() + SETTLED_WITHIN_MS;
      let status = 503;
      while (status !== 200 && Date.now() < until) {
        ({ status } = await ask(house.url, customer));
        if (status !== 200) await sleep(200);
      }
      expect(status).toBe(200);
    },
    TEST_MS,
  );
});
