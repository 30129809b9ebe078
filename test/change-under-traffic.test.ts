/** End-to-end tests of changes under traffic: price, group ratio, and the spend limit of a key. */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addCustomer, addUpstream } from './house.ts';
import type { Customer, House } from './house.ts';
import { openSharedHouse } from './house/shared.ts';

const SETTLED_WITHIN = { timeout: 20_000, interval: 50 };
const TEST_MS = 60_000;
const MODEL_FIELDS = `id version name displayName description tier traits contextTokens groups
  endpoints { family } pricePerRequest`;

let house: House;
let upstream: Server;
/** The upstream ends its streams when this resolves. */
let end = Promise.withResolvers<void>();

const part = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({ id: 'c1', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const ANSWER = JSON.stringify({
  id: 'c1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
});

beforeAll(async () => {
  upstream = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      if (!body.includes('"stream":true'))
        return void response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(part({ role: 'assistant', content: 'Hi' }, null));
      void end.promise.then(() => response.end(`${part({}, 'stop')}data: [DONE]\n\n`));
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  house = await openSharedHouse();
  const { port } = upstream.address() as AddressInfo;
  await addUpstream(house, { baseUrl: `http://127.0.0.1:${port}/v1`, models: ['budget'] });
}, TEST_MS);

afterAll(async () => {
  end.resolve();
  upstream.closeAllConnections();
  await new Promise((resolve) => upstream.close(resolve));
});

function ask({ key }: Customer, stream = false): Promise<Response> {
  return fetch(`${house.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'budget', stream, messages: [{ role: 'user', content: 'Hello' }] }),
  });
}

/** Starts a stream and waits for its first content. `rest` reads it to its end and returns the whole text. */
async function startedStream(
  customer: Customer,
): Promise<{ price: string | null; rest: () => Promise<string> }> {
  const response = await ask(customer, true);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const read = async (): Promise<boolean> => {
    const { value = '', done = true } = (await reader?.read()) ?? {};
    text += value;
    return !done;
  };
  while (!text.includes('Hi')) await read();
  return {
    price: response.headers.get('x-gateway-price-usd'),
    rest: async () => {
      while (await read());
      return text;
    },
  };
}

/** The charged requests. A refused one has a row without a cost, which may come at any time. */
async function usageOf({ keyId }: Customer): Promise<object[]> {
  const { rows } = await house.database.query<object>(
    `select base_price::int as base, ratio, cost::int, streamed from usage_entry
      where key_id = $1 and cost > 0 order by cost`,
    [keyId],
  );
  return rows;
}

async function setPrice(pricePerRequest: string): Promise<void> {
  const { catalog } = await house.admin.query<{
    catalog: { nodes: { name: string; endpoints: { family: string }[] }[] };
  }>(`query { catalog { nodes { ${MODEL_FIELDS} } } }`);
  const found = catalog.nodes.find(({ name }) => name === 'budget');
  if (!found) throw new Error('The catalog has no model "budget".');
  const { endpoints, ...model } = found;
  const families = [...new Set(endpoints.map(({ family }) => family))];
  const input = { ...model, families, pricePerRequest, reason: 'test' };
  await house.admin.mutate('adminModelUpsert', input, 'model { id }');
}

async function setRatio(ratio: string): Promise<void> {
  const { groupRatios } = await house.admin.query<{ groupRatios: { group: string; version: number }[] }>(
    'query { groupRatios { group version } }',
  );
  const version = groupRatios.find(({ group }) => group === 'DEFAULT')?.version;
  await house.admin.mutate(
    'adminGroupRatioSet',
    { group: 'DEFAULT', ratio, version, reason: 'test' },
    'groupRatio { ratio }',
  );
}

it(
  'a running stream keeps its price and ratio when they change; the next request has the new ones',
  async () => {
    const customer = await addCustomer(house, '10');
    end = Promise.withResolvers();
    const stream = await startedStream(customer);
    await setPrice('0.04');
    await setRatio('1.5');
    await house.applied();
    const next = await ask(customer);
    expect(next.status).toBe(200);
    expect([stream.price, next.headers.get('x-gateway-price-usd')]).toEqual(['0.03', '0.06']);
    end.resolve();
    expect(await stream.rest()).toContain('[DONE]');
    await expect
      .poll(() => usageOf(customer), SETTLED_WITHIN)
      .toEqual([
        { base: 30_000, ratio: '1', cost: 30_000, streamed: true },
        { base: 40_000, ratio: '1.5', cost: 60_000, streamed: false },
      ]);
    await setPrice('0.03');
    await setRatio('1');
    await house.applied();
  },
  TEST_MS,
);

it.each([
  ['lowered', '5'],
  ['set', null],
])(
  'a spend limit that is %s also applies to a node with a lease',
  async (_how, before) => {
    const customer = await addCustomer(house, '100');
    const limit = async (spendLimit: string | null): Promise<void> => {
      const { viewer } = await customer.api.query<{
        viewer: { apiKeys: { nodes: { id: string; version: number }[] } };
      }>('query { viewer { apiKeys { nodes { id version } } } }');
      const version = viewer.apiKeys.nodes.find(({ id }) => id === customer.keyId)?.version;
      await customer.api.mutate('apiKeyUpdate', { id: customer.keyId, version, spendLimit }, 'apiKey { id }');
      await house.applied();
    };
    if (before !== null) await limit(before);
    expect((await ask(customer)).status).toBe(200);
    await expect.poll(() => usageOf(customer), SETTLED_WITHIN).toHaveLength(1);
    await limit('0.04');
    const leases = async (): Promise<object[]> =>
      (
        await house.database.query<object>(
          `select id from wallet_lease where key_id = $1 and state = 'ACTIVE'`,
          [customer.keyId],
        )
      ).rows;
    await expect.poll(leases, SETTLED_WITHIN).toEqual([]);
    const refused = await ask(customer);
    expect(refused.status).toBe(402);
    expect(await refused.text()).toContain('spend limit');
    expect(await usageOf(customer)).toMatchObject([{ cost: 30_000 }]);
  },
  TEST_MS,
);
