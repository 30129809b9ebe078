/** Tests that a pool serves its models after the catalog retired them, as long as they have a route. */
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addCustomer, addUpstream } from './house.ts';
import type { House } from './house.ts';
import { openSharedHouse } from './house/shared.ts';
import { addPool } from './house/pool.ts';
import type { HousePool } from './house/pool.ts';
import { startUpstream } from './upstream.ts';
import type { FakeUpstream } from './upstream.ts';

const MODEL = 'reasoner';
const ANSWER = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: MODEL,
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
});

let house: House;
let upstream: FakeUpstream;
let pool: HousePool;
/** Host header of clients outside pools. */
let main: string;
let mainKey: string;
let modelId: string | undefined;

beforeAll(async () => {
  upstream = await startUpstream(() => ({ chunks: [ANSWER] }));
  house = await openSharedHouse();
  await addUpstream(house, { baseUrl: `${upstream.origin}/v1`, models: [MODEL] });
  pool = await addPool(house, { model: MODEL, rpmCap: 600 });
  main = `localhost:${house.nodes[0]?.process.port}`;
  mainKey = (await addCustomer(house, '10')).key;
}, 120_000);

afterAll(async () => {
  await upstream?.close();
  if (modelId) await setState('PUBLISHED');
});

interface Answer {
  status: number;
  text: string;
}

/** Sends a chat completion, or requests the list of models if `body` is undefined. */
function ask(host: string, key: string, body?: object): Promise<Answer> {
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

const chat = (host: string, key: string): Promise<Answer> =>
  ask(host, key, { model: MODEL, messages: [{ role: 'user', content: 'Hi' }] });

const modelNames = async (host: string, key: string): Promise<string[]> =>
  (JSON.parse((await ask(host, key)).text) as { data: { id: string }[] }).data.map(({ id }) => id);

/** Waits until the node serves its first pool; until it has permits, requests are answered with 503. */
async function waitUntilServed(host: string, key: string): Promise<void> {
  while ((await chat(host, key)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 50));
}

async function setState(state: string): Promise<void> {
  await house.admin.mutate('adminModelSetState', { id: modelId, state, reason: 'test' }, 'model { id }');
  await house.applied();
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
  return admin.routes.filter(({ model }) => model.name === MODEL);
}

describe('a retired model', () => {
  it('is served only by the pool; the main domain answers 404 and does not list it', async () => {
    await waitUntilServed(pool.host, pool.key);
    expect((await chat(main, mainKey)).status).toBe(200);
    const [route] = await routes();
    expect(route).toMatchObject({ model: { frozenInPools: 1 }, pools: [{ id: pool.id }] });
    modelId = route?.model.id;
    await setState('RETIRED');
    const refused = await chat(main, mainKey);
    expect(refused.status).toBe(404);
    expect(JSON.parse(refused.text)).toMatchObject({ error: { code: 'model_not_found' } });
    expect(await modelNames(main, mainKey)).not.toContain(MODEL);
    const served = upstream.seen.length;
    expect((await chat(pool.host, pool.key)).status).toBe(200);
    expect(upstream.seen).toHaveLength(served + 1);
    expect(await modelNames(pool.host, pool.key)).toEqual([MODEL]);
  });

  it('is refused with 503 and a hint to ask the operator after its last route is deleted', async () => {
    const remove = 'mutation ($input: AdminReasonInput!) { adminRouteDelete(input: $input) { ok } }';
    for (const { id } of await routes())
      expect(await house.admin.query(remove, { input: { id, reason: 'test' } })).toEqual({
        adminRouteDelete: { ok: true },
      });
    await house.applied();
    const refused = await chat(pool.host, pool.key);
    expect(refused.status).toBe(503);
    expect(refused.text).toContain(`No upstream serves ${MODEL} any more. Ask the operator`);
  });
});
