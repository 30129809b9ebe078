/**
 * The request path of chat completions over real sockets: misbehaving upstreams, clients that leave, and
 * exact charges.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '@gateway/shared/failures';
import { digestOf, issueKey } from '@gateway/shared/secrets';
import { LONG_TIMEOUTS, makeRoute, startNode, until } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream, Play } from '../../test/upstream.ts';

const QUESTION = { model: 'swift', messages: [{ role: 'user', content: 'Hello' }] };
const STREAMED = { ...QUESTION, stream: true };
const ANSWER = {
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'vendor-model',
  odd: { kept: [1, 2] },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
};

function chunk(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: 'c1', model: 'vendor-model', choices })}\n\n`;
}
const USAGE = `data: ${JSON.stringify({
  id: 'c1',
  object: 'chat.completion.chunk',
  model: 'vendor-model',
  choices: [],
  usage: ANSWER.usage,
})}\n\n`;
const FIRST = chunk({ role: 'assistant', content: '' });
const WORDS = [chunk({ content: 'Hel' }), chunk({ content: 'lo' })];
const END = [chunk({}, 'stop'), USAGE, 'data: [DONE]\n\n'];
const SSE = { 'content-type': 'text/event-stream' };
const stream = (...chunks: string[]): Play => ({ headers: SSE, chunks });

/** The upstream's bytes as the client gets them: with the gateway's id and name of the model. */
const mirrored = (text: string): string => text.replaceAll('vendor-model', 'swift');
const OWN_ID = /chatcmpl-[0-9a-f]{32}/g;
const withUpstreamId = (text: string): string => text.replaceAll(OWN_ID, 'c1');

let upstream: FakeUpstream;
let node: TestNode;

beforeEach(async () => {
  upstream = await startUpstream(() => ({ chunks: [JSON.stringify(ANSWER)] }));
  node = await startNode();
  node.store.routes.push(makeRoute(upstream.origin));
});

afterEach(async () => {
  await node.close();
  await upstream.close();
});

/** A streamed answer whose client has received content, and whose upstream sends nothing more. */
async function startAnswer() {
  upstream.play = () => ({ ...stream(FIRST, ...WORDS), hang: 'after-chunks' });
  let seen = '';
  const answer = node.call({
    body: STREAMED,
    leaveWhen: (text) => {
      seen = text;
      return false;
    },
  });
  await until(() => seen.includes('lo'));
  return { answer };
}

function expectFree(): void {
  expect(node.ledger.charges).toEqual([]);
  expect(node.ledger.open).toBe(0);
}

describe('a whole answer', () => {
  it('is relayed with the catalog’s model name, charged once, and names its price', async () => {
    const { status, text, headers } = await node.call({ body: QUESTION });
    expect(text).toMatch(OWN_ID);
    expect([status, withUpstreamId(text)]).toEqual([200, mirrored(JSON.stringify(ANSWER))]);
    expect(headers['x-gateway-price-usd']).toBe('0.10');
    expect(headers['x-request-id']).toMatch(/^req_[0-9a-f]{32}$/);
    expect(node.ledger.charges).toMatchObject([
      {
        outcome: 'DELIVERED',
        cost: '100000',
        model: 'swift',
        routeId: 'route-1',
        tokens: { input: 3, output: 1 },
        requestId: headers['x-request-id'],
        source: 'API_KEY',
        streamed: false,
      },
    ]);
    expect(node.ledger.open).toBe(0);
  });

  it('is requested with the upstream’s name of the model, and without the client’s headers', async () => {
    await node.call({
      body: '{ "messages" : [{"role":"user","content":"Hi"}],\n "model":"swift", "store":true, "seed": 1e2 }',
      headers: { cookie: 'a=b' },
    });
    const [seen] = upstream.seen;
    expect(seen?.path).toBe('/v1/chat/completions');
    const messages = [{ role: 'user', content: 'Hi' }];
    expect(JSON.parse(seen?.body ?? '')).toEqual({ messages, model: 'vendor-model', seed: 100 });
    expect(seen?.headers.authorization).toBe('Bearer vendor-secret');
    expect(seen?.headers).not.toHaveProperty('cookie');
    expect(seen?.headers['accept-encoding']).toBe('identity');
  });

  it('is not delivered if its charge does not become durable', async () => {
    node.ledger.failCommit = new GatewayError('unavailable', 'Try again.');
    const { status, text } = await node.call({ body: QUESTION });
    expect(status).toBe(503);
    expect(text).not.toContain('Hi');
    expectFree();
  });
});

