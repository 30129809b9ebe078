/** The relayed families over real sockets: misbehaving upstreams and exact charges. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeModel, makeRoute, startNode, until } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream, Play } from '../../test/upstream.ts';
import type { Family } from '@gateway/shared/catalog';

const FAMILIES: Family[] = ['embeddings', 'audio', 'images', 'rerank', 'moderations', 'search'];
const SSE = { 'content-type': 'text/event-stream' };
const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const DONE = 'data: [DONE]\n\n';
const SPEECH: Play = { headers: { 'content-type': 'audio/mpeg' }, chunks: [Buffer.alloc(100_000, 65)] };
const json = (value: object): Play => ({ chunks: [JSON.stringify(value)] });

let upstream: FakeUpstream;
let node: TestNode;

beforeEach(async () => {
  upstream = await startUpstream(() => json({ results: [{ flagged: false }] }));
  node = await startNode();
  node.store.modelList = [makeModel({ families: FAMILIES })];
  node.store.routes.push(makeRoute(upstream.origin, { route: { families: FAMILIES } }));
});

afterEach(async () => {
  await node.close();
  await upstream.close();
});

/** A form as body and headers. */
async function encoded(form: FormData, headers: Record<string, string> = {}) {
  const response = new Response(form);
  const type = { 'content-type': response.headers.get('content-type') ?? '' };
  return { body: Buffer.from(await response.arrayBuffer()), headers: { ...headers, ...type } };
}

function expectFree(): void {
  expect(node.ledger.charges).toEqual([]);
  expect(node.ledger.open).toBe(0);
}

function expectOneCharge(family: Family, streamed = false): void {
  expect(node.ledger.charges).toMatchObject([{ outcome: 'DELIVERED', family, cost: '100000', streamed }]);
  expect(node.ledger.open).toBe(0);
}

describe('a JSON request', () => {
  it('is sent with only the model’s name changed, and charged once', async () => {
    const body = '{ "model" : "swift", "input": ["a", "b"], "metadata": {"a": 1e2} }';
    const { status, text } = await node.call({ path: '/v1/moderations', body });
    expect({ status, text }).toEqual({ status: 200, text: '{"results":[{"flagged":false}]}' });
    expect(upstream.seen[0]).toMatchObject({
      path: '/v1/moderations',
      body: body.replace('swift', 'vendor-model'),
    });
    expect(upstream.seen[0]?.headers.authorization).toBe('Bearer vendor-secret');
    expectOneCharge('moderations');
  });

  it('reports the tokens that the upstream counted', async () => {
    upstream.play = () =>
      json({ results: [{ index: 1, relevance_score: 0.9 }], usage: { total_tokens: 12 } });
    const body = { model: 'swift', query: 'q', documents: ['a', { text: 'b' }] };
    expect((await node.call({ path: '/v1/rerank', body })).status).toBe(200);
    expect(node.ledger.charges).toMatchObject([{ family: 'rerank', tokens: { input: 12 } }]);
  });

  it.each([
    ['/v1/moderations', { input: 'x' }, 'model'],
    ['/v1/moderations', { model: 'swift', input: [] }, 'input'],
    ['/v1/rerank', { model: 'swift', documents: ['a'] }, 'query'],
    ['/v1/rerank', { model: 'swift', query: 'q', documents: Array(9).fill('a') }, 'documents'],
    ['/v1/embeddings', { model: 'swift', input: Array(9).fill('a') }, 'input'],
    ['/v1/embeddings', { model: 'swift', input: [1, 'a'] }, 'input'],
    ['/v1/embeddings', { model: 'swift', input: 'a', encoding_format: 'hex' }, 'encoding_format'],
    ['/v1/images/generations', { model: 'swift', prompt: 'p', n: 3 }, 'n'],
    ['/v1/images/edits', { model: 'swift', prompt: 'p', images: [{ file_id: 'f' }] }, '/images/0/file_id'],
    ['/v1/audio/speech', { model: 'swift', voice: 'alloy' }, 'input'],
    ['/v1/audio/speech', { model: 'swift', input: 'Hi', voice: { id: 'voice_1' } }, '/voice/id'],
    ['/v1/images/generations', { model: 'swift', prompt: 'p', size: '3840x2160' }, '/size'],
    ['/v1/embeddings', { model: 'swift', input: 'a', provider: { only: ['dear'] } }, '/provider'],
    [
      '/v1/alpha/search',
      { model: 'swift', input: [{ container_id: 'c' }], commands: { open: [{}] } },
      '/input/0/container_id',
    ],
    ['/v1/alpha/search', { model: 'swift', commands: {} }, 'commands'],
  ])(
    'is refused at %s for %j at no cost, and the error names the parameter %s',
    async (path, body, parameter) => {
      const { status, text } = await node.call({ path, body });
      expect({ status, parameter: (JSON.parse(text) as { error: { param: string } }).error.param }).toEqual({
        status: 400,
        parameter,
      });
      expect(upstream.seen).toEqual([]);
      expectFree();
    },
  );

  it.each([
    ['an error inside a success', json({ error: { type: 'server_error', message: 'secret' } }), 502],
    ['HTML', { chunks: ['<html>'] }, 502],
    ['an empty body', { chunks: [] }, 502],
    ['a refusal of the account', { ...json({ error: { message: 'quota' } }), status: 403 }, 502],
    [
      'a refusal of the request',
      { ...json({ error: { message: 'Too long', code: 'x' } }), status: 400 },
      400,
    ],
  ])('is free if the upstream answers with %s', async (_name, play: Play, expected) => {
    upstream.play = () => play;
    const { status, text } = await node.call({
      path: '/v1/moderations',
      body: { model: 'swift', input: 'x' },
    });
    expect(status).toBe(expected);
    expect(text).not.toContain('secret');
    expectFree();
  });
});

