/** End-to-end test of a dedicated pool: bought through the API, served by two nodes, capped over both. */
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';
import { addUpstream, startHouse } from './house.ts';
import type { House } from './house.ts';
import { addPool } from './house/pool.ts';
import type { HousePool } from './house/pool.ts';
import { startUpstream } from './upstream.ts';
import type { FakeUpstream } from './upstream.ts';

const CAP = 5;
const ANSWER = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'budget',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
});

let database: TestDatabase;
let house: House;
let upstream: FakeUpstream;
let pool: HousePool;

beforeAll(async () => {
  upstream = await startUpstream(() => ({ chunks: [ANSWER] }));
  database = await createTestDatabase();
  house = await startHouse({ databaseUrl: database.url, nodes: 2 });
  await addUpstream(house, { baseUrl: `${upstream.origin}/v1`, models: ['budget'] });
  pool = await addPool(house, { model: 'budget', rpmCap: CAP });
}, 120_000);

afterAll(async () => {
  await house?.stop();
  await upstream?.close();
  await database?.drop();
});

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
}

function ask(node: number, host = pool.host): Promise<Answer> {
  const headers = { host, authorization: `Bearer ${pool.key}`, 'content-type': 'application/json' };
  const url = `${house.nodes[node]?.url}/v1/chat/completions`;
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method: 'POST', headers }, (response) => {
      response.resume();
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers }));
    });
    request.on('error', reject);
    request.end(JSON.stringify({ model: 'budget', messages: [{ role: 'user', content: 'Hi' }] }));
  });
}

async function eventually(check: () => Promise<boolean>): Promise<void> {
  while (!(await check())) await new Promise((resolve) => setTimeout(resolve, 50));
}

describe('a pool of five requests a minute on two nodes', () => {
  it('admits five concurrent requests, and answers 429 with retry headers to the others', async () => {
    // The nodes have just received the pool: until they have promised, a request waits and may get 503.
    await eventually(async () => (await ask(0)).status === 200);
    const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => ask(at % 2)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(CAP - 1);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([429]));
    expect(upstream.seen).toHaveLength(CAP);
    for (const { headers } of refused) {
      expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(Number(headers['retry-after-ms'])).toBeGreaterThan(0);
      expect(headers['ratelimit-policy']).toBe(`"pool";q=${CAP};w=60`);
      expect(headers['x-ratelimit-remaining-requests']).toBe('0');
    }
  });

  it('has free and throttled requests in the usage log, at no cost', async () => {
    const count = async (status: string): Promise<number> => {
      const { rows } = await house.database.query<{ count: number }>(
        'select count(*)::int as count from usage_entry where pool_id = $1 and status = $2 and cost = 0',
        [pool.id, status],
      );
      return rows[0]?.count ?? 0;
    };
    // Each node reports the first refusal of the key at once, and the others together a minute later.
    await eventually(async () => (await count('SUCCEEDED')) === CAP && (await count('THROTTLED')) === 2);
    const seen = async () => {
      const document = 'query ($id: ID!) { pool: node(id: $id) { ... on Pool { rpmPeak24h throttled24h } } }';
      const data = await pool.owner.api.query<{ pool: { rpmPeak24h: number; throttled24h: number } }>(
        document,
        { id: pool.id },
      );
      return data.pool;
    };
    // Nodes report used permits at least once a second.
    await eventually(async () => (await seen()).rpmPeak24h >= CAP);
    expect(await seen()).toEqual({ rpmPeak24h: CAP, throttled24h: 2 });
  });

  it('answers 403 to its keys on the main domain', async () => {
    expect((await ask(0, 'localhost:8080')).status).toBe(403);
  });

  it('admits nothing beyond the cap while the control plane is down', async () => {
    await house.control.kill();
    const answers = await Promise.all(Array.from({ length: 6 }, (_, at) => ask(at % 2)));
    expect(answers.filter(({ status }) => status === 200)).toEqual([]);
    for (const { headers } of answers) expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(upstream.seen).toHaveLength(CAP);
    await house.restartControl();
  });
});
