/**
 * End-to-end tests with real processes: late and lost messages between node and control plane, and two
 * processes with one token. An Idempotency-Key is charged once, and is free as soon as its request is known
 * to have failed.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';
import { addCustomer, addUpstream, startHouse } from './house.ts';
import type { Customer, House } from './house.ts';
import { startProcess } from './house/process.ts';
import type { HouseProcess } from './house/process.ts';
import { startRelay } from './house/relay.ts';
import type { Relay } from './house/relay.ts';
import { startUpstream } from './upstream.ts';
import type { FakeUpstream } from './upstream.ts';

let database: TestDatabase;
let house: House;
let relay: Relay;
let upstream: FakeUpstream;
let customer: Customer;

const ANSWER = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
});
const PATIENCE = { timeout: 20_000, interval: 100 };

beforeAll(async () => {
  upstream = await startUpstream(() => ({ chunks: [ANSWER] }));
  database = await createTestDatabase();
  const reachControl = async (url: string): Promise<string> => (relay = await startRelay(url)).url;
  house = await startHouse({ databaseUrl: database.url, reachControl });
  await addUpstream(house, { baseUrl: `${upstream.origin}/v1`, models: ['budget'] });
}, 60_000);

beforeEach(async () => {
  relay.fateOf = () => 'pass';
  customer = await addCustomer(house, '10');
  // Afterwards the node has a lease and answers without asking the control plane for one.
  expect((await ask('warm')).status).toBe(200);
});

afterAll(async () => {
  await house?.stop();
  relay?.close();
  await upstream?.close();
  await database?.drop();
});

interface Answer {
  status: number;
  retry: string | null;
  requestId: string | null;
}

/** Sends a request with an Idempotency-Key. */
async function ask(idempotencyKey: string, url = house.url): Promise<Answer> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${customer.key}`,
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
    },
    body: JSON.stringify({ model: 'budget', messages: [{ role: 'user', content: 'Hi' }] }),
  });
  await response.text();
  const { status, headers } = response;
  return { status, retry: headers.get('x-should-retry'), requestId: headers.get('x-request-id') };
}

/** Number of charges of the customer. */
async function charges(): Promise<number> {
  const { rows } = await house.database.query<{ count: number }>(
    'select count(*)::int as count from usage_charge join usage_entry using (request_id) where key_id = $1',
    [customer.keyId],
  );
  return rows[0]?.count ?? -1;
}

/** Number of idempotency records of the customer. */
async function records(): Promise<number> {
  const { rowCount } = await house.database.query('select from request_claim where wallet_id = $1', [
    customer.walletId,
  ]);
  return rowCount ?? 0;
}

test('a late message of a killed process does not release an Idempotency-Key', async () => {
  let beats = 0;
  relay.fateOf = (mutation) => {
    if (mutation === 'nodeHeartbeat') beats += 1;
    return mutation === 'nodeHeartbeat' ? 'keep' : 'pass';
  };
  await expect.poll(() => beats, PATIENCE).toBeGreaterThan(0);
  relay.fateOf = (mutation) => (mutation === 'nodeUsageReport' ? 'lose' : 'pass');
  expect((await ask('order')).status).toBe(200);
  await house.nodes[0]?.process.kill();
  await house.nodes[0]?.restart();
  expect(await ask('order')).toMatchObject({ status: 409, retry: 'true' });
  expect(await relay.deliver()).toBeGreaterThan(0);
  expect(await ask('order')).toMatchObject({ status: 409, retry: 'true' });
  relay.fateOf = () => 'pass';
  await expect.poll(() => ask('order'), PATIENCE).toMatchObject({ status: 409, retry: 'false' });
  expect(await charges()).toBe(2);
}, 60_000);

test('a key whose reservation got no answer is free as soon as its release arrives', async () => {
  let lost = 2;
  relay.fateOf = (mutation) => {
    if (mutation === 'nodeRequestClaim') return 'deafen';
    if (mutation === 'nodeRequestRelease' && (lost -= 1) >= 0) return 'lose';
    return 'pass';
  };
  expect(await ask('unanswered')).toMatchObject({ status: 503 });
  relay.fateOf = (mutation) => (mutation === 'nodeRequestRelease' && (lost -= 1) >= 0 ? 'lose' : 'pass');
  await expect.poll(async () => (await ask('unanswered')).status, PATIENCE).toBe(200);
  expect(lost).toBeLessThan(0);
}, 60_000);

test('a key whose reservation arrives after its release is free', async () => {
  relay.fateOf = (mutation) => (mutation === 'nodeRequestClaim' ? 'keep' : 'pass');
  const { status, requestId } = await ask('late');
  expect(status).toBe(503);
  relay.fateOf = () => 'pass';
  // Releases of other tests also have rows, so the row of this very request is awaited.
  const released = async (): Promise<number> => {
    const text = 'select from request_release where request_id = $1';
    return (await house.database.query(text, [requestId])).rowCount ?? 0;
  };
  await expect.poll(released, PATIENCE).toBe(1);
  await relay.deliver();
  expect((await ask('late')).status).toBe(200);
}, 60_000);

test('a key of a killed process is free once the next process has settled, also under traffic', async () => {
  relay.fateOf = (mutation) => (mutation === 'nodeRequestClaim' ? 'deafen' : 'pass');
  const before = await records();
  const dying = ask('dying').catch(() => undefined);
  await expect.poll(records, PATIENCE).toBe(before + 1);
  await house.nodes[0]?.process.kill();
  await dying;
  relay.fateOf = () => 'pass';
  await house.nodes[0]?.restart();
  await expect
    .poll(async () => {
      await ask(`traffic ${Math.random()}`);
      return (await ask('dying')).status;
    }, PATIENCE)
    .toBe(200);
}, 60_000);

test('a node that a restored database does not know registers again, and continues to serve', async () => {
  await house.database.query(
    `with journal as (update node_journal set start = 0, instance_id = 'of the backup')
      update data_plane_node set journal_id = null, last_seen_at = last_seen_at - interval '1 hour'`,
  );
  customer = await addCustomer(house, '10');
  await expect.poll(async () => (await ask('restored')).status, PATIENCE).toBe(200);
  await expect.poll(charges, PATIENCE).toBe(1);
});

test('a second process with the same token serves only after the first has stopped', async () => {
  const { token } = await house.admin.mutate<{ token: string }>(
    'adminNodeCreate',
    { name: 'twin', reason: 'test' },
    'token',
  );
  const start = (folder: string): Promise<HouseProcess> =>
    startProcess({
      entry: 'data-plane/main.ts',
      env: {
        ...{ HOST: '127.0.0.1', DATA_PORT: '0', CONTROL_URL: house.controlUrl, NODE_NAME: 'twin' },
        ...{ NODE_TOKEN: token, DATA_DIR: join(house.dataDir, folder), DRAIN_SECONDS: '5' },
        ALLOW_PRIVATE_UPSTREAMS: 'on',
      },
      logFile: join(house.dataDir, `${folder}.log`),
    });
  const [first, second] = [await start('twin-a'), await start('twin-b')];
  const [firstUrl, secondUrl] = [first, second].map(({ port }) => `http://127.0.0.1:${port}`);
  expect((await ask('twin', firstUrl)).status).toBe(200);
  expect((await ask('twin', secondUrl)).status).toBe(503);
  expect(readFileSync(second.logFile, 'utf8')).toContain('its own node, token and DATA_DIR');
  await first.stop();
  await expect.poll(async () => (await ask('other', secondUrl)).status, PATIENCE).toBe(200);
  expect((await ask('twin', secondUrl)).status).toBe(409);
  await expect.poll(charges, PATIENCE).toBe(3);
  await second.stop();
}, 60_000);
