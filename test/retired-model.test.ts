/** A pool goes on serving a model that it froze after the catalog retired it, as long as a route is there. */
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createEmptyDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';
import { addCustomer, addUpstream, startHouse } from './house.ts';
import type { House } from './house.ts';
import { addPool } from './house/pool.ts';
import type { HousePool } from './house/pool.ts';
import { startUpstream } from './upstream.ts';
import type { FakeUpstream } from './upstream.ts';

const MAIN = 'localhost:8080';
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
let mainKey: string;

beforeAll(async () => {
  upstream = await startUpstream(() => ({ chunks: [ANSWER] }));
  database = await createEmptyDatabase();
  house = await startHouse({ databaseUrl: database.url });
  await addUpstream(house, { baseUrl: `${upstream.origin}/v1`, models: ['budget'] });
  pool = await addPool(house, { model: 'budget', rpmCap: 600 });
  mainKey = (await addCustomer(house, '10')).key;
}, 120_000);

afterAll(async () => {
  await house?.stop();
  await upstream?.close();
  await database?.drop();
});

interface Answered {
  status: number;
  text: string;
}

/** `body` undefined: the list of models. */
function ask(host: string, key: string, body?: object): Promise<Answered> {
  const headers = { host, authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const url = `${house.nodes[0]?.url}${body ? '/v1/chat/completions' : '/v1/models'}`;
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method: body ? 'POST' : 'GET', headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      );
    });
    request.on('error', reject);
    request.end(body && JSON.stringify(body));
  });
}

const chat = (host: string, key: string): Promise<Answered> =>
  ask(host, key, { model: 'budget', messages: [{ role: 'user', content: 'Hi' }] });

const modelNames = async (host: string, key: string): Promise<string[]> =>
  (JSON.parse((await ask(host, key)).text) as { data: { id: string }[] }).data.map(({ id }) => id);

/** A node that has just heard of its first pool promises first: until then a request may be told 503. */
async function servedBy(host: string, key: string): Promise<void> {
  while ((await chat(host, key)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 50));
}

interface RouteOfModel {
  id: string;
  model: { id: string; name: string; frozenInPools: number };
  pools: { id: string }[];
}

async function routes(): Promise<RouteOfModel[]> {
  const { admin } = await house.admin.query<{ admin: { routes: RouteOfModel[] } }>(
    'query { admin { routes { id model { id name frozenInPools } pools { id } } } }',
  );
  return admin.routes.filter(({ model }) => model.name === 'budget');
}

it('serves a retired model on the pool alone: the main domain answers 404 and lists it no more', async () => {
  await servedBy(pool.host, pool.key);
  expect((await chat(MAIN, mainKey)).status).toBe(200);
  const [route] = await routes();
  expect(route).toMatchObject({ model: { frozenInPools: 1 }, pools: [{ id: pool.id }] });
  await house.admin.mutate(
    'adminModelSetState',
    { id: route?.model.id, state: 'RETIRED', reason: 'test' },
    'model { id }',
  );
  await house.applied();
  const refused = await chat(MAIN, mainKey);
  expect(refused.status).toBe(404);
  expect(JSON.parse(refused.text)).toMatchObject({ error: { code: 'model_not_found' } });
  expect(await modelNames(MAIN, mainKey)).not.toContain('budget');
  const served = upstream.seen.length;
  expect((await chat(pool.host, pool.key)).status).toBe(200);
  expect(upstream.seen).toHaveLength(served + 1);
  expect(await modelNames(pool.host, pool.key)).toEqual(['budget']);
});

it('blames the operator and not the client once the last route is gone', async () => {
  const remove = 'mutation ($input: AdminReasonInput!) { adminRouteDelete(input: $input) { ok } }';
  for (const { id } of await routes())
    expect(await house.admin.query(remove, { input: { id, reason: 'test' } })).toEqual({
      adminRouteDelete: { ok: true },
    });
  await house.applied();
  const refused = await chat(pool.host, pool.key);
  expect(refused.status).toBe(503);
  expect(refused.text).toContain('No upstream serves budget any more. Ask the operator');
});
