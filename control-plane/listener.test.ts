/** Tests the separate port for nodes, and the limit of connections per network. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { startTestApp } from '../test/control/app.ts';
import type { TestApp } from '../test/control/app.ts';
import { CONNECTIONS } from './limits.ts';

const NODE = { id: 'nod_01ARZ3NDEKTSV4RRFFQ69G5FAV', name: 'node-1' };
const TOKEN = `gnt_${'a'.repeat(42)}`;
const AS_NODE = { authorization: `Bearer ${TOKEN}` };

let test: TestApp;
let nodeUrl: string;
beforeAll(async () => {
  test = await startTestApp({
    env: { NODE_INTERFACE_PORT: '0' },
    findNode: async (token) => (token === TOKEN ? NODE : null),
  });
  nodeUrl = `http://127.0.0.1:${test.settings.nodePort}`;
});
afterAll(() => test.close());

async function statusOf(url: string, headers: Record<string, string>): Promise<number> {
  const { status } = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query: '{ baseAddress }' }),
  });
  return status;
}

/** The code with which the socket is closed, or the answer to connection_init. */
async function socketOutcome(url: string, headers: Record<string, string>): Promise<unknown> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', { headers });
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init' }));
  const [first] = (await Promise.race([once(socket, 'close'), once(socket, 'message')])) as [unknown];
  socket.terminate();
  return typeof first === 'number' ? first : (JSON.parse(String(first)) as { type: string }).type;
}

describe('NODE_INTERFACE_PORT', () => {
  it('serves only nodes, over HTTP and WebSocket', async () => {
    const { cookie } = await test.user('ann@example.com');
    expect(await statusOf(nodeUrl, AS_NODE)).toBe(200);
    expect(await statusOf(nodeUrl, {})).toBe(401);
    expect(await statusOf(nodeUrl, { cookie: cookie ?? '' })).toBe(401);
    expect(await socketOutcome(nodeUrl, AS_NODE)).toBe('connection_ack');
    expect(await socketOutcome(nodeUrl, { cookie: cookie ?? '' })).toBe(4403);
    expect((await fetch(`${nodeUrl}/sign-in`)).status).toBe(404);
    expect((await fetch(`${nodeUrl}/readyz`)).status).toBe(200);
  });

  it('makes the public port refuse node tokens', async () => {
    expect(await statusOf(test.url, AS_NODE)).toBe(401);
    expect(await socketOutcome(test.url, AS_NODE)).toBe(4403);
    expect(await statusOf(test.url, {})).toBe(200);
  });
});

describe('connections', () => {
  it('are closed above their limit for a network without a verified caller', async () => {
    const fresh = await startTestApp();
    const open = (): Socket => {
      const socket = connect(Number(new URL(fresh.url).port), '127.0.0.1');
      socket.on('error', () => undefined);
      return socket;
    };
    const held = Array.from({ length: CONNECTIONS.anonymous.perCaller }, open);
    await Promise.all(held.map((socket) => once(socket, 'connect')));
    const further = open();
    further.resume();
    await once(further, 'close');
    for (const socket of held) socket.destroy();
    await expect
      .poll(() =>
        fetch(`${fresh.url}/livez`).then(
          ({ status }) => status,
          () => 0,
        ),
      )
      .toBe(200);
    await fresh.close();
  });
});

describe('metrics', () => {
  it('are served to local peers, and to others only with METRICS_TOKEN', async () => {
    const token = 'a token for metrics'.replaceAll(' ', '-');
    const operated = await startTestApp({ env: { METRICS_TOKEN: token } });
    const read = (headers: Record<string, string>) =>
      fetch(`${operated.url}/metrics`, { headers }).then(({ status }) => status);
    const proxied = { 'x-forwarded-for': '203.0.113.9' };
    expect(await read({})).toBe(200);
    expect(await read(proxied)).toBe(403);
    expect(await read({ ...proxied, authorization: 'Bearer wrong' })).toBe(403);
    expect(await read({ ...proxied, authorization: `Bearer ${token}` })).toBe(200);
    await operated.close();
  });
});