describe('an unknown member', () => {
  const ODD = '{"model":"swift","input":["a"],"odd":{"a":1}}';
  const EMBEDDED = json({ data: [{ index: 0, embedding: [1] }] });
  const fields = new FormData();
  fields.set('model', 'swift');
  fields.set('file', new Blob(['RIFF'], { type: 'audio/wav' }), 'a.wav');
  fields.set('odd[]', 'secret odd');
  fields.set('other', new Blob(['secret file']), 'b.bin');
  fields.set('timestamp_granularities[]', 'word');
  const SEARCH = '{"model":"swift","commands":{"open":[{"ref_id":"a","odd":1}]}}';
  const kinds: [name: string, path: string, body: string | FormData, dropped: string, play: Play][] = [
    ['moderations', '/v1/moderations', ODD, '/odd', json({ results: [] })],
    ['embeddings', '/v1/embeddings', ODD, '/odd', EMBEDDED],
    ['a form', '/v1/audio/transcriptions', fields, '/odd, /other', json({ text: 'Said.' })],
    ['speech', '/v1/audio/speech', ODD.replace('["a"]', '"a"'), '/odd', SPEECH],
    ['a search', '/v1/alpha/search', SEARCH, '/commands/open/0/odd', json({ output: 'Found.' })],
  ];
  const send = async (path: string, body: string | FormData, headers: Record<string, string> = {}) => {
    if (typeof body === 'string') return node.call({ path, body, headers });
    return node.call({ path, ...(await encoded(body, headers)) });
  };

  it.each(kinds)('is left out of %s and named', async (_name, path, body, dropped, play) => {
    upstream.play = () => play;
    const { status, headers } = await send(path, body);
    expect([status, headers['x-gateway-dropped']]).toEqual([200, dropped]);
    expect(upstream.seen[0]?.body).not.toContain('odd');
    expect(upstream.seen[0]?.body).not.toContain('secret file');
  });

  it.each(kinds)('is refused in %s for a strict client at no cost', async (_name, path, body) => {
    const { status } = await send(path, body, { 'x-gateway-strict': '1' });
    expect(status).toBe(400);
    expect(upstream.seen).toEqual([]);
    expectFree();
  });

  it.each(kinds)(
    'passes in %s if the model lets unknown members pass',
    async (_name, path, body, _dropped, play) => {
      node.store.modelList = [makeModel({ families: FAMILIES, passUnknown: true })];
      upstream.play = () => play;
      const { status, headers } = await send(path, body);
      expect([status, headers['x-gateway-dropped']]).toEqual([200, undefined]);
      expect(upstream.seen[0]?.body).toContain('odd');
    },
  );
});

