/**
 * Runs hostile callers against one control plane, and checks that a signed-in user and a node keep working.
 * Every caller names its network in x-forwarded-for, as behind a proxy.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { codesOf, SIGN_IN, startTestApp } from '../test/control/app.ts';
import type { Browser, TestApp } from '../test/control/app.ts';
import { BODY_BYTES, LARGE_BODY_BYTES, TIME_LIMITS } from './limits.ts';

const NODE = { id: 'nod_01ARZ3NDEKTSV4RRFFQ69G5FAV', name: 'node-1' };
const TOKEN = `gnt_${'a'.repeat(42)}`;
const PASSWORD = 'a long enough password';
const HOSTILE = { 'x-forwarded-for': '203.0.113.66' };
const HOME = { 'x-forwarded-for': '192.0.2.1' };
const AS_NODE = { 'x-forwarded-for': '198.51.100.1', authorization: `Bearer ${TOKEN}` };
/** Honest calls while an attack runs. */
const ROUNDS = 6;

let test: TestApp;
let owner: Browser;
let hostile: Browser;
beforeAll(async () => {
  test = await startTestApp({
    env: { TRUST_PROXY: '127.0.0.1' },
    findNode: async (token) => (token === TOKEN ? NODE : null),
    times: { ...TIME_LIMITS, slowBodyGraceMs: 500, checkMs: 100 },
  });
  [owner, hostile] = [await test.user('owner@example.com'), await test.user('hostile@example.com')];
});
afterAll(() => test.close());

type Headers = Record<string, string>;

/** Sends bytes after the head of a POST, and keeps the connection. Returns the function that ends it. */
function raw(headers: Headers, body: string): () => void {
  const socket = connect(Number(new URL(test.url).port), '127.0.0.1');
  socket.on('error', () => undefined).resume();
  const lines = Object.entries({ host: 'localhost', 'content-type': 'application/json', ...headers });
  const text = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(`POST /graphql HTTP/1.1\r\n${text}\r\n${body}`);
  return () => socket.destroy();
}

function openSocket(headers: Headers): WebSocket {
  const url = `${test.url.replace('http', 'ws')}/graphql`;
  const socket = new WebSocket(url, 'graphql-transport-ws', { headers });
  socket.on('error', () => undefined);
  return socket;
}

async function acknowledged(headers: Headers): Promise<boolean> {
  const socket = openSocket(headers);
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init' }));
  const [data] = (await once(socket, 'message')) as [Buffer];
  socket.terminate();
  return String(data).includes('connection_ack');
}

/** Performs the requests of an owner and a node. Throws if one fails. */
async function workHonestly(): Promise<void> {
  const cookie = owner.cookie ?? '';
  const { data, errors } = await owner.send('{ viewer { email apiKeys { totalCount } } }', {}, HOME);
  expect([errors, data]).toMatchObject([[], { viewer: { email: 'owner@example.com' } }]);
  const node = await test.browser().send('{ baseAddress }', {}, AS_NODE);
  expect([node.status, node.errors]).toEqual([200, []]);
  expect(await acknowledged({ ...HOME, cookie })).toBe(true);
  expect(await acknowledged(AS_NODE)).toBe(true);
}

/** Runs honest calls while `attack` is repeated; it returns what ends it. */
async function survive(attack: (round: number) => (() => void)[]): Promise<void> {
  const ends: (() => void)[] = [];
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      ends.push(...attack(round));
      await workHonestly();
    }
  } finally {
    for (const end of ends) end();
  }
}

const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));

/** Both kinds of hostile callers: an address without an account, and an account. */
const attackers = (): Headers[] => [HOSTILE, { ...HOSTILE, cookie: hostile.cookie ?? '' }];

describe('a user and a node keep working during', () => {
  it('a flood of WebSocket connections', () =>
    survive(() =>
      attackers().flatMap((headers) =>
        times(30, () => {
          const socket = openSocket(headers);
          return () => socket.terminate();
        }),
      ),
    ));

  it('bodies in chunks of one byte', () => {
    const chunks = '1\r\n \r\n'.repeat(20_000);
    const made = [
      ...attackers(),
      { ...HOSTILE, cookie: 'session=x' },
      { ...HOSTILE, authorization: 'Bearer gnt_x' },
    ];
    return survive(() => made.map((headers) => raw({ ...headers, 'transfer-encoding': 'chunked' }, chunks)));
  });

  it('bodies that never end', () =>
    survive(() =>
      attackers().flatMap((headers) =>
        times(20, (at) => {
          const length = at % 2 ? BODY_BYTES : LARGE_BODY_BYTES;
          return raw({ ...headers, 'content-length': String(length) }, ' '.repeat(length / 2));
        }),
      ),
    ));

  it('a storm of sign-ins, after which the owner signs in and proves the password', async () => {
    const storm = (round: number) => {
      void Promise.all(
        times(20, (at) => {
          const input = { email: 'owner@example.com', password: `wrong ${at}` };
          const headers = { 'x-forwarded-for': `203.0.113.${round * 3 + (at % 3)}` };
          return test.browser().send(SIGN_IN, { input }, headers);
        }),
      ).catch(() => undefined);
      return [];
    };
    await survive(storm);
    storm(0);
    const prove = `mutation ($input: ReauthenticateInput!) { reauthenticate(input: $input) {
      userErrors { code message field } } }`;
    const proven = await owner.send(prove, { input: { password: PASSWORD } }, HOME);
    expect(codesOf(proven, 'reauthenticate')).toEqual([]);
    const input = { email: 'owner@example.com', password: PASSWORD };
    expect(codesOf(await owner.send(SIGN_IN, { input }, HOME), 'signIn')).toEqual([]);
  });

  it('queries of the highest cost, by an account and by an address', () =>
    survive(() => {
      const query = `{ ${times(19, (at) => `a${at}: catalog(first: 100) { nodes { id name } }`).join(' ')} }`;
      for (const headers of attackers())
        void Promise.all(times(20, () => test.browser().send(query, {}, headers))).catch(() => undefined);
      return [];
    }));
});
