/**
 * What the house does when one of its processes dies: nothing crashes, no charge is lost, none is doubled.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEmptyDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';
import { addCustomer, addUpstream, startHouse } from './house.ts';
import type { House } from './house.ts';
import { ask, CLIENTS, compare, traffic } from './house/traffic.ts';

/** On a machine that does nothing else, seconds. */
const TEST_MS = 120_000;
const SETTLED_WITHIN_MS = 60_000;

let database: TestDatabase;
let house: House;
const mock = new LLMock({ host: '127.0.0.1', port: 0, logLevel: 'silent', latency: 5, chunkSize: 20 });

beforeAll(async () => {
  mock.on({ predicate: () => true }, { content: 'word '.repeat(60) });
  await mock.start();
  database = await createEmptyDatabase();
  house = await startHouse({ databaseUrl: database.url });
  await addUpstream(house, { baseUrl: `${mock.url}/v1`, models: ['budget'] });
});

afterAll(async () => {
  await house?.stop();
  await mock.stop();
  await database?.drop();
});

describe('the control plane is killed under traffic', () => {
  it(
    'the node serves on from its leases, and everything is settled afterwards',
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

  it(
    'a node restarted meanwhile refuses and lists from its file; paid requests get 503',
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

describe('the node is killed under traffic', () => {
  it(
    'no charge is lost and none is doubled',
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
