/** Processes that talk over a real database: asked, answered, in pieces, sealed, and known to be gone. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openMoney } from '../test/money-fixture.ts';
import type { Money } from '../test/money-fixture.ts';
import { Peers } from './peers.ts';

const SECRET = 'a secret key of the installation, long enough';

let money: Money;
let open: Peers[] = [];

beforeAll(async () => {
  money = await openMoney();
});
afterEach(async () => {
  await Promise.all(open.map((peers) => peers.stop()));
  open = [];
});
afterAll(() => money.close());

async function start(secretKey = SECRET): Promise<Peers> {
  const peers = await Peers.start({ databaseUrl: money.url, em: () => money.em(), secretKey });
  open.push(peers);
  return peers;
}

/** Asks until somebody answers: processes hear of each other a moment after their start. */
async function answerTo(peers: Peers, topic: string, body: unknown): Promise<unknown> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const found = await peers.ask(topic, body);
    if (found) return found.answer;
    await sleep(20);
  }
  return undefined;
}

it('the only process asks nobody, and waits for nobody', async () => {
  const alone = await start();
  expect(await alone.ask('topic', 1)).toBeUndefined();
});

it('whoever has the answer gives it, however long, and the others say that they have none', async () => {
  const [asker, empty, holder] = [await start(), await start(), await start()];
  const long = 'ä'.repeat(100_000);
  empty.answer('topic', () => undefined);
  holder.answer('topic', (body) => ({ got: body, long }));
  expect(await answerTo(asker, 'topic', { a: 1 })).toEqual({ got: { a: 1 }, long });
  expect(await answerTo(asker, 'topic', long)).toEqual({ got: long, long });
  holder.answer('topic', () => undefined);
  expect(await asker.ask('topic', {})).toBeUndefined();
});

it('nothing that is said can be read on the way, and a foreign secret key hears nothing', async () => {
  const client = new pg.Client({ connectionString: money.url });
  await client.connect();
  const heard: string[] = [];
  client.on('notification', ({ payload }) => heard.push(payload ?? ''));
  await client.query('listen gateway_peers');
  const [asker, holder, foreign] = [
    await start(),
    await start(),
    await start('another secret key, also long'),
  ];
  const taken: unknown[] = [];
  foreign.answer('topic', (body) => taken.push(body));
  holder.answer('topic', () => 'canary-answer');
  expect(await answerTo(asker, 'topic', 'canary-question')).toBe('canary-answer');
  await client.query('select 1');
  await client.end();
  expect(heard.length).toBeGreaterThan(0);
  expect(heard.filter((text) => text.includes('canary'))).toEqual([]);
  expect(taken).toEqual([]);
});

it('a process that stops is gone at once for the others', async () => {
  const [stays, goes] = [await start(), await start()];
  goes.answer('topic', () => 'here');
  expect(await answerTo(stays, 'topic', {})).toBe('here');
  const gone = new Promise<string>((resolve) => {
    stays.onGone(resolve);
  });
  await goes.stop();
  expect(await gone).toBe(goes.id);
  expect(await stays.ask('topic', {})).toBeUndefined();
});
