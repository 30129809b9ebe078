/** End-to-end tests of the Idempotency-Key of API requests, over two nodes. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';
import { addCustomer, addUpstream, startHouse } from './house.ts';
import type { Customer, House } from './house.ts';
import { startUpstream } from './upstream.ts';
import type { FakeUpstream } from './upstream.ts';

let database: TestDatabase;
let house: House;
let upstream: FakeUpstream;
let failing = false;

const ANSWER = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'budget',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
});

beforeAll(async () => {
  upstream = await startUpstream(() => (failing ? { status: 500 } : { chunks: [ANSWER], gapMs: 20 }));
  database = await createTestDatabase();
  house = await startHouse({ databaseUrl: database.url, nodes: 2 });
  await addUpstream(house, { baseUrl: `${upstream.origin}/v1`, models: ['budget'] });
  const families = ['AUDIO'];
  await addUpstream(house, { baseUrl: `${upstream.origin}/v1`, models: ['swift'], name: 'speech', families });
});

afterAll(async () => {
  await house?.stop();
  await upstream?.close();
  await database?.drop();
});

interface Answer {
  status: number;
  retry: string | null;
  text: string;
}

async function ask(customer: Customer, key: string, more: { node?: number; prompt?: string } = {}) {
  const response = await fetch(`${house.nodes[more.node ?? 0]?.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${customer.key}`,
      'content-type': 'application/json',
      'idempotency-key': key,
      'x-request-id': 'made-up-by-the-client',
    },
    body: JSON.stringify({ model: 'budget', messages: [{ role: 'user', content: more.prompt ?? 'Hi' }] }),
  });
  const retry = response.headers.get('x-should-retry');
  return { status: response.status, retry, text: await response.text() } satisfies Answer;
}

/** Sends a recording with an Idempotency-Key. Each form has another boundary. */
async function transcribe(customer: Customer, key: string, file: Buffer, name = 'a.wav'): Promise<Answer> {
  const form = new FormData();
  form.append('file', new Blob([Uint8Array.from(file)], { type: 'audio/wav' }), name);
  form.append('model', 'swift');
  const response = await fetch(`${house.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'idempotency-key': key },
    body: form,
  });
  const retry = response.headers.get('x-should-retry');
  return { status: response.status, retry, text: await response.text() };
}

async function charges(customer: Customer): Promise<number> {
  const { rows } = await house.database.query<{ count: number }>(
    'select count(*)::int as count from usage_charge join usage_entry using (request_id) where key_id = $1',
    [customer.keyId],
  );
  return rows[0]?.count ?? -1;
}

/** Repeats a request until its answer has the status, at most 100 times; returns the last answer. */
async function until(status: number, work: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 0; ; attempt += 1) {
    const answer = await work();
    if (answer.status === status || attempt === 100) return answer;
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
}

test('one of 20 concurrent requests with one key on two nodes is answered and charged', async () => {
  const customer = await addCustomer(house, '1');
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, at) => ask(customer, 'once', { node: at % 2 })),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  // On a busy machine the control plane may be too slow, and then the node answers 503.
  expect(answers.filter(({ status }) => status === 409 || status === 503)).toHaveLength(19);
  const done = await until(409, () => ask(customer, 'once'));
  const last = done.retry === 'false' ? done : await settled(() => ask(customer, 'once'));
  expect(last).toMatchObject({ status: 409, retry: 'false' });
  expect(last.text).toContain('cost 0.03 USD');
  // A body of the same length, so that only its content differs.
  expect(await ask(customer, 'once', { prompt: 'Ho' })).toMatchObject({ status: 422 });
  expect(await charges(customer)).toBe(1);
  const { rows } = await house.database.query(
    "select from usage_entry where request_id = 'made-up-by-the-client'",
  );
  expect(rows).toEqual([]);
});

/** Repeats a request until the charge of its key is settled; until then the key is in flight. */
async function settled(again: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 0; ; attempt += 1) {
    const answer = await again();
    if (answer.retry === 'false' || attempt === 100) return answer;
    expect(answer).toMatchObject({ status: 409, retry: 'true' });
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
}

test('a failed request releases its key', async () => {
  const customer = await addCustomer(house, '1');
  failing = true;
  expect((await ask(customer, 'again')).status).toBe(502);
  failing = false;
  expect((await until(200, () => ask(customer, 'again', { node: 1 }))).status).toBe(200);
  const poor = await addCustomer(house, '0');
  expect((await ask(poor, 'again')).status).toBe(402);
  expect((await until(402, () => ask(poor, 'again'))).status).toBe(402);
});

test('a form with another file or file name under the same key is refused and not charged', async () => {
  const customer = await addCustomer(house, '1');
  const [recording, other] = [1, 2].map((byte) => Buffer.alloc(600_000, byte)) as [Buffer, Buffer];
  expect((await transcribe(customer, 'form', recording)).status).toBe(200);
  expect((await settled(() => transcribe(customer, 'form', recording))).status).toBe(409);
  const requests = upstream.seen.length;
  expect(await transcribe(customer, 'form', other)).toMatchObject({ status: 422 });
  expect(await transcribe(customer, 'form', recording, 'b.wav')).toMatchObject({ status: 422 });
  expect(upstream.seen.length).toBe(requests);
  expect(await charges(customer)).toBe(1);
});

test('an invalid key gets 400, and every key gets 503 while the control plane is down', async () => {
  const customer = await addCustomer(house, '1');
  expect((await ask(customer, 'x'.repeat(256))).status).toBe(400);
  expect((await ask(customer, 'a b')).status).toBe(400);
  await house.control.kill();
  expect((await ask(customer, 'away')).status).toBe(503);
  await house.restartControl();
  expect((await until(200, () => ask(customer, 'away'))).status).toBe(200);
});
