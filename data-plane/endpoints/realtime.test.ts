/** Realtime sessions over real sockets: admission, charges, errors and close codes. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '@gateway/shared/failures';
import { SESSIONS_PER_KEY } from '../limits.ts';
import { IDLE_MS, SESSION_MS } from '../realtime/session.ts';
import { connectRealtime, RealtimeUpstream } from '../../test/realtime.ts';
import type { RealtimeClient } from '../../test/realtime.ts';
import { makeKey, makeModel, makeRoute, startNode, until } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';

/** Longer than any test of this file, in ms. */
const MARGIN_MS = 100_000;

let upstream: RealtimeUpstream;
let node: TestNode;
/** How far the node's clock is ahead of the real one, in ms. */
let aheadMs: number;

beforeEach(async () => {
  upstream = new RealtimeUpstream();
  await upstream.listen();
  aheadMs = 0;
  node = await startNode({ now: () => performance.now() + aheadMs });
  node.store.modelList = [makeModel({ families: ['realtime'] })];
  node.store.routes = [makeRoute(upstream.origin, { route: { families: ['realtime'] } })];
});

afterEach(async () => {
  upstream.terminate();
  await node.close();
  await upstream.close();
});

const connect = (query?: string, options?: Parameters<typeof connectRealtime>[2]): RealtimeClient =>
  connectRealtime(node, query, options);

async function openSession(query?: string): Promise<RealtimeClient> {
  const client = connect(query);
  await client.received('session.created');
  return client;
}

/** The status and body with which an upgrade was refused. */
function refused(query: string, options: Parameters<typeof connect>[1] = {}): Promise<[number, string]> {
  const { socket } = connect(query, options);
  return new Promise((resolve) => {
    socket.on('error', () => undefined);
    socket.on('unexpected-response', (_request, response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.on('end', () => resolve([response.statusCode ?? 0, text]));
    });
  });
}

const send = (event: object): void => upstream.send(event);
const created = (id?: string): void => upstream.created(id);
const delta = (id?: string): void => upstream.delta(id);
const done = (status?: string, id?: string): void => upstream.done(status, id);

