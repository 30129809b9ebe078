/** Documents that take long to read are bounded per caller, over HTTP and WebSocket, also refused ones. */
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { socketClient } from '../../test/control/subscribe.ts';
import { READING_MS, REQUEST_MS, TOKENS_MAX } from '../limits.ts';

/** A budget that does not refill within the test. */
const limit = (atOnce: number) => ({ perSecond: 0.001, atOnce });
const READING = { ...READING_MS, anonymous: limit(100), allAnonymous: limit(200), user: limit(100) };
let names = 0;
/**
 * A document of the dearest kind for validation: fields with one name, which are compared in pairs. Each has
 * a name of its own, because documents that were validated once are not validated again.
 */
const heavy = (): string => `query q${(names += 1)} { ${'viewer { id } '.repeat(TOKENS_MAX / 4 - 2)} }`;
const SMALL = '{ baseAddress }';

let test: TestApp;
let ann: Browser;
let bob: Browser;
let cat: Browser;
let dan: Browser;
let eve: Browser;
beforeAll(async () => {
  test = await startTestApp({ rates: { reading: READING } });
  ann = await test.user('ann@example.com');
  bob = await test.user('bob@example.com');
  cat = await test.user('cat@example.com');
  dan = await test.user('dan@example.com');
  eve = await test.user('eve@example.com');
});
afterAll(() => test.close());

/** Sends refused documents until another code than theirs comes, and returns that code. */
async function codeAtLast(send: () => Promise<string | undefined>): Promise<string | undefined> {
  for (let round = 0; round < 2000; round += 1) {
    const code = await send();
    if (code !== 'QUERY_TOO_COMPLEX') return code;
  }
  return 'never refused';
}

describe('the CPU time of requests', () => {
  /** Answers with 200 before the first 429. */
  async function answersOf(query: string): Promise<number> {
    const app = await startTestApp({ rates: { reading: READING } });
    try {
      const stranger = app.browser();
      const statuses: number[] = [];
      while (statuses.length < 500 && statuses.at(-1) !== 429)
        statuses.push((await stranger.send(query)).status);
      expect(statuses.at(-1)).toBe(429);
      return statuses.length - 1;
    } finally {
      await app.close();
    }
  }

  it('counts requests and the bytes of their answers, also of documents that were read before', async () => {
    const small = await answersOf(SMALL);
    expect(small).toBeGreaterThan(5);
    expect(small).toBeLessThanOrEqual(Math.ceil(READING.anonymous.atOnce / REQUEST_MS));
    expect(await answersOf('{ __schema { types { name fields { name description } } } }')).toBeLessThan(
      small / 2,
    );
  });
});

describe('the CPU time of reading documents', () => {
  it('is bounded for strangers over HTTP, also if they are refused, and users are not affected', async () => {
    const stranger = test.browser();
    const send = async () => (await stranger.send(heavy())).errors[0]?.extensions.code;
    expect(await codeAtLast(send)).toBe('RATE_LIMITED');
    const { status, headers } = await stranger.send(SMALL);
    expect([status, Number(headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect((await ann.send(SMALL)).errors).toEqual([]);
  });

  it('is bounded for an account whose bodies have many names, also if they are refused', async () => {
    const members = Array.from({ length: 100_000 }, (_, at) => `"m${at}":1`).join(',');
    const send = async (): Promise<number> => {
      const headers = { 'content-type': 'application/json', cookie: cat.cookie ?? '' };
      const body = `{"query":"{","variables":{${members}}}`;
      return (await fetch(`${test.url}/graphql`, { method: 'POST', headers, body })).status;
    };
    const statuses: number[] = [];
    while (statuses.length < 50 && statuses.at(-1) !== 429) statuses.push(await send());
    expect(statuses.at(-1)).toBe(429);
    expect(statuses[0]).toBe(400);
    expect((await ann.send(SMALL)).errors).toEqual([]);
  });

  it('is bounded for an account over WebSocket', async () => {
    const client = socketClient(test, bob);
    const send = () =>
      new Promise<string | undefined>((resolve) => {
        const first = (failure: unknown) =>
          resolve((failure as { extensions: { code: string } }[])[0]?.extensions.code);
        client.subscribe(
          { query: heavy() },
          { next: () => resolve(undefined), error: first, complete: () => {} },
        );
      });
    expect(await codeAtLast(send)).toBe('RATE_LIMITED');
    await client.dispose();
    expect((await ann.send(SMALL)).errors).toEqual([]);
  });

  it('counts WebSockets that are opened, and refuses more of them with 429', async () => {
    const headers = { cookie: dan.cookie ?? '' };
    const url = `${test.url.replace('http', 'ws')}/graphql`;
    const answer = async (): Promise<number> => {
      const socket = new WebSocket(url, 'graphql-transport-ws', { headers });
      const status = await Promise.race([
        once(socket, 'open').then(() => 101),
        once(socket, 'unexpected-response').then(([, { statusCode }]) => Number(statusCode)),
      ]);
      socket.terminate();
      return status;
    };
    const statuses: number[] = [];
    while (statuses.length < 200 && statuses.at(-1) !== 429) statuses.push(await answer());
    expect([statuses[0], statuses.at(-1)]).toEqual([101, 429]);
    expect((await ann.send(SMALL)).errors).toEqual([]);
  });

  it('is bounded for an account whose messages over WebSocket have many names', async () => {
    const headers = { cookie: eve.cookie ?? '' };
    const url = `${test.url.replace('http', 'ws')}/graphql`;
    const socket = new WebSocket(url, 'graphql-transport-ws', { headers });
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'connection_init' }));
    await once(socket, 'message');
    const names = Array.from({ length: 8000 }, (_, at) => `"m${at}":1`).join(',');
    for (let count = 0; count < 300; count += 1) socket.send(`{"type":"ping","payload":{${names}}}`);
    const [code, reason] = (await once(socket, 'close')) as [number, Buffer];
    expect([code, String(reason)]).toEqual([4429, expect.stringContaining('too much time to read')]);
    expect((await ann.send(SMALL)).errors).toEqual([]);
  });
});
