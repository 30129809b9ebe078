/** Tests Converse over real sockets: every client format, whole and streamed, and how streams go wrong. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bindingOf } from '@gateway/shared/clouds/access';
import { AWS_KEYS, accessOf, isSigned } from '../../../test/clouds.ts';
import { streamMessage } from '../../../test/converse.ts';
import { makeModel, makeRoute, startNode } from '../../../test/request-path.ts';
import type { CallOptions, TestNode } from '../../../test/request-path.ts';
import { startUpstream } from '../../../test/upstream.ts';
import type { FakeUpstream, Play } from '../../../test/upstream.ts';

const MODEL = 'us.amazon.nova-2-lite-v1:0';
const USER = { role: 'user', content: 'Hello' };
/** A request in each client format, and what its answer must hold. */
const CLIENTS: { name: string; path: (stream: boolean) => string; body: object; end: RegExp }[] = [
  {
    name: 'openai-chat',
    path: () => '/v1/chat/completions',
    body: { model: 'swift', messages: [USER] },
    end: /"finish_reason":"stop"[^]*data: \[DONE\]\n\n$/,
  },
  {
    name: 'openai-responses',
    path: () => '/v1/responses',
    body: { model: 'swift', input: 'Hello' },
    end: /event: response\.completed\n/,
  },
  {
    name: 'anthropic-messages',
    path: () => '/v1/messages',
    body: { model: 'swift', max_tokens: 9, messages: [USER] },
    end: /event: message_stop\n/,
  },
  {
    name: 'google-generate',
    path: (stream) => `/v1beta/models/swift:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
    end: /"finishReason":"STOP"/,
  },
];

const USAGE = { inputTokens: 3, outputTokens: 2, totalTokens: 5, cacheReadInputTokens: 7 };
const WHOLE: Play = {
  chunks: [
    JSON.stringify({
      output: { message: { role: 'assistant', content: [{ text: 'Good day' }] } },
      stopReason: 'end_turn',
      usage: USAGE,
      metrics: { latencyMs: 5 },
    }),
  ],
};
const FRAMES = [
  streamMessage('messageStart', { role: 'assistant', p: 'abc' }),
  streamMessage('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Good ' } }),
  streamMessage('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'day' } }),
  streamMessage('contentBlockStop', { contentBlockIndex: 0 }),
  streamMessage('messageStop', { stopReason: 'end_turn' }),
  streamMessage('metadata', { usage: USAGE, metrics: { latencyMs: 5 } }),
];
const streamed = (chunks: Buffer[]): Play => ({
  headers: { 'content-type': 'application/vnd.amazon.eventstream' },
  chunks,
});

let upstream: FakeUpstream;
let node: TestNode;

beforeEach(async () => {
  upstream = await startUpstream(() => WHOLE);
  node = await startNode();
  node.store.modelList = [
    makeModel({ families: ['chat_completions', 'messages', 'generative_language', 'responses'] }),
  ];
  const { origin } = upstream;
  const access = accessOf({ auth: 'AWS_KEYS', region: 'us-east-1', style: 'BEDROCK' });
  const secret = JSON.stringify(AWS_KEYS);
  node.store.routes = [
    makeRoute(origin, {
      provider: { protocols: ['bedrock-converse'], baseUrl: origin, access },
      route: { upstreamModel: MODEL },
      credentials: [{ id: 'crd_1', origin, secret, binding: bindingOf(access) }],
    }),
  ];
});
afterEach(async () => {
  await node.close();
  await upstream.close();
});

function ask(client: (typeof CLIENTS)[number], stream: boolean): ReturnType<TestNode['call']> {
  const body = client.name === 'google-generate' ? client.body : { ...client.body, stream };
  const options: CallOptions = { path: client.path(stream), body };
  return node.call(options);
}

describe.each(CLIENTS)('a client of $name', (client) => {
  it('gets the whole answer of a signed request to converse, with its counts', async () => {
    const { status, text } = await ask(client, false);
    expect([status, text.includes('Good day'), /\b10\b/.test(text) || /\b7\b/.test(text)]).toEqual([
      200,
      true,
      true,
    ]);
    const [seen] = upstream.seen;
    if (!seen) throw new Error('no request');
    expect(seen.path).toBe(`/model/${encodeURIComponent(MODEL)}/converse`);
    expect(await isSigned(upstream.origin, seen)).toBe(true);
    expect(JSON.parse(seen.body)).toMatchObject({
      messages: [{ role: 'user', content: [{ text: 'Hello' }] }],
    });
    expect(node.ledger.charges).toMatchObject([{ tokens: { input: 10, output: 2, cached: 7 } }]);
  });

  it('gets the streamed answer of converse-stream, and pays once', async () => {
    upstream.play = () => streamed(FRAMES);
    const answer = await ask(client, true);
    expect(answer).toMatchObject({ status: 200, broken: false });
    expect(answer.text).toMatch(client.end);
    expect(answer.text).toContain('Good ');
    expect(upstream.seen[0]?.path).toBe(`/model/${encodeURIComponent(MODEL)}/converse-stream`);
    expect(upstream.seen[0]?.headers.accept).toBe('application/vnd.amazon.eventstream');
    expect(node.ledger.charges).toHaveLength(1);
  });
});

describe.each(CLIENTS)('a failed request of a client of $name', (client) => {
  it('gets an error of its own format for a refusal, with the name of the catalog', async () => {
    const message = `The model ${MODEL} takes no tools.`;
    upstream.play = () => ({ status: 400, chunks: [JSON.stringify({ message })] });
    const { status, text } = await ask(client, false);
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ error: { message: 'The model swift takes no tools.' } });
    expect(node.ledger.charges).toHaveLength(0);
  });

  it('gets a failed answer for free if the stream is throttled before any content', async () => {
    upstream.play = () =>
      streamed([...FRAMES.slice(0, 1), streamMessage('throttlingException', { message: 'x' }, 'exception')]);
    const { status } = await ask(client, true);
    expect(status).toBe(503);
    expect(node.ledger.charges).toHaveLength(0);
  });

  it('ends with an error if the stream was cut within a message or before its end', async () => {
    const [, first = Buffer.alloc(0), ...rest] = FRAMES;
    const half = Buffer.concat([first, ...rest]).subarray(0, first.length + 20);
    for (const bytes of [half, first]) {
      upstream.play = () => streamed([FRAMES[0] ?? bytes, bytes]);
      const { broken, text } = await ask(client, true);
      expect([broken, client.end.test(text)]).toEqual([true, false]);
    }
  });
});