describe('a model without a route for the family', () => {
  it('answers 404 and names the families that it serves', async () => {
    node.store.routes = [makeRoute(upstream.origin, { route: { families: ['rerank', 'audio'] } })];
    const { status, text } = await node.call({
      path: '/v1/embeddings',
      body: { model: 'swift', input: 'a' },
    });
    expect(status).toBe(404);
    expect(text).toContain('It serves: audio, rerank.');
    expectFree();
  });

  it('answers 404 if no upstream speaks a format that can serve the family', async () => {
    const provider = { protocols: ['anthropic-messages' as const] };
    node.store.routes = [makeRoute(upstream.origin, { provider, route: { families: FAMILIES } })];
    const body = { model: 'swift', input: 'a' };
    expect((await node.call({ path: '/v1/embeddings', body })).status).toBe(404);
    expect(upstream.seen).toEqual([]);
  });

  it('answers 501 to a search, so that agents continue without it', async () => {
    node.store.modelList = [makeModel()];
    const body = { model: 'swift', commands: { search_query: [{ q: 'x' }] } };
    const { status, text, headers } = await node.call({ path: '/v1/alpha/search', body });
    expect(status).toBe(501);
    expect(text).toContain('Web search is not available with swift');
    expect(headers['x-should-retry']).toBe('false');
  });
});

describe('speech', () => {
  const ask = (extra: object = {}) =>
    node.call({ path: '/v1/audio/speech', body: { model: 'swift', input: 'Hi', voice: 'alloy', ...extra } });

  it('is relayed while the upstream still sends, and is charged once', async () => {
    const chunk = Buffer.alloc(1000, 65);
    upstream.play = () => ({
      headers: { 'content-type': 'audio/mpeg' },
      chunks: Array(5).fill(chunk),
      gapMs: 30,
    });
    let first = -1;
    const { headers, text } = await node.call({
      path: '/v1/audio/speech',
      body: { model: 'swift', input: 'Hi', voice: 'alloy' },
      leaveWhen: () => {
        if (first < 0) first = upstream.sentBytes;
        return false;
      },
    });
    expect(headers['content-type']).toBe('audio/mpeg');
    expect(text.length).toBe(5000);
    expect(first).toBeLessThan(5000);
    expectOneCharge('audio');
  });

  it('breaks off and is free if the upstream breaks off', async () => {
    upstream.play = () => ({
      headers: { 'content-type': 'audio/mpeg' },
      chunks: Array(4).fill(Buffer.alloc(1000, 65)),
      gapMs: 20,
      cutAfterBytes: 3500,
    });
    const { broken } = await ask();
    expect(broken).toBe(true);
    await until(() => node.ledger.open === 0);
    expectFree();
  });

  it('breaks off before its last bytes if its charge does not become durable', async () => {
    const chunk = Buffer.alloc(1000, 65);
    upstream.play = () => ({ headers: { 'content-type': 'audio/mpeg' }, chunks: [chunk, chunk], gapMs: 20 });
    node.ledger.failCommit = new Error('disk full');
    const { broken, text } = await ask();
    expect({ broken, length: text.length }).toEqual({ broken: true, length: 1000 });
    expectFree();
  });

  it('is relayed as events if the client asks for events', async () => {
    const chunks = [
      event({ type: 'speech.audio.delta', audio: 'QQ==' }),
      event({ type: 'speech.audio.done' }),
    ];
    upstream.play = () => ({ headers: SSE, chunks });
    expect((await ask({ stream_format: 'sse' })).text).toBe(chunks.join(''));
    expectOneCharge('audio', true);
  });
});

