/**
 * Client formats over an upstream of another format: charges, errors in the client's format, named losses.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeRoute, startNode, until } from '../../test/request-path.ts';
import type { CallOptions, TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream } from '../../test/upstream.ts';
import { DIALECTS } from '../dialects/index.ts';

const MESSAGES = [{ role: 'user', content: 'Hello' }];
const CHAT_ANSWER = {
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi there' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
};
const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({
    id: 'c1',
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;
const BEGIN = chunk({ role: 'assistant', content: 'Hi' });
const END = chunk({}, 'stop') + 'data: [DONE]\n\n';
const SSE = { 'content-type': 'text/event-stream' };

interface Client {
  name: string;
  whole: CallOptions;
  streamed: CallOptions;
  end: RegExp;
  error: RegExp;
}

const generative = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] };
const CLIENTS: Client[] = [
  {
    name: 'anthropic-messages',
    end: /event: message_stop/,
    error: /event: error/,
    whole: { path: '/v1/messages', body: { model: 'swift', max_tokens: 9, messages: MESSAGES } },
    streamed: {
      path: '/v1/messages',
      body: { model: 'swift', max_tokens: 9, messages: MESSAGES, stream: true },
    },
  },
  {
    name: 'openai-responses',
    end: /response\.completed/,
    error: /response\.failed|"error"/,
    whole: { path: '/v1/responses', body: { model: 'swift', input: 'Hello' } },
    streamed: { path: '/v1/responses', body: { model: 'swift', input: 'Hello', stream: true } },
  },
  {
    name: 'google-generate',
    end: /"finishReason": ?"STOP"/,
    error: /\n\{"error":/,
    whole: { path: '/v1beta/models/swift:generateContent', body: generative },
    streamed: { path: '/v1/models/swift:streamGenerateContent?alt=sse', body: generative },
  },
  {
    name: 'completions',
    end: /\[DONE\]/,
    error: /"error"/,
    whole: { path: '/v1/completions', body: { model: 'swift', prompt: 'Hello' } },
    streamed: { path: '/v1/completions', body: { model: 'swift', prompt: 'Hello', stream: true } },
  },
];

let upstream: FakeUpstream;
let node: TestNode;

beforeEach(async () => {
  upstream = await startUpstream(() => ({ chunks: [JSON.stringify(CHAT_ANSWER)] }));
  node = await startNode();
  node.store.routes.push(makeRoute(upstream.origin));
});

afterEach(async () => {
  await node.close();
  await upstream.close();
});

for (const client of CLIENTS.filter(({ name }) => name === 'completions' || Object.hasOwn(DIALECTS, name))) {
  describe(`${client.name} over a chat upstream`, () => {
    it('returns a whole answer in the client’s format, and charges once', async () => {
      const { status, text } = await node.call(client.whole);
      expect(status, text).toBe(200);
      expect(text).toContain('Hi there');
      expect(JSON.parse(text).error ?? null).toBeNull();
      expect(JSON.parse(upstream.seen[0]?.body ?? '')).toMatchObject({ model: 'vendor-model' });
      expect(node.ledger.charges).toMatchObject([{ outcome: 'DELIVERED', tokens: { input: 3, output: 2 } }]);
    });

    it('returns a stream whose end waits until the charge is durable', async () => {
      upstream.play = () => ({ headers: SSE, chunks: [BEGIN, chunk({ content: ' you' }), END] });
      const gate = Promise.withResolvers<void>();
      node.ledger.onCommit = () => gate.promise;
      let seen = '';
      const answer = node.call({
        ...client.streamed,
        leaveWhen: (text) => {
          seen = text;
          return false;
        },
      });
      await until(() => seen.includes(' you'));
      expect(seen).not.toMatch(client.end);
      gate.resolve();
      const { text, broken } = await answer;
      expect(broken).toBe(false);
      expect(text).toMatch(client.end);
      expect(node.ledger.charges).toHaveLength(1);
    });

    it('reports a broken stream in the client’s format, at no cost', async () => {
      upstream.play = () => ({ headers: SSE, chunks: [BEGIN] });
      const { text, broken } = await node.call(client.streamed);
      expect(broken).toBe(true);
      expect(text).toMatch(client.error);
      expect(text).not.toMatch(client.end);
      expect(node.ledger.charges).toEqual([]);
    });

    it('translates an error event of the upstream, and ends the stream properly', async () => {
      const errorEvent = `data: ${JSON.stringify({ error: { message: 'gone', type: 'server_error' } })}\n\n`;
      upstream.play = () => ({ headers: SSE, chunks: [BEGIN, errorEvent], gapMs: 100 });
      const { text, broken } = await node.call(client.streamed);
      expect(broken).toBe(false);
      expect(text).toMatch(client.error);
      expect(text).not.toMatch(client.end);
      expect(node.ledger.charges).toEqual([]);
    });

    it('translates the upstream’s refusal of the request', async () => {
      upstream.play = () => ({ status: 422, chunks: ['{"error":{"message":"bad temperature","type":"x"}}'] });
      const { status, text } = await node.call(client.whole);
      expect(status).toBe(400);
      expect(JSON.parse(text).error.message).toContain('bad temperature');
      expect(text).not.toContain('"type":"x"');
    });
  });
}

describe('a member that the upstream’s format cannot carry', () => {
  const body = { model: 'swift', max_tokens: 9, messages: MESSAGES, top_k: 5 };

  it('is named in a header', async () => {
    const { status, headers } = await node.call({ path: '/v1/messages', body });
    expect({ status, dropped: headers['x-gateway-dropped'] }).toEqual({ status: 200, dropped: '/top_k' });
  });

  it('is refused if the client forbids losses', async () => {
    const headers = { 'x-gateway-strict': '1' };
    const { status, text } = await node.call({ path: '/v1/messages', body, headers });
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
    expect(upstream.seen).toEqual([]);
  });
});

describe('messages', () => {
  it('take the key from x-api-key, even beside a foreign Bearer, and return the request id', async () => {
    const body = { model: 'swift', max_tokens: 9, messages: MESSAGES };
    const headers = { authorization: 'Bearer proxy', 'x-api-key': node.secret };
    const answer = await node.call({ path: '/v1/messages?beta=true', body, headers });
    expect(answer.status).toBe(200);
    expect(answer.headers['request-id']).toBe(answer.headers['x-request-id']);
  });

  it('are mirrored together with their version and beta headers', async () => {
    node.store.routes = [makeRoute(upstream.origin, { provider: { protocols: ['anthropic-messages'] } })];
    upstream.play = () => ({
      chunks: [
        JSON.stringify({
          id: 'm1',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [{ type: 'text', text: 'Hi' }],
          stop_reason: 'end_turn',
          stop_sequence: null,
          usage: { input_tokens: 1, output_tokens: 1 },
        }),
      ],
    });
    const own = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'effort-2025-11-24' };
    const headers = { ...own, 'x-app': 'cli' };
    const body = { model: 'swift', max_tokens: 9, messages: MESSAGES, top_k: 1 };
    expect((await node.call({ path: '/v1/messages', body, headers })).status).toBe(200);
    const [seen] = upstream.seen;
    expect(seen?.path).toBe('/v1/messages');
    expect(seen?.headers).toMatchObject(own);
    expect(seen?.headers).toMatchObject({ 'x-api-key': 'vendor-secret' });
    expect(seen?.headers).not.toHaveProperty('x-app');
    expect(JSON.parse(seen?.body ?? '')).toEqual({ ...body, model: 'vendor-model' });
  });

  it('have their tokens counted by an upstream of their format or estimated, for free', async () => {
    const count = { path: '/v1/messages/count_tokens', body: { model: 'swift', messages: MESSAGES } };
    const estimated = await node.call(count);
    expect(estimated.headers['x-gateway-estimated']).toBe('1');
    expect(JSON.parse(estimated.text).input_tokens).toBeGreaterThan(0);
    node.store.routes = [makeRoute(upstream.origin, { provider: { protocols: ['anthropic-messages'] } })];
    upstream.play = () => ({ chunks: ['{"input_tokens":2095}'] });
    expect(JSON.parse((await node.call(count)).text)).toEqual({ input_tokens: 2095 });
    expect(upstream.seen.at(-1)?.path).toBe('/v1/messages/count_tokens');
    expect([...node.ledger.charges, ...node.ledger.free]).toEqual([]);
  });
});

describe('references to objects stored at a provider', () => {
  it('are refused even if the upstream speaks the same format', async () => {
    node.store.routes = [makeRoute(upstream.origin, { provider: { protocols: ['openai-responses'] } })];
    for (const field of ['previous_response_id', 'conversation']) {
      const body = { model: 'swift', input: 'Hello', [field]: 'stored-1' };
      const { status, text } = await node.call({ path: '/v1/responses', body });
      expect(status).toBe(DIALECTS['openai-responses'] ? 400 : 404);
      if (DIALECTS['openai-responses']) expect(text).toContain(field);
    }
    expect(upstream.seen).toEqual([]);
  });
});
