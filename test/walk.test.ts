/** The two walks of the README through the whole house: one request, one mutation. */
import { LLMock } from '@copilotkit/aimock';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addCustomer, addUpstream } from './house.ts';
import type { Customer, House } from './house.ts';
import { openSharedHouse } from './house/shared.ts';

/** Planted into prompt and answer; must be found nowhere afterwards. */
const MARKER = 'xylophone-quartz-7431';
const SETTLED_WITHIN_MS = 20_000;

let house: House;
const mock = new LLMock({ host: '127.0.0.1', port: 0, logLevel: 'silent' });

beforeAll(async () => {
  mock.on({ predicate: () => true }, { content: `An answer with ${MARKER} in it.` });
  await mock.start();
  house = await openSharedHouse();
  await addUpstream(house, { baseUrl: `${mock.url}/v1`, models: ['budget', 'swift'] });
});

afterAll(async () => {
  await mock.stop();
});

function ask(customer: Customer, body: object = {}): Promise<Response> {
  return fetch(`${house.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'budget',
      messages: [{ role: 'user', content: `Say ${MARKER}` }],
      ...body,
    }),
  });
}

/** Repeats until the assertion holds or the time is over. */
async function eventually(assertion: () => Promise<void>): Promise<void> {
  const until = Date.now() + SETTLED_WITHIN_MS;
  for (;;) {
    try {
      await assertion();
      return;
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => {
        setTimeout(resolve, 50);
      });
    }
  }
}

const rows = async (sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> =>
  (await house.database.query<Record<string, unknown>>(sql, values)).rows;

describe('one request', () => {
  it('is authenticated, routed, billed and logged, whole and streamed, with equal figures', async () => {
    const customer = await addCustomer(house, '1');
    const whole = await ask(customer);
    expect(whole.status).toBe(200);
    expect(whole.headers.get('x-gateway-price-usd')).toBe('0.03');
    expect(JSON.stringify(await whole.json())).toContain(MARKER);
    const streamed = await ask(customer, { stream: true, model: 'swift' });
    expect(await streamed.text()).toMatch(/data: \[DONE\]\s*$/);
    const requestIds = [whole, streamed].map((response) => response.headers.get('x-request-id'));
    await eventually(async () => {
      const usage = await rows(
        `select request_id, model_name, cost::int, streamed, outcome from usage_entry
          where key_id = $1 order by at`,
        [customer.keyId],
      );
      expect(usage).toEqual([
        {
          request_id: requestIds[0],
          model_name: 'budget',
          cost: 30_000,
          streamed: false,
          outcome: 'DELIVERED',
        },
        {
          request_id: requestIds[1],
          model_name: 'swift',
          cost: 100_000,
          streamed: true,
          outcome: 'DELIVERED',
        },
      ]);
    });
    const charges = await rows(
      'select amount::int from usage_charge where request_id = any ($1) order by amount',
      [requestIds],
    );
    expect(charges).toEqual([{ amount: 30_000 }, { amount: 100_000 }]);
    const { viewer } = await customer.api.query<{
      viewer: { wallet: { available: string; held: string; balance: string } };
    }>('query { viewer { wallet { available held balance } } }');
    expect(viewer.wallet.balance).toBe('0.87');
    expect(await rows('select sum(balance)::int as sum from ledger_account')).toEqual([{ sum: 0 }]);
  });

  it('succeeds exactly as often as the wallet can pay, among 50 at once', async () => {
    const customer = await addCustomer(house, '0.21');
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const response = await ask(customer);
        await response.text();
        return response.status;
      }),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(7);
    expect(statuses.filter((status) => status === 402)).toHaveLength(43);
    await eventually(async () => {
      expect(
        await rows('select sum(cost)::int as sum from usage_entry where key_id = $1', [customer.keyId]),
      ).toEqual([{ sum: 210_000 }]);
    });
  });

  it('costs nothing when it is refused', async () => {
    const customer = await addCustomer(house, '0.03');
    const bodies = [
      { model: 'nope' },
      { model: 7 },
      { messages: 'x' },
      { messages: undefined },
      { model: 'coder' },
    ];
    for (const body of bodies) expect((await ask(customer, body)).status).toBeLessThan(500);
    const answer = await ask(customer);
    expect(answer.status).toBe(200);
    await answer.text();
  });
});

describe('one mutation', () => {
  it('disables a key for the next request, and returns how many nodes have applied it', async () => {
    const customer = await addCustomer(house, '1');
    expect((await ask(customer)).status).toBe(200);
    const disabled = await customer.api.mutate<{ appliedNodes: number }>(
      'apiKeyDisable',
      { id: customer.keyId },
      'appliedNodes pendingNodes { id } apiKey { state disabledReason }',
    );
    expect(disabled).toMatchObject({
      appliedNodes: 1,
      pendingNodes: [],
      apiKey: { state: 'DISABLED', disabledReason: 'OWNER' },
    });
    const refused = await ask(customer);
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ error: { code: 'key_disabled' } });
    await customer.api.mutate('apiKeyEnable', { id: customer.keyId }, 'apiKey { state }');
    await house.applied();
    expect((await ask(customer)).status).toBe(200);
  });
});

describe('privacy', () => {
  it('the text of prompts and answers is found in no table, no file and no log', async () => {
    const customer = await addCustomer(house, '1');
    for (const stream of [false, true]) await (await ask(customer, { stream })).text();
    await ask(customer, { messages: MARKER });
    await eventually(async () => {
      expect(
        await rows('select 1 from usage_entry where key_id = $1 and cost > 0', [customer.keyId]),
      ).toHaveLength(2);
    });
    const tables = await rows(
      "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'public'",
    );
    expect(tables.length).toBeGreaterThan(10);
    for (const { name } of tables) {
      const found = await rows(`select 1 from ${String(name)} as t where t::text like $1`, [`%${MARKER}%`]);
      expect({ name, found: found.length }).toEqual({ name, found: 0 });
    }
    const files = readdirSync(house.dataDir, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) {
      const path = join(file.parentPath, file.name);
      expect({ path, found: readFileSync(path).includes(MARKER) }).toEqual({ path, found: false });
    }
  });
});
