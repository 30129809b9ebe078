/** The rate limit of a pool on the request path: which requests count, refusals, and headers. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { GatewayError } from '@gateway/shared/failures';
import { REFUSAL_INTERVAL_MS } from '../limits.ts';
import { SETTINGS, makeKey, makeModel, makeRoute, startNode, until } from '../../test/request-path.ts';
import type { CallOptions, CallResult, TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream } from '../../test/upstream.ts';

const messages = [{ role: 'user', content: 'Hello' }];
const QUESTION = { model: 'swift', messages };
const ANSWER = JSON.stringify({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
});
const HOST = 'acme.gateway.test';
const FULL = new GatewayError('rate_limited', 'The requests per minute are used up.', { retryAfterMs: 350 });

let upstream: FakeUpstream;
let node: TestNode;
let secret: string;
/** How far the node's clock is ahead of the real one, in ms. */
let aheadMs = 0;

beforeAll(async () => {
  upstream = await startUpstream(() => ({ chunks: [ANSWER] }));
  node = await startNode({ now: () => performance.now() + aheadMs });
  const key = makeKey({ id: 'key-2', poolId: 'pool-1' });
  secret = key.secret;
  node.store.keys.push(key.record);
});

beforeEach(() => {
  // Each test has refusals of its own in the usage log.
  aheadMs += REFUSAL_INTERVAL_MS;
  upstream.play = () => ({ chunks: [ANSWER] });
  upstream.seen.length = 0;
  node.store.settings = SETTINGS;
  node.store.routes = [makeRoute(upstream.origin)];
  node.store.pools = [
    {
      kind: 'POOL',
      id: 'pool-1',
      name: 'Acme',
      subdomain: 'acme',
      models: [makeModel({ families: ['chat_completions', 'realtime'] })],
      rpmCap: 600,
      paidUntil: Date.now() + 60_000,
    },
  ];
  node.permits.admitted = 0;
  node.permits.refuse = undefined;
  node.permits.status = { remaining: 41, resetMs: 6_500 };
  node.ledger.charges = [];
  node.ledger.free = [];
  node.ledger.refuse = undefined;
});

afterAll(async () => {
  await node.close();
  await upstream.close();
});

function ask(options: CallOptions = {}): Promise<CallResult> {
  const headers = { authorization: `Bearer ${secret}`, host: HOST, ...options.headers };
  const body = options.method === 'GET' ? undefined : QUESTION;
  return node.call({ body, ...options, headers });
}

const asGoogle = (): CallOptions => ({
  path: '/v1beta/models/swift:generateContent',
  body: { contents: [{ parts: [{ text: 'Hello' }] }] },
});
const asAnthropic = (): CallOptions => ({ path: '/v1/messages', body: { ...QUESTION, max_tokens: 9 } });

describe('a permit', () => {
  it('is used by a request that reaches an upstream, even if the upstream fails', async () => {
    expect((await ask()).status).toBe(200);
    upstream.play = () => ({ status: 500 });
    expect((await ask()).status).toBe(502);
    expect(node.permits.admitted).toBe(2);
  });

  it('is not used by refusals, lists, token counts and requests that cannot be paid', async () => {
    expect((await ask({ body: '{' })).status).toBe(400);
    expect((await ask({ body: { ...QUESTION, model: 'none' } })).status).toBe(404);
    expect((await ask({ method: 'GET', path: '/v1/models' })).status).toBe(200);
    expect((await ask({ path: '/v1/messages/count_tokens' })).status).toBe(200);
    node.store.settings = { ...SETTINGS, poolRequestsFree: false };
    node.ledger.refuse = new GatewayError('insufficient_funds', 'Top up.');
    expect((await ask()).status).toBe(402);
    expect(node.permits.admitted).toBe(0);
  });

  it('is not needed on the main domain', async () => {
    node.permits.refuse = FULL;
    const answer = await node.call({ body: QUESTION });
    expect(answer.status).toBe(200);
    expect(answer.headers['ratelimit-policy']).toBeUndefined();
  });
});

describe('a request above the rate limit', () => {
  it('is answered 429 in the client’s format, with the wait in ms and in seconds', async () => {
    node.permits.refuse = FULL;
    const wait = { 'retry-after': '1', 'retry-after-ms': '350' };
    const chat = await ask();
    expect(chat).toMatchObject({ status: 429, headers: wait });
    expect(JSON.parse(chat.text)).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
    const anthropic = await ask(asAnthropic());
    expect(anthropic).toMatchObject({ status: 429, headers: wait });
    expect(JSON.parse(anthropic.text)).toMatchObject({ type: 'error', error: { type: 'rate_limit_error' } });
    const google = await ask(asGoogle());
    expect(google).toMatchObject({ status: 429, headers: wait });
    expect(JSON.parse(google.text)).toMatchObject({ error: { code: 429, status: 'RESOURCE_EXHAUSTED' } });
    expect(upstream.seen).toEqual([]);
  });

  it('is reported as throttled at no cost, and holds no money', async () => {
    node.store.settings = { ...SETTINGS, poolRequestsFree: false };
    node.permits.refuse = FULL;
    await ask();
    expect(node.ledger.charges).toEqual([]);
    expect(node.ledger.open).toBe(0);
    expect(node.ledger.free).toMatchObject([
      {
        status: 'THROTTLED',
        outcome: 'THROTTLED',
        cost: '0',
        httpStatus: 429,
        poolId: 'pool-1',
        source: 'POOL_KEY',
        errorCode: 'rate_limited',
      },
    ]);
  });
});