describe('a stream', () => {
  it('is relayed without a usage event that only the gateway asked for', async () => {
    upstream.play = () => stream(FIRST, ...WORDS, ...END);
    const { status, text, headers, broken } = await node.call({ body: STREAMED });
    expect({ status, broken }).toEqual({ status: 200, broken: false });
    expect(withUpstreamId(text)).toBe(mirrored(FIRST + WORDS.join('') + END[0] + END[2]));
    expect(new Set(text.match(OWN_ID)).size).toBe(1);
    expect(headers['content-type']).toContain('text/event-stream');
    expect(JSON.parse(upstream.seen[0]?.body ?? '')).toMatchObject({
      stream_options: { include_usage: true },
    });
    expect(node.ledger.charges).toMatchObject([
      { outcome: 'DELIVERED', streamed: true, tokens: { output: 1 } },
    ]);
  });

  it('keeps the usage event if the client asked for it', async () => {
    upstream.play = () => stream(FIRST, ...WORDS, ...END);
    const { text } = await node.call({ body: { ...STREAMED, stream_options: { include_usage: true } } });
    expect(withUpstreamId(text)).toBe(mirrored(FIRST + WORDS.join('') + END.join('')));
  });

  it('holds its end back until its charge is durable', async () => {
    upstream.play = () => stream(FIRST, ...WORDS, ...END);
    let seenBefore = '';
    let seen = '';
    const gate = Promise.withResolvers<void>();
    node.ledger.onCommit = () => gate.promise;
    const answer = node.call({
      body: STREAMED,
      leaveWhen: (text) => {
        seen = text;
        return false;
      },
    });
    await until(() => seen.includes('lo'));
    seenBefore = seen;
    gate.resolve();
    const { text } = await answer;
    expect(seenBefore).not.toContain('"finish_reason":"stop"');
    expect(seenBefore).not.toContain('[DONE]');
    expect(text).toContain('[DONE]');
  });

  it('costs nothing and never looks complete if the upstream cuts it, at whatever byte', async () => {
    const whole = FIRST + WORDS.join('') + END.join('');
    const finish = whole.indexOf('data: [DONE]');
    for (const cutAfterBytes of [1, FIRST.length + 5, FIRST.length + WORDS.join('').length + 3, finish]) {
      upstream.play = () => ({ headers: SSE, chunks: [whole], cutAfterBytes });
      const { status, text, broken } = await node.call({ body: STREAMED });
      if (status === 200) {
        expect(broken).toBe(true);
        expect(text).toContain('"error"');
      } else expect(status).toBe(502);
      expect(text).not.toContain('[DONE]');
    }
    expectFree();
  });

  it('fails and is free if it ends without its terminal event', async () => {
    upstream.play = () => stream(FIRST, ...WORDS);
    const { text, broken } = await node.call({ body: STREAMED });
    expect(broken).toBe(true);
    expect(text).toContain('"error"');
    expectFree();
    expect(node.ledger.free).toMatchObject([{ outcome: 'UPSTREAM_FAILED', cost: '0' }]);
  });

  it('breaks off and is free if its charge does not become durable', async () => {
    upstream.play = () => stream(FIRST, ...WORDS, ...END);
    node.ledger.failCommit = new GatewayError('unavailable', 'Try again.');
    const { text, broken } = await node.call({ body: STREAMED });
    expect(broken).toBe(true);
    expect(text).not.toContain('[DONE]');
    expectFree();
  });

  it('is charged once and closes the upstream if the client leaves after content', async () => {
    upstream.play = () => ({ ...stream(FIRST, ...WORDS), hang: 'after-chunks' });
    await node.call({ body: STREAMED, leaveWhen: (text) => text.includes('lo') });
    await until(() => node.ledger.charges.length > 0 && upstream.openSockets() === 0);
    expect(node.ledger.charges).toMatchObject([
      { outcome: 'CLIENT_LEFT', status: 'CANCELLED', cost: '100000' },
    ]);
  });

  it('is free if the client leaves before content', async () => {
    upstream.play = () => ({ ...stream(FIRST), hang: 'after-chunks' });
    await node.call({ body: STREAMED, leaveAfter: until(() => upstream.seen.length > 0) });
    await until(() => node.ledger.free.length > 0 && upstream.openSockets() === 0);
    expect(node.ledger.free).toMatchObject([{ outcome: 'NO_CONTENT', cost: '0' }]);
    expectFree();
  });

  it('is cut and free if the operator stops its key or account after content', async () => {
    const { answer } = await startAnswer();
    node.store.stop('key-1', 'OPERATOR');
    const { text, broken } = await answer;
    expect(broken).toBe(true);
    expect(text).toContain('costs nothing');
    await until(() => node.ledger.free.length > 0);
    expect(node.ledger.free).toMatchObject([{ outcome: 'OPERATOR_CUT', cost: '0' }]);
    expectFree();
  });

  it('is cut and charged if the owner disables its key after content', async () => {
    const { answer } = await startAnswer();
    node.store.stop('key-1');
    const { text, broken } = await answer;
    expect(broken).toBe(true);
    expect(text).toContain('key_disabled');
    expect(node.ledger.charges).toMatchObject([{ outcome: 'KEY_CUT' }]);
  });

  it('is cut and charged if the owner stops the secret of the request, not another secret', async () => {
    const { answer } = await startAnswer();
    node.store.stop('key-1', 'OWNER', [digestOf(issueKey())]);
    node.store.stop('key-1', 'OWNER', [digestOf(node.secret)]);
    const { text, broken } = await answer;
    expect(broken).toBe(true);
    expect(text).toContain('Use the new secret');
    expect(node.ledger.charges).toMatchObject([{ outcome: 'KEY_CUT' }]);
  });

  it('is cut with an error and free if the node stops', async () => {
    const { answer } = await startAnswer();
    await node.stop();
    const { text, broken } = await answer;
    expect(broken).toBe(true);
    expect(text).toContain('being stopped');
    expectFree();
  });

  it('falls back to the next upstream if nothing was relayed', async () => {
    const second = await startUpstream(() => stream(FIRST, ...WORDS, ...END));
    node.store.routes.push(makeRoute(second.origin, { route: { id: 'route-2', priority: 2 } }));
    upstream.play = () => ({ ...stream(FIRST), cutAfterBytes: FIRST.length });
    const { text } = await node.call({ body: STREAMED });
    await second.close();
    expect(text).toContain('[DONE]');
    expect(node.ledger.charges).toMatchObject([{ routeId: 'route-2' }]);
  });
});

