/** Requests whose long texts the node leaves unread until it needs them: no text is lost or changed. */
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { DialectName } from '@gateway/shared/catalog';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeRoute, startNode } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream } from '../../test/upstream.ts';

const LONG = 'A long text: "é"\n'.repeat(2_000);
/** The text in JSON, as every upstream gets it. */
const WRITTEN = JSON.stringify(LONG).slice(1, -1);
const turns = [LONG, 'And?', `${LONG}2`];
const messages = turns.map((content, at) => ({ role: at === 1 ? 'assistant' : 'user', content }));

const CLIENTS: Record<DialectName, { path: string; body: Record<string, unknown> }> = {
  'openai-chat': { path: '/v1/chat/completions', body: { model: 'swift', messages } },
  'openai-responses': { path: '/v1/responses', body: { model: 'swift', input: messages, store: false } },
  'anthropic-messages': { path: '/v1/messages', body: { model: 'swift', max_tokens: 9, messages } },
  'google-generate': {
    path: '/v1beta/models/swift:generateContent',
    body: { contents: turns.map((text, at) => ({ role: at === 1 ? 'model' : 'user', parts: [{ text }] })) },
  },
};
const FORMATS = Object.keys(CLIENTS) as DialectName[];
const PAIRS = FORMATS.flatMap((client) => FORMATS.map((upstream) => [client, upstream] as const));

let upstream: FakeUpstream;
let node: TestNode;

beforeEach(async () => {
  upstream = await startUpstream(() => ({ chunks: ['{}'] }));
  node = await startNode();
});
afterEach(async () => {
  await node.close();
  await upstream.close();
});

/** The body that the upstream gets. */
async function sent(client: DialectName, protocol: DialectName, more = {}): Promise<string> {
  node.store.routes = [makeRoute(upstream.origin, { provider: { protocols: [protocol] } })];
  const { path, body } = CLIENTS[client];
  await node.call({ path, body: JSON.stringify({ ...body, ...more }) });
  return String(upstream.seen[0]?.body);
}

/** Sends the body in chunks of this length, one in each turn of the event loop. */
async function sentInChunks(body: Buffer, length: number): Promise<void> {
  const headers = {
    ...{ authorization: `Bearer ${node.secret}`, 'content-type': 'application/json' },
    'content-length': body.length,
  };
  const options = {
    host: '127.0.0.1',
    port: node.port,
    method: 'POST',
    path: '/v1/chat/completions',
    headers,
  };
  const request = httpRequest({ ...options, agent: false });
  request.setNoDelay(true);
  const answered = once(request, 'response');
  for (let from = 0; from < body.length; from += length) {
    request.write(body.subarray(from, from + length));
    await setImmediate();
  }
  request.end();
  const [response] = (await answered) as [IncomingMessage];
  for await (const _ of response);
}

describe('a request with long texts', () => {
  it.each(PAIRS)('reaches the upstream with all texts: %s on %s', async (client, protocol) => {
    const body = await sent(client, protocol);
    expect(body.split(WRITTEN)).toHaveLength(3);
    expect(body).not.toContain('gateway-text');
  });

  it('keeps every byte on a mirror, apart from the model', async () => {
    const body = await sent('openai-chat', 'openai-chat');
    expect(body).toBe(JSON.stringify({ model: 'vendor-model', messages }));
  });

  it.each([
    ['small chunks', 900],
    ['large chunks', 50_000],
  ])('keeps every byte on a mirror if it arrives in %s', async (_, length) => {
    node.store.routes = [makeRoute(upstream.origin, { provider: { protocols: ['openai-chat'] } })];
    const body = Buffer.from(JSON.stringify({ messages, model: 'swift' }));
    await sentInChunks(body, length);
    expect(upstream.seen[0]?.body).toBe(JSON.stringify({ messages, model: 'vendor-model' }));
    expect(upstream.seen[0]?.headers['content-length']).toBe(String(body.length + 'vendor-model'.length - 5));
  });

  it('is sent whole to the next upstream if the first one fails', async () => {
    const failing = await startUpstream(() => ({ status: 503, chunks: ['{}'] }));
    node.store.routes = [
      makeRoute(failing.origin),
      makeRoute(upstream.origin, { route: { id: 'route-2', priority: 2 } }),
    ];
    await node.call({ body: JSON.stringify({ model: 'swift', messages }) });
    const expected = JSON.stringify({ model: 'vendor-model', messages });
    expect([failing.seen[0]?.body, upstream.seen[0]?.body]).toEqual([expected, expected]);
    await failing.close();
  });

  it('is sent whole to the next upstream if the first one breaks off while it is sent', async () => {
    const breaking = createServer((socket) =>
      socket.on('error', () => undefined).once('data', () => socket.destroy()),
    );
    await once(breaking.listen(0, '127.0.0.1'), 'listening');
    const { port } = breaking.address() as AddressInfo;
    node.store.routes = [
      makeRoute(`http://127.0.0.1:${port}`),
      makeRoute(upstream.origin, { route: { id: 'route-2', priority: 2 } }),
    ];
    await node.call({ body: JSON.stringify({ model: 'swift', messages }) });
    expect(upstream.seen[0]?.body).toBe(JSON.stringify({ model: 'vendor-model', messages }));
    breaking.close();
  });

  it('keeps the texts of members that the node writes again', async () => {
    const options = { include_usage: false, content: LONG };
    const body = await sent('openai-chat', 'openai-chat', { stream: true, stream_options: options });
    expect(JSON.parse(body).stream_options).toEqual({ ...options, include_usage: true });
  });
});