describe('an upgrade', () => {
  it('reaches the upstream with its name of the model and its credential', async () => {
    const { socket } = await openSession('?model=swift&intent=transcription');
    expect(upstream.seen[0]?.url).toBe('/v1/realtime?model=vendor-model&intent=transcription');
    expect(upstream.seen[0]?.headers.authorization).toBe('Bearer vendor-secret');
    expect(upstream.seen[0]?.headers['sec-websocket-extensions']).toBeUndefined();
    socket.close();
    await until(() => node.ledger.open === 0);
    expect(node.ledger.charges).toEqual([]);
  });

  it('takes the key from one subprotocol, and selects the other one', async () => {
    const protocols = ['realtime', `openai-insecure-api-key.${node.secret}`];
    const { socket, received } = connect('?model=swift', { protocols });
    await received('session.created');
    expect(socket.protocol).toBe('realtime');
    expect(upstream.seen[0]?.headers['sec-websocket-protocol']).toBeUndefined();
  });

  it.each([
    ['a wrong key', '?model=swift', 401],
    ['no model', '', 400],
    ['two models', '?model=swift&model=other', 400],
    ['an unknown model', '?model=nope', 404],
    ['a call id', '?model=swift&call_id=1', 400],
  ])('is refused in HTTP with %s', async (name, query, expected) => {
    const bearer = name === 'a wrong key' ? `sk-${'0'.repeat(48)}` : node.secret;
    const [status, text] = await refused(query, { bearer });
    expect(status).toBe(expected);
    expect(JSON.parse(text)).toHaveProperty('error.message');
    expect(upstream.seen).toEqual([]);
  });

  it('is refused before the upstream is asked if the wallet has no money', async () => {
    node.ledger.refuse = new GatewayError('insufficient_funds', 'Top up.');
    const [status, text] = await refused('?model=swift');
    expect(status).toBe(402);
    expect(text).toContain('insufficient_quota');
    expect(upstream.seen).toEqual([]);
  });

  it('fails in HTTP if the upstream refuses the session or cannot be reached', async () => {
    upstream.server.removeAllListeners('upgrade');
    expect((await refused('?model=swift'))[0]).toBe(503);
    node.store.routes = [makeRoute('http://127.0.0.1:1', { route: { id: 'r2', families: ['realtime'] } })];
    expect((await refused('?model=swift'))[0]).toBe(502);
    expect(node.ledger.open).toBe(0);
  });

  it('is required: an ordinary request gets 426, an incomplete handshake 400', async () => {
    const plain = await node.call({ method: 'GET', path: '/v1/realtime?model=swift' });
    expect({ status: plain.status, upgrade: plain.headers.upgrade }).toEqual({
      status: 426,
      upgrade: 'websocket',
    });
    const half = await node.call({
      method: 'GET',
      path: '/v1/realtime?model=swift',
      headers: { connection: 'Upgrade', upgrade: 'websocket' },
    });
    expect(half.status).toBe(400);
  });

  it('is answered as an ordinary request on another path', async () => {
    const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
    expect((await node.call({ method: 'GET', path: '/v1/responses', headers })).status).toBe(426);
    expect((await node.call({ method: 'GET', path: '/v1/models', headers })).status).toBe(200);
  });

  it('is refused above ten sessions of one key, until one of them ends', async () => {
    const [first] = await Promise.all(Array.from({ length: SESSIONS_PER_KEY }, () => openSession()));
    const [status, text] = await refused('?model=swift');
    expect(status).toBe(429);
    expect(JSON.parse(text)).toMatchObject({
      error: {
        type: 'rate_limit_error',
        code: 'rate_limit_exceeded',
        message: expect.stringContaining('10 sessions'),
      },
    });
    const other = makeKey({ id: 'key-2' });
    node.store.keys.push(other.record);
    await connect('?model=swift', { bearer: other.secret }).received('session.created');
    first?.socket.close();
    await first?.closed;
    await until(() => upstream.sockets.clients.size === SESSIONS_PER_KEY);
    await openSession();
  });
});