describe('a slow client', () => {
  it('slows the upstream down instead of filling memory, and gets the whole answer', async () => {
    const word = chunk({ content: 'x'.repeat(64 * 1024) });
    const words = Array.from({ length: 500 }, () => word);
    upstream.play = () => stream(FIRST, ...words, ...END);
    node.store.routes = [makeRoute(upstream.origin, { provider: { timeouts: LONG_TIMEOUTS } })];
    const gate = Promise.withResolvers<void>();
    const answer = node.call({ body: STREAMED, readAfter: gate.promise });
    await until(() => upstream.sentBytes > 0);
    // While another client gets a whole answer, the node has the time to read the rest of the first one.
    const other = await node.call({ body: STREAMED });
    const before = upstream.sentBytes - [FIRST, ...words, ...END].join('').length;
    // No more than the kernel's socket buffers hold on both sides.
    expect(before).toBeLessThan((words.length * word.length) / 2);
    gate.resolve();
    const { text, broken } = await answer;
    expect(broken).toBe(false);
    expect(withUpstreamId(text)).toHaveLength(mirrored(FIRST + words.join('') + END[0] + END[2]).length);
    expect(other.text).toHaveLength(text.length);
    expect(node.ledger.charges).toHaveLength(2);
  });

  it('is charged if it uses up the total time of its answer', async () => {
    const word = chunk({ content: 'x'.repeat(64 * 1024) });
    upstream.play = () => ({
      ...stream(FIRST, ...Array.from({ length: 500 }, () => word)),
      hang: 'after-chunks',
    });
    // Long enough that a busy machine does not use it up on the side of the upstream.
    const timeouts = { ...LONG_TIMEOUTS, totalMs: 2_000 };
    node.store.routes = [makeRoute(upstream.origin, { provider: { timeouts } })];
    const gate = Promise.withResolvers<void>();
    const answer = node.call({ body: STREAMED, readAfter: gate.promise });
    await until(() => node.ledger.open === 0 && upstream.seen.length > 0);
    gate.resolve();
    expect((await answer).broken).toBe(true);
    expect(node.ledger.charges).toMatchObject([{ outcome: 'CLIENT_LEFT' }]);
  });
});

