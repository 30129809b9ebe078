/**
 * What the house does when one of its processes dies: nothing crashes, no charge is lost, none is doubled.
 */
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEmptyDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';
import { addCustomer, addUpstream, startHouse } from './house.ts';
import type { Customer, House } from './house.ts';

const CLIENTS = 8;
const SETTLED_WITHIN_MS = 20_000;

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

interface Seen {
  requestId: string;
  ended: boolean;
  status: number;
}

async function ask(customer: Customer): Promise<Seen> {
  const response = await fetch(`${house.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'budget', stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
  });
  const requestId = response.headers.get('x-request-id') ?? '';
  const text = await response.text().catch(() => '');
  return { requestId, ended: text.includes('data: [DONE]'), status: response.status };
}

interface Traffic {
  /** What each request saw that got an answer. */
  seen: Seen[];
  /** Resolves when so many answers were seen to their end; throws when that takes too long. */
  ended(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** Clients that ask without a pause until `stop` is called. */
function traffic(customer: Customer): Traffic {
  const seen: Seen[] = [];
  let running = true;
  const client = async (): Promise<void> => {
    while (running) {
      const answer = await ask(customer).catch(() => undefined);
      if (answer) seen.push(answer);
      if (!answer?.ended) await sleep(20);
    }
  };
  const clients = Array.from({ length: CLIENTS }, client);
  const ended = async (count: number): Promise<void> => {
    const until = Date.now() + SETTLED_WITHIN_MS;
    while (seen.filter((item) => item.ended).length < count) {
      if (Date.now() > until) throw new Error(`only ${JSON.stringify(tally(seen))} instead of ${count}`);
      await sleep(20);
    }
  };
  const stop = async (): Promise<void> => {
    running = false;
    await Promise.all(clients);
  };
  return { seen, ended, stop };
}

function tally(seen: Seen[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, ended } of seen)
    counts[`${status} ${ended}`] = (counts[`${status} ${ended}`] ?? 0) + 1;
  return counts;
}

const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/**
 * Waits until the node has settled, then compares what clients saw with what was charged. A charge without
 * a seen end may only be one that the kill of a node cut between commit and socket: at most `cutAtMost`.
 */
async function compare(customer: Customer, seen: Seen[], cutAtMost: number): Promise<void> {
  const ended = seen.filter((item) => item.ended).map((item) => item.requestId);
  expect(new Set(ended).size).toBe(ended.length);
  const until = Date.now() + SETTLED_WITHIN_MS;
  let missing = ended;
  while (missing.length > 0 && Date.now() < until) {
    await sleep(100);
    const { rows } = await house.database.query<{ request_id: string }>(
      'select request_id from usage_charge where request_id = any ($1)',
      [ended],
    );
    const charged = new Set(rows.map((row) => row.request_id));
    missing = ended.filter((id) => !charged.has(id));
  }
  expect(missing).toEqual([]);
  const { rows } = await house.database.query<{ charges: number; sum: number }>(
    `select count(*)::int as charges, coalesce(sum(amount), 0)::int as sum from usage_charge
      join usage_entry using (request_id) where key_id = $1`,
    [customer.keyId],
  );
  expect(rows[0]?.sum).toBe((rows[0]?.charges ?? 0) * 30_000);
  expect((rows[0]?.charges ?? 0) - ended.length).toBeGreaterThanOrEqual(0);
  expect((rows[0]?.charges ?? 0) - ended.length).toBeLessThanOrEqual(cutAtMost);
  const { rows: totals } = await house.database.query<{ sum: number }>(
    'select sum(balance)::int as sum from ledger_account',
  );
  expect(totals[0]?.sum).toBe(0);
}

describe('the control plane is killed under traffic', () => {
  it('the node serves on from its leases, and everything is settled afterwards', async () => {
    const customer = await addCustomer(house, '100');
    const load = traffic(customer);
    await load.ended(100);
    await house.control.kill();
    await load.ended(150);
    await house.restartControl();
    await load.ended(200);
    await load.stop();
    await compare(customer, load.seen, 0);
  });

  it('a node restarted meanwhile refuses and lists from its file; paid requests get 503', async () => {
    const customer = await addCustomer(house, '100');
    await house.control.kill();
    const [node] = house.nodes;
    await node?.process.kill();
    await node?.restart();
    expect((await ask(customer)).status).toBe(503);
    expect((await ask({ ...customer, key: `sk-${'0'.repeat(48)}` })).status).toBe(401);
    const models = await fetch(`${house.url}/v1/models`, {
      headers: { authorization: `Bearer ${customer.key}` },
    });
    expect(models.status).toBe(200);
    await house.restartControl();
    const until = Date.now() + SETTLED_WITHIN_MS;
    let status = 503;
    while (status !== 200 && Date.now() < until) {
      ({ status } = await ask(customer));
      if (status !== 200) await sleep(200);
    }
    expect(status).toBe(200);
  });
});

describe('the node is killed under traffic', () => {
  it('no charge is lost and none is doubled', async () => {
    const customer = await addCustomer(house, '100');
    const load = traffic(customer);
    await load.ended(50);
    await house.nodes[0]?.process.kill();
    await house.nodes[0]?.restart();
    await load.ended(100);
    await load.stop();
    await compare(customer, load.seen, CLIENTS);
  });
});