describe('every answer of a pool', () => {
  const RATE = {
    'ratelimit-policy': '"pool";q=600;w=60',
    ratelimit: '"pool";r=41;t=7',
    'x-ratelimit-limit-requests': '600',
    'x-ratelimit-remaining-requests': '41',
    'x-ratelimit-reset-requests': '7s',
  };

  it('names limit, remaining requests and reset time, also in refusals and free answers', async () => {
    expect((await ask()).headers).toMatchObject(RATE);
    expect((await ask({ body: '{' })).headers).toMatchObject(RATE);
    expect((await ask({ method: 'GET', path: '/v1/models' })).headers).toMatchObject(RATE);
    expect((await ask({ path: '/v1/files' })).headers).toMatchObject(RATE);
    node.permits.refuse = FULL;
    expect((await ask()).headers).toMatchObject(RATE);
  });

  it('adds the headers of the messages format on the messages path', async () => {
    const { headers } = await ask(asAnthropic());
    expect(headers).toMatchObject({
      ...RATE,
      'anthropic-ratelimit-requests-limit': '600',
      'anthropic-ratelimit-requests-remaining': '41',
    });
    const reset = Date.parse(String(headers['anthropic-ratelimit-requests-reset']));
    expect(Math.abs(reset - Date.now() - 6_500)).toBeLessThan(60_000);
    expect((await ask()).headers['anthropic-ratelimit-requests-limit']).toBeUndefined();
  });

  it('names the limit alone if the node does not know the pool’s remaining requests', async () => {
    node.permits.status = undefined;
    const { headers } = await ask();
    expect(headers['ratelimit-policy']).toBe(RATE['ratelimit-policy']);
    expect(headers['ratelimit']).toBeUndefined();
  });

  it('has no such headers for a caller without a key of the pool', async () => {
    for (const authorization of ['', `Bearer ${node.secret}`]) {
      expect((await ask({ headers: { authorization } })).headers['ratelimit-policy']).toBeUndefined();
    }
  });
});

describe('a realtime session', () => {
  let server: Server;
  let far: WebSocket | undefined;

  beforeEach(async () => {
    far = undefined;
    const sockets = new WebSocketServer({ noServer: true });
    server = createServer().on('upgrade', (request, socket, head) =>
      sockets.handleUpgrade(request, socket, head, (accepted) => {
        far = accepted;
        accepted.send('{"type":"session.created","session":{"type":"realtime"}}');
      }),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    node.store.routes = [makeRoute(origin, { route: { families: ['realtime'] } })];
    return async () => {
      far?.terminate();
      await new Promise((resolve) => server.close(resolve));
    };
  });

  const open = (): WebSocket =>
    new WebSocket(`ws://127.0.0.1:${node.port}/v1/realtime?model=swift`, {
      headers: { authorization: `Bearer ${secret}`, host: HOST },
    });

  it('uses one permit for each response, and none for its opening', async () => {
    const socket = open();
    const [response] = (await once(socket, 'upgrade')) as [{ headers: Record<string, string> }];
    expect(response.headers['ratelimit-policy']).toBe('"pool";q=600;w=60');
    await until(() => far !== undefined);
    expect(node.permits.admitted).toBe(0);
    for (const id of ['r1', 'r2']) {
      far?.send(JSON.stringify({ type: 'response.created', response: { id } }));
      far?.send(JSON.stringify({ type: 'response.done', response: { id, status: 'completed', usage: {} } }));
    }
    await until(() => node.ledger.free.length === 2);
    expect(node.permits.admitted).toBe(2);
    socket.close();
    await once(socket, 'close');
  });

  it('is refused at the limit before it opens, and ends when a response exceeds the limit', async () => {
    node.permits.refuse = FULL;
    const refused = open();
    const [, response] = (await once(refused, 'unexpected-response')) as [unknown, { statusCode: number }];
    expect(response.statusCode).toBe(429);
    refused.on('error', () => undefined);
    refused.terminate();
    node.permits.refuse = undefined;
    const socket = open();
    await once(socket, 'open');
    await until(() => far !== undefined);
    node.permits.refuse = FULL;
    far?.send(JSON.stringify({ type: 'response.created', response: { id: 'r1' } }));
    const [code] = (await once(socket, 'close')) as [number];
    expect(code).toBe(1013);
    expect(node.ledger.free.at(-1)).toMatchObject({ status: 'THROTTLED', cost: '0' });
  });
});