describe('an upstream', () => {
  it('is asked once more after it closed an idle connection', async () => {
    upstream.play = (_request, count) =>
      count === 1 ? { refuse: true } : { chunks: [JSON.stringify(ANSWER)] };
    expect((await node.call({ body: QUESTION })).status).toBe(200);
    expect(upstream.seen).toHaveLength(2);
  });

  const cases: [string, Play, number][] = [
    ['refuses the connection', { refuse: true }, 502],
    ['answers HTML', { chunks: ['<html>'] }, 502],
    ['answers an error inside a 200', { chunks: ['{"error":{"message":"no"}}'] }, 502],
    ['cuts the body', { chunks: [JSON.stringify(ANSWER)], cutAfterBytes: 20 }, 502],
    ['answers 500', { status: 500, chunks: ['{}'] }, 502],
    ['redirects', { status: 302, headers: { location: 'http://example.com' } }, 502],
    ['refuses the credential', { status: 401, chunks: ['{"error":{"message":"bad key org-x"}}'] }, 502],
    ['answers 402', { status: 402, chunks: ['{}'] }, 502],
    ['does not know the model', { status: 404, chunks: ['{}'] }, 502],
    ['is busy', { status: 429, headers: { 'retry-after': '7' }, chunks: ['{}'] }, 503],
  ];
  for (const [name, play, expected] of cases) {
    it(`causes a free ${expected} that reveals nothing of the operator’s account if it ${name}`, async () => {
      upstream.play = () => play;
      const { status, text, headers } = await node.call({ body: QUESTION });
      expect(status).toBe(expected);
      expect(JSON.parse(text)).toHaveProperty('error.message');
      expect(text).not.toContain('org-x');
      if (expected === 503) expect(headers['retry-after']).toBe('7');
      expectFree();
      expect(node.ledger.free).toMatchObject([{ outcome: 'UPSTREAM_FAILED', status: 'FAILED' }]);
    });
  }

  it('causes a free 504 if it hangs before its headers', async () => {
    node.store.routes = [
      makeRoute(upstream.origin, {
        provider: {
          timeouts: { connectMs: 500, headersMs: 200, firstContentMs: 500, idleMs: 200, totalMs: 2_000 },
        },
      }),
    ];
    upstream.play = () => ({ hang: 'before-headers' });
    expect((await node.call({ body: QUESTION })).status).toBe(504);
    expectFree();
  });

  it('causes an error event and no charge if it hangs in the middle of a stream', async () => {
    node.store.routes = [
      makeRoute(upstream.origin, {
        provider: {
          timeouts: { connectMs: 500, headersMs: 500, firstContentMs: 500, idleMs: 200, totalMs: 2_000 },
        },
      }),
    ];
    upstream.play = () => ({ ...stream(FIRST, ...WORDS), hang: 'after-chunks' });
    const { text, broken } = await node.call({ body: STREAMED });
    expect(broken).toBe(true);
    expect(text).toContain('upstream_timeout');
    expectFree();
  });

  it('has its refusal of the request relayed with status and body', async () => {
    const body = '{"error":{"message":"bad temperature","param":"temperature"}}';
    upstream.play = () => ({ status: 400, chunks: [body] });
    const { status, text } = await node.call({ body: QUESTION });
    expect({ status, text }).toEqual({ status: 400, text: body });
    expectFree();
  });

  it('is not asked again with a credential that it refused to two requests', async () => {
    upstream.play = () => ({ status: 401, chunks: ['{}'] });
    const statuses: number[] = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await node.call({ body: QUESTION })).status);
    expect(statuses).toEqual([502, 502, 503]);
    expect(upstream.seen).toHaveLength(2);
  });

  it('gets no more concurrent requests than its limit', async () => {
    node.store.routes = [makeRoute(upstream.origin, { provider: { concurrencyLimit: 1 } })];
    upstream.play = () => ({ ...stream(FIRST, ...WORDS), hang: 'after-chunks' });
    const gate = Promise.withResolvers<void>();
    let seen = '';
    const first = node.call({
      body: STREAMED,
      leaveAfter: gate.promise,
      leaveWhen: (text) => {
        seen = text;
        return false;
      },
    });
    await until(() => seen.includes('lo'));
    expect((await node.call({ body: QUESTION })).status).toBe(503);
    gate.resolve();
    await first;
    await until(() => node.ledger.charges.length > 0);
    upstream.play = () => ({ chunks: [JSON.stringify(ANSWER)] });
    expect((await node.call({ body: QUESTION })).status).toBe(200);
  });

  it('never gets a credential that is bound to another origin', async () => {
    const foreign = { id: 'c', origin: 'https://api.example.com', secret: 'foreign' };
    node.store.routes = [makeRoute(upstream.origin, { credentials: [foreign] })];
    expect((await node.call({ body: QUESTION })).status).toBe(502);
    expect(upstream.seen).toEqual([]);
  });

  it('is not reached at a private address unless the operator allows that', async () => {
    node.store.routes = [makeRoute(upstream.origin, { provider: { allowPrivate: false } })];
    expect((await node.call({ body: QUESTION })).status).toBe(502);
    const byName = upstream.origin.replace('127.0.0.1', 'localhost');
    node.store.routes = [makeRoute(byName, { provider: { allowPrivate: false } })];
    expect((await node.call({ body: QUESTION })).status).toBe(502);
    expect(upstream.seen).toEqual([]);
  });
});