describe('a stream of events', () => {
  const ask = (n = 1) =>
    node.call({ path: '/v1/images/generations', body: { model: 'swift', prompt: 'p', stream: true, n } });
  const partial = event({ type: 'image_generation.partial_image', b64_json: 'QQ==' });
  const completed = event({
    type: 'image_generation.completed',
    b64_json: 'QQ==',
    usage: { input_tokens: 5, output_tokens: 7, input_tokens_details: { text_tokens: 5 } },
  });

  it('is relayed unchanged, charged once, and its tokens are counted', async () => {
    upstream.play = () => ({ headers: SSE, chunks: [partial, completed, DONE] });
    expect((await ask()).text).toBe(`${partial}${completed}${DONE}`);
    expect(node.ledger.charges).toMatchObject([{ streamed: true, tokens: { input: 5, output: 7 } }]);
  });

  it('is complete only with every picture that was asked for', async () => {
    upstream.play = () => ({ headers: SSE, chunks: [completed, completed] });
    expect((await ask(2)).text).toBe(completed + completed);
    expectOneCharge('images', true);
  });

  const transcribe = async () => {
    const form = new FormData();
    form.set('model', 'swift');
    form.set('stream', 'true');
    form.set('file', new Blob(['RIFF']), 'a.wav');
    return node.call({ path: '/v1/audio/transcriptions', ...(await encoded(form)) });
  };

  const errorEvent = event({ type: 'error', error: { code: 'server_error', message: 'secret' } });
  it.each([
    ['without its last event', [partial], true],
    ['with too few pictures', [partial, completed], true],
    ['with [DONE] after a partial picture', [partial, DONE], true],
    ['with [DONE] after too few pictures', [partial, completed, DONE], true],
    ['with an error event', [partial, errorEvent], false],
  ])(
    'ends with an error event for the client, and is free, if it ends %s',
    async (_name, chunks, expected) => {
      upstream.play = () => ({ headers: SSE, chunks });
      const { text, broken } = await ask(2);
      expect(broken).toBe(expected);
      expect(text).toMatch(/data: \{"error":\{.*\}\}\n\n$/);
      expect(text).not.toContain('secret');
      expectFree();
    },
  );

  it('fails and is free as a transcription if [DONE] comes before its last event', async () => {
    upstream.play = () => ({
      headers: SSE,
      chunks: [event({ type: 'transcript.text.delta', delta: 'Hel' }), DONE],
    });
    const { text, broken } = await transcribe();
    expect(broken).toBe(true);
    expect(text).toMatch(/data: \{"error":\{.*\}\}\n\n$/);
    expectFree();
  });

  it.each([
    ['its own last event', [{ type: 'transcript.text.done', text: 'Hello', usage: { input_tokens: 3 } }]],
    [
      'the finish of a choice',
      [{ choices: [{ delta: {}, finish_reason: 'stop' }] }, { choices: [], usage: { prompt_tokens: 3 } }],
    ],
  ])('is charged once for a transcription that ends with %s and [DONE]', async (_name, ends) => {
    upstream.play = () => ({ headers: SSE, chunks: [...ends.map(event), DONE] });
    expect((await transcribe()).text).toBe(ends.map(event).join('') + DONE);
    expect(node.ledger.charges).toMatchObject([{ family: 'audio', tokens: { input: 3 } }]);
  });

  it('is charged if the client leaves after content', async () => {
    upstream.play = () => ({ headers: SSE, chunks: [partial, completed], gapMs: 500 });
    await node.call({
      path: '/v1/images/generations',
      body: { model: 'swift', prompt: 'p', stream: true },
      leaveWhen: (text) => text.includes('partial_image'),
    });
    await until(() => node.ledger.charges.length > 0);
    expect(node.ledger.charges).toMatchObject([{ outcome: 'CLIENT_LEFT' }]);
  });
});