describe('a response', () => {
  it('has its price held when it begins, and is charged before its end is relayed', async () => {
    const client = await openSession();
    created();
    await client.received('response.created');
    expect(node.ledger.open).toBe(1);
    delta();
    await client.received('response.output_text.delta');
    const gate = Promise.withResolvers<void>();
    node.ledger.onCommit = () => gate.promise;
    done();
    await until(() => node.ledger.open === 0);
    expect(client.events.some(({ type }) => type === 'response.done')).toBe(false);
    gate.resolve();
    await client.received('response.done');
    expect(node.ledger.charges).toMatchObject([
      { family: 'realtime', outcome: 'DELIVERED', tokens: { input: 7, output: 3 }, routeId: 'route-1' },
    ]);
  });

  it('is charged once, under its own request id', async () => {
    const client = await openSession();
    for (const id of ['r1', 'r2']) created(id);
    for (const id of ['r2', 'r1']) done('completed', id);
    await until(() => client.events.filter(({ type }) => type === 'response.done').length === 2);
    expect(new Set(node.ledger.charges.map(({ requestId }) => requestId)).size).toBe(2);
  });

  it.each([
    ['failed', true, []],
    ['cancelled', false, []],
    ['cancelled', true, [{ outcome: 'CLIENT_LEFT' }]],
    ['incomplete', true, [{ outcome: 'DELIVERED' }]],
  ])('is charged or free by its end %s (content: %s)', async (status, content, charges) => {
    const client = await openSession();
    created();
    if (content) delta();
    done(status);
    await client.received('response.done');
    expect(node.ledger.charges).toMatchObject(charges);
    expect(node.ledger.charges).toHaveLength(charges.length);
    expect(node.ledger.open).toBe(0);
  });

  it('lists failed attempts to open the session if it is the first response', async () => {
    const busy = createServer((_request, response) => response.writeHead(429).end('{}'));
    await new Promise<void>((resolve) => busy.listen(0, '127.0.0.1', resolve));
    const busyOrigin = `http://127.0.0.1:${(busy.address() as AddressInfo).port}`;
    const families: ['realtime'] = ['realtime'];
    node.store.routes = [
      makeRoute(busyOrigin, { route: { id: 'route-0', families, priority: 0 } }),
      makeRoute(upstream.origin, { route: { families } }),
    ];
    await openSession();
    for (const id of ['r1', 'r2']) {
      created(id);
      done('completed', id);
    }
    await until(() => node.ledger.charges.length === 2);
    busy.close();
    const [first, second] = node.ledger.charges;
    expect(first?.tried?.attempts).toMatchObject([
      { routeId: 'route-0', outcome: 'FAILED', errorCode: 'upstream_busy', httpStatus: 429 },
      { routeId: 'route-1', outcome: 'ANSWERED' },
    ]);
    expect(second?.tried).toBeUndefined();
  });

  it('is charged if the client leaves in the middle, and free if the upstream does', async () => {
    const client = await openSession();
    created();
    delta();
    await client.received('response.output_text.delta');
    client.socket.terminate();
    await until(() => node.ledger.charges.length === 1);
    expect(node.ledger.charges).toMatchObject([{ outcome: 'CLIENT_LEFT' }]);
    const other = await openSession();
    created();
    delta();
    await other.received('response.output_text.delta');
    upstream.terminate();
    expect(await other.closed).toBe(1011);
    expect(other.events.at(-1)).toMatchObject({ type: 'error', error: { code: 'upstream_failed' } });
    expect(node.ledger.charges).toHaveLength(1);
    expect(node.ledger.open).toBe(0);
  });

  it.each([
    ['an empty item', {}, []],
    ['the name of a function', { type: 'function_call', name: 'look', arguments: '' }, []],
    ['arguments of a function', { type: 'function_call', arguments: '{}' }, [{ outcome: 'CLIENT_LEFT' }]],
    ['words', { content: [{ type: 'output_text', text: 'Hi' }] }, [{ outcome: 'CLIENT_LEFT' }]],
  ])('is charged or free if the client leaves after %s', async (_name, item, charges) => {
    const client = await openSession();
    created();
    send({ type: 'response.output_item.added', response_id: 'r1', item });
    await client.received('response.output_item.added');
    client.socket.terminate();
    await until(() => node.ledger.open === 0);
    expect(node.ledger.charges).toMatchObject(charges);
    expect(node.ledger.charges).toHaveLength(charges.length);
  });

  it('is not relayed and ends the session if it cannot be paid', async () => {
    const client = await openSession();
    node.ledger.refuse = new GatewayError('insufficient_funds', 'Top up.');
    created();
    expect(await client.closed).toBe(1008);
    expect(client.events.map(({ type }) => type)).toEqual(['session.created', 'error']);
    expect(node.ledger.charges).toEqual([]);
  });

  it.each(['insufficient_funds', 'unavailable'] as const)(
    'is charged only if the customer caused the end of the session during it (%s)',
    async (code) => {
      const client = await openSession();
      created();
      delta();
      await client.received('response.output_text.delta');
      node.ledger.refuse = new GatewayError(code, 'Top up.');
      created('r2');
      await client.closed;
      await until(() => node.ledger.open === 0);
      const charges = code === 'unavailable' ? [] : [{ outcome: 'CLIENT_LEFT' }];
      expect(node.ledger.charges).toMatchObject(charges);
      expect(node.ledger.charges).toHaveLength(charges.length);
    },
  );

  it('is relayed without its end if its charge does not become durable', async () => {
    const client = await openSession();
    node.ledger.failCommit = new GatewayError('unavailable', 'Try again.');
    created();
    delta();
    done();
    expect(await client.closed).toBe(1011);
    expect(client.events.some(({ type }) => type === 'response.done')).toBe(false);
    expect(node.ledger.charges).toEqual([]);
  });

  it('is cut and free if the operator stops its key or account', async () => {
    const client = await openSession();
    created();
    delta();
    await client.received('response.output_text.delta');
    node.store.stop('key-1', 'OPERATOR');
    expect(await client.closed).toBe(1008);
    expect(client.events.at(-1)).toMatchObject({ type: 'error', error: { code: 'key_disabled' } });
    expect(node.ledger.charges).toEqual([]);
    expect(node.ledger.free).toMatchObject([{ outcome: 'OPERATOR_CUT', cost: '0' }]);
  });

  it('is cut and charged if the owner disables its key', async () => {
    const client = await openSession();
    created();
    delta();
    await client.received('response.output_text.delta');
    node.store.stop('key-1');
    expect(await client.closed).toBe(1008);
    expect(client.events.at(-1)).toMatchObject({ type: 'error', error: { code: 'key_disabled' } });
    expect(node.ledger.charges).toMatchObject([{ outcome: 'KEY_CUT' }]);
  });
});

