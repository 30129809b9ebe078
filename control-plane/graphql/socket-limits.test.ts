/** Tests with real sockets that WebSockets are bounded in number, size and rate. */
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import WebSocket from 'ws';
import { startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import {
  FIRST_MESSAGE_BYTES,
  FRAMES_PER_MESSAGE,
  LARGE_MESSAGE_BYTES,
  MESSAGE_BYTES,
  MESSAGES,
  OPERATIONS_PER_SOCKET,
  SOCKETS,
  TIME_LIMITS,
} from '../limits.ts';

const NODE = { id: 'nod_01ARZ3NDEKTSV4RRFFQ69G5FAV', name: 'node-1' };
const TOKEN = `gnt_${'a'.repeat(42)}`;
const AS_NODE = { authorization: `Bearer ${TOKEN}` };

let test: TestApp;
let ann: Browser;
beforeAll(async () => {
  test = await startTestApp({
    findNode: async (token) => (token === TOKEN ? NODE : null),
    times: { ...TIME_LIMITS, connectionInitMs: 1500 },
  });
  ann = await test.user('ann@example.com');
});
afterAll(() => test.close());

function open(headers: Record<string, string> = {}): WebSocket {
  const url = `${test.url.replace('http', 'ws')}/graphql`;
  const socket = new WebSocket(url, 'graphql-transport-ws', { headers });
  socket.on('error', () => undefined);
  return socket;
}

/** `open`, or the status of the refusal. */
function outcomeOf(socket: WebSocket): Promise<string> {
  return new Promise((resolve) => {
    socket.once('open', () => resolve('open'));
    socket.once('unexpected-response', (_request, response) => resolve(String(response.statusCode)));
  });
}

async function closeCode(socket: WebSocket): Promise<number> {
  const [code] = (await once(socket, 'close')) as [number];
  return code;
}

/** A socket after connection_ack. */
async function connected(headers: Record<string, string> = {}, payload = {}): Promise<WebSocket> {
  const socket = open(headers);
  expect(await outcomeOf(socket)).toBe('open');
  socket.send(JSON.stringify({ type: 'connection_init', payload }));
  await once(socket, 'message');
  return socket;
}

const closeAll = (sockets: WebSocket[]) =>
  Promise.all(
    sockets.map(async (socket) => {
      socket.close();
      await once(socket, 'close');
    }),
  );

describe('a WebSocket', () => {
  it('leaves no timer behind if its client leaves before it is identified', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    for (let count = 0; count < 20; count += 1) {
      const socket = open({ cookie: ann.cookie ?? '' });
      await once(socket, 'open');
      await new Promise((resolve) => {
        socket.send(JSON.stringify({ type: 'connection_init' }), resolve);
      });
      socket.terminate();
    }
    await expect.poll(timers).toBeLessThan(before + 10);
  });

  it('leaves no subscription behind if its client leaves before it begins', async () => {
    const add = vi.spyOn(EventTarget.prototype, 'addEventListener');
    const remove = vi.spyOn(EventTarget.prototype, 'removeEventListener');
    const countOf = (calls: unknown[][]) =>
      calls.filter(([type]) => String(type).startsWith('walletUpdated')).length;
    const payload = { query: 'subscription { walletUpdated { id } }' };
    const subscribe = async () => {
      const socket = await connected({ cookie: ann.cookie ?? '' });
      await new Promise((resolve) => {
        socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload }), resolve);
      });
      return socket;
    };
    for (let count = 0; count < 20; count += 1) (await subscribe()).terminate();
    // Its subscription begins after all others.
    const last = await subscribe();
    await expect.poll(() => countOf(add.mock.calls)).toBeGreaterThan(0);
    await closeAll([last]);
    await expect.poll(() => countOf(remove.mock.calls)).toBe(countOf(add.mock.calls));
    vi.restoreAllMocks();
  });

  it('is refused above the limit of its network, but accepted for users and nodes', async () => {
    const held = Array.from({ length: SOCKETS.anonymous.perCaller }, () => open());
    expect(new Set(await Promise.all(held.map(outcomeOf)))).toEqual(new Set(['open']));
    expect(await outcomeOf(open())).toBe('503');
    const others = [open({ cookie: ann.cookie ?? '' }), open(AS_NODE)];
    expect(await Promise.all(others.map(outcomeOf))).toEqual(['open', 'open']);
    await closeAll([...held, ...others]);
    const again = open();
    expect(await outcomeOf(again)).toBe('open');
    await closeAll([again]);
  });

  it('leaves the places of its network once connection_init has named its caller', async () => {
    const held: WebSocket[] = [];
    for (let at = 0; at < SOCKETS.node.perCaller; at += 1) held.push(await connected({}, AS_NODE));
    const tooMany = open();
    await once(tooMany, 'open');
    tooMany.send(JSON.stringify({ type: 'connection_init', payload: AS_NODE }));
    expect(await closeCode(tooMany)).toBe(1013);
    const anonymous = Array.from({ length: SOCKETS.anonymous.perCaller }, () => open());
    expect(new Set(await Promise.all(anonymous.map(outcomeOf)))).toEqual(new Set(['open']));
    await closeAll([...held, ...anonymous]);
  });

  it('is closed if connection_init does not come in time', async () => {
    expect(await closeCode(open())).toBe(4408);
  });

  it('takes larger messages from nodes than from others', async () => {
    const message = (bytes: number) => JSON.stringify({ type: 'ping', payload: { x: ' '.repeat(bytes) } });
    for (const cookie of ['', ann.cookie ?? '']) {
      const other = await connected({ cookie });
      other.send(message(MESSAGE_BYTES));
      expect(await closeCode(other)).toBe(1009);
    }
    const known = await connected(AS_NODE);
    known.send(message(MESSAGE_BYTES));
    const [pong] = (await once(known, 'message')) as [Buffer];
    expect(String(pong)).toContain('pong');
    known.send(message(LARGE_MESSAGE_BYTES));
    expect(await closeCode(known)).toBe(1009);
  });

  it('is closed if its connection_init is longer than a token needs, because it is kept', async () => {
    const long = { authorization: ' '.repeat(FIRST_MESSAGE_BYTES) };
    const socket = open({ cookie: ann.cookie ?? '' });
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'connection_init', payload: long }));
    expect(await closeCode(socket)).toBe(1009);
  });

  it('is limited in the memory of its operations, and other callers keep theirs', async () => {
    const dan = await test.user('dan@example.com');
    const socket = await connected({ cookie: dan.cookie ?? '' });
    const unused = Array.from({ length: 30_000 }, () => ({}));
    const subscribe = (to: WebSocket, id: string, variables: object): void => {
      const payload = { query: 'subscription { apiKeyUpdated { id } }', variables };
      to.send(JSON.stringify({ type: 'subscribe', id, payload }));
    };
    for (const id of ['a', 'b', 'c', 'd']) subscribe(socket, id, { unused });
    const [data] = (await once(socket, 'message')) as [Buffer];
    const refusal = JSON.parse(String(data)) as { type: string; id: string; payload: unknown[] };
    expect(refusal).toMatchObject({ type: 'error', payload: [{ extensions: { code: 'RATE_LIMITED' } }] });
    const other = await connected({ cookie: ann.cookie ?? '' });
    subscribe(other, 'a', { unused });
    for (const id of ['a', 'b', 'c', 'd'])
      if (id !== refusal.id) socket.send(JSON.stringify({ type: 'complete', id }));
    subscribe(socket, 'e', { unused });
    const answers: string[] = [];
    for (const each of [socket, other])
      each.on('message', (message) => answers.push((message as Buffer).toString()));
    for (const each of [socket, other]) each.send(JSON.stringify({ type: 'ping' }));
    await expect.poll(() => answers.filter((answer) => answer.includes('pong'))).toHaveLength(2);
    expect(answers.filter((answer) => answer.includes('"id":"e"'))).toEqual([]);
    expect(answers).toHaveLength(2);
    await closeAll([socket, other]);
  });

  it('is closed if its client sends too many messages, pings or fragments', async () => {
    let count = 0;
    const flood = async (send: (socket: WebSocket) => void, times: number) => {
      const user = await test.user(`flood${(count += 1)}@example.com`);
      const socket = await connected({ cookie: user.cookie ?? '' });
      for (let at = 0; at < times; at += 1) send(socket);
      return closeCode(socket);
    };
    const ping = JSON.stringify({ type: 'ping' });
    expect(await flood((socket) => socket.send(ping), 2 * MESSAGES.user.atOnce)).toBe(4429);
    // The library may be first, and terminate a socket whose client does not read the answers to its pings.
    expect([4429, 1006]).toContain(await flood((socket) => socket.ping(), 2 * MESSAGES.user.atOnce));
    expect(await flood((socket) => socket.send(' ', { fin: false }), 2 * FRAMES_PER_MESSAGE)).toBe(1008);
  });

  it('shares the message rate of its caller, and other callers keep theirs', async () => {
    const bob = await test.user('bob@example.com');
    const sockets = [
      await connected({ cookie: bob.cookie ?? '' }),
      await connected({ cookie: bob.cookie ?? '' }),
    ];
    const ping = JSON.stringify({ type: 'ping' });
    const closed = Promise.race(sockets.map(closeCode));
    for (let at = 0; at < MESSAGES.user.atOnce; at += 1) for (const socket of sockets) socket.send(ping);
    expect(await closed).toBe(4429);
    const other = await connected({ cookie: ann.cookie ?? '' });
    other.send(ping);
    expect(String(await once(other, 'message'))).toContain('pong');
    await closeAll([other]);
  });

  it('runs exactly the permitted number of operations at once', async () => {
    const socket = await connected({ cookie: ann.cookie ?? '' });
    const refused: string[] = [];
    socket.on('message', (data) => {
      const { type, id } = JSON.parse((data as Buffer).toString()) as { type: string; id: string };
      if (type === 'error') refused.push(id);
    });
    const payload = { query: 'subscription { apiKeyUpdated { id } }' };
    for (let at = 1; at <= OPERATIONS_PER_SOCKET + 1; at += 1)
      socket.send(JSON.stringify({ type: 'subscribe', id: `s${at}`, payload }));
    await expect.poll(() => refused).toEqual([`s${OPERATIONS_PER_SOCKET + 1}`]);
    socket.send(JSON.stringify({ type: 'complete', id: 's1' }));
    socket.send(JSON.stringify({ type: 'subscribe', id: 'next', payload: { query: '{ viewer { id } }' } }));
    const [data] = (await once(socket, 'message')) as [Buffer];
    expect(JSON.parse(String(data))).toMatchObject({ type: 'next', id: 'next' });
    await closeAll([socket]);
  });
});