describe('a session', () => {
  const timeUp = (words: string) => ({
    type: 'error',
    error: { type: 'timeout_error', code: 'request_timeout', message: expect.stringContaining(words) },
  });

  it('ends after five minutes without a frame of either side, not before', async () => {
    const client = await openSession();
    // A ping shows that the check has run and did not find the session idle.
    aheadMs += IDLE_MS - MARGIN_MS;
    await once(client.socket, 'ping');
    client.socket.send('{"type":"input_audio_buffer.clear"}');
    await until(() => upstream.fromClient.length === 1);
    aheadMs += IDLE_MS - MARGIN_MS;
    await once(client.socket, 'ping');
    send({ type: 'input_audio_buffer.cleared' });
    await client.received('input_audio_buffer.cleared');
    aheadMs += IDLE_MS;
    expect(await client.closed).toBe(1001);
    expect(client.events.at(-1)).toMatchObject(timeUp('silent for too long'));
    await until(() => upstream.sockets.clients.size === 0);
    expect([node.ledger.open, node.ledger.charges]).toEqual([0, []]);
  });

  it('charges the open response if it is idle because the client does not read', async () => {
    const client = await openSession();
    created();
    delta();
    await client.received('response.output_text.delta');
    client.socket.pause();
    const text = 'x'.repeat(1024 * 1024);
    for (let count = 0; count < 30; count += 1)
      send({ type: 'response.output_audio.delta', response_id: 'r1', delta: text });
    // On a busy machine the amount may rest before the buffers of the client are full.
    let waiting = -1;
    for (let unchanged = 0; unchanged < 8; unchanged += 1) {
      if (waiting !== upstream.socket?.bufferedAmount) unchanged = 0;
      waiting = upstream.socket?.bufferedAmount ?? 0;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(waiting).toBeGreaterThan(0);
    aheadMs += IDLE_MS;
    await until(() => node.ledger.open === 0);
    expect(node.ledger.charges).toMatchObject([{ outcome: 'CLIENT_LEFT' }]);
  });

  it('ends after an hour in spite of activity, and the open response is free', async () => {
    const client = await openSession();
    created();
    delta();
    await client.received('response.output_text.delta');
    aheadMs += SESSION_MS;
    delta();
    expect(await client.closed).toBe(1001);
    expect(client.events.at(-1)).toMatchObject(timeUp('reached its maximum length'));
    expect([node.ledger.open, node.ledger.charges]).toEqual([0, []]);
  });

  it('is closed when its key is disabled, at no cost without an open response', async () => {
    const client = await openSession();
    node.store.stop('key-1');
    expect(await client.closed).toBe(1008);
    expect(client.events.at(-1)).toMatchObject({
      type: 'error',
      error: { type: 'permission_error', code: 'key_disabled' },
    });
    await until(() => upstream.sockets.clients.size === 0);
    expect([node.ledger.open, node.ledger.charges]).toEqual([0, []]);
  });
});

describe('frames', () => {
  it('are relayed with the upstream’s model, and refused if they refer to stored prompts', async () => {
    const client = await openSession();
    client.socket.send('{"type":"session.update","session":{"model":"swift","voice":"a"}}');
    client.socket.send('{"type":"response.create","response":{"prompt":{"id":"pmpt_1"}}}');
    client.socket.send('not json');
    client.socket.send('{"type":"response.create"}');
    await until(() => upstream.fromClient.length === 2);
    expect(upstream.fromClient).toEqual([
      { type: 'session.update', session: { model: 'vendor-model', voice: 'a' } },
      { type: 'response.create' },
    ]);
    await until(() => client.events.length === 3);
    expect(client.events.slice(1).map(({ error }) => error)).toMatchObject([
      { code: 'invalid_event', param: 'response.prompt' },
      { code: 'invalid_event', param: null },
    ]);
  });

  it('about the operator’s account are not relayed', async () => {
    const client = await openSession();
    send({ type: 'rate_limits.updated', rate_limits: [{ name: 'requests', limit: 9 }] });
    send({
      type: 'error',
      error: { type: 'server_error', code: 'insufficient_quota', message: 'Your plan' },
    });
    send({ type: 'error', error: { type: 'invalid_request_error', code: 'bad_item', message: 'No item' } });
    await until(() => client.events.length === 3);
    expect(JSON.stringify(client.events)).not.toMatch(/quota|plan|rate_limits/);
    expect(client.events[2]?.error?.code).toBe('bad_item');
  });

  it.each([
    ['binary data', Buffer.from([0, 1, 2]), 1003, 'text frames'],
    ['17 MiB', 'x'.repeat(17 * 1024 * 1024), 1009, 'larger than 16 MiB'],
  ])('end the session with an error event if the client sends %s', async (_name, frame, code, words) => {
    const client = await openSession();
    client.socket.send(frame);
    expect(await client.closed).toBe(code);
    expect(client.events.at(-1)).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.stringContaining(words) },
    });
    await until(() => upstream.sockets.clients.size === 0);
    expect([node.ledger.open, node.ledger.charges]).toEqual([0, []]);
  });

  it.each([
    ['too large', 'x'.repeat(17 * 1024 * 1024), 1009],
    ['of binary data', Buffer.from([0, 1, 2]), 1003],
  ])(
    'end the session, and the response is charged, if they are %s in the middle of a response',
    async (_name, frame, code) => {
      const client = await openSession();
      created();
      delta();
      await client.received('response.output_text.delta');
      client.socket.send(frame);
      expect(await client.closed).toBe(code);
      await until(() => node.ledger.charges.length === 1);
      expect(node.ledger.charges).toMatchObject([{ outcome: 'CLIENT_LEFT' }]);
    },
  );

  it('end the session at no cost if they are too large and from the upstream', async () => {
    const client = await openSession();
    created();
    delta();
    await client.received('response.output_text.delta');
    upstream.socket?.send('x'.repeat(17 * 1024 * 1024));
    expect(await client.closed).toBe(1011);
    expect(client.events.at(-1)).toMatchObject({ type: 'error', error: { code: 'upstream_failed' } });
    expect([node.ledger.open, node.ledger.charges]).toEqual([0, []]);
  });

  it('slow the upstream down while the client does not read', async () => {
    const client = await openSession();
    client.socket.pause();
    const text = 'x'.repeat(64 * 1024);
    let sent = 0;
    const more = (): void => {
      if (sent >= 1_000) return;
      sent += 1;
      upstream.socket?.send(
        JSON.stringify({ type: 'response.output_audio.delta', response_id: 'r', delta: text }),
        more,
      );
    };
    more();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(sent).toBeLessThan(1_000);
    client.socket.resume();
    await until(() => client.events.length > 1_000);
  });
});
