/** Requests as the providers' own samples and SDKs send them, which other clients write differently. */
import type { DialectName, Family } from '@gateway/shared/catalog';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeModel, makeRoute, startNode } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream } from '../../test/upstream.ts';
import { ENDPOINTS } from './table.ts';

const CHAT_ANSWER = {
  ...{ id: 'c1', model: 'vendor-model', object: 'chat.completion', created: 1 },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
};

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

function serve(protocol: DialectName, families: Family[], answer: object): void {
  node.store.modelList = [makeModel({ families })];
  const changes = { provider: { protocols: [protocol] }, route: { families } };
  node.store.routes = [makeRoute(upstream.origin, changes)];
  upstream.play = () => ({ chunks: [JSON.stringify(answer)] });
}
const sent = (): unknown => JSON.parse(upstream.seen.at(-1)?.body ?? 'null');

describe('Google’s samples', () => {
  const path = '/v1beta/models/swift:generateContent';
  const contents = { parts: { text: 'Hello there' } };

  it('may have one object in place of a list', async () => {
    const body = {
      system_instruction: { parts: { text: 'You are a cat.' } },
      contents,
      tools: { functionDeclarations: { name: 'f', description: 'F', parameters: { type: 'OBJECT' } } },
      generationConfig: { stopSequences: 'END', responseModalities: 'TEXT' },
    };
    expect((await node.call({ path, body })).status).toBe(200);
    expect(sent()).toMatchObject({
      messages: [
        { role: 'system', content: 'You are a cat.' },
        { role: 'user', content: 'Hello there' },
      ],
      tools: [{ type: 'function', function: { name: 'f' } }],
      stop: ['END'],
    });
  });

  it('pass unchanged to an upstream of the same format', async () => {
    const answer = { candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] };
    serve('google-generate', ['chat_completions'], answer);
    const body = { system_instruction: { parts: { text: 'You are a cat.' } }, contents };
    expect((await node.call({ path, body })).status).toBe(200);
    expect(sent()).toEqual(body);
  });

  it('may have one part in place of a list, in embeddings', async () => {
    serve('openai-chat', ['embeddings'], { data: [{ index: 0, embedding: [1] }] });
    const body = { content: { parts: { text: 'a' } } };
    expect((await node.call({ path: '/v1beta/models/swift:embedContent', body })).status).toBe(200);
    expect(sent()).toMatchObject({ input: ['a'] });
  });
});

describe('Cohere’s current SDK', () => {
  it('reranks with its second version', async () => {
    const answer = { id: 'r', results: [{ index: 1, relevance_score: 0.9 }], meta: { api_version: {} } };
    serve('openai-chat', ['rerank'], answer);
    const body = { model: 'swift', query: 'q', documents: ['a', 'b'], top_n: 1 };
    const { status, text } = await node.call({ path: '/v2/rerank', body });
    expect([status, JSON.parse(text)]).toEqual([200, answer]);
    expect(upstream.seen[0]?.path).toBe('/v1/rerank');
    expect(node.ledger.charges).toMatchObject([{ family: 'rerank' }]);
  });

  it('gets embeddings of upstreams of other formats', async () => {
    serve('google-generate', ['embeddings'], { embeddings: [{ values: [1, 2] }, { values: [3, 4] }] });
    const body = {
      ...{ model: 'swift', texts: ['a', 'b'], input_type: 'search_query', output_dimension: 2 },
      embedding_types: ['float', 'base64'],
    };
    const { status, text, headers } = await node.call({ path: '/v2/embed', body });
    expect(status).toBe(200);
    expect(headers['x-gateway-dropped']).toBe('/input_type');
    const base64 = [Buffer.from(Float32Array.of(1, 2).buffer), Buffer.from(Float32Array.of(3, 4).buffer)];
    expect(JSON.parse(text)).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      embeddings: {
        float: [
          [1, 2],
          [3, 4],
        ],
        base64: base64.map((bytes) => bytes.toString('base64')),
      },
      texts: ['a', 'b'],
      response_type: 'embeddings_by_type',
    });
    expect(node.ledger.charges).toMatchObject([{ family: 'embeddings' }]);
  });

  it('may send its inputs as contents', async () => {
    serve('openai-chat', ['embeddings'], { data: [{ index: 0, embedding: [1] }] });
    const inputs = [{ content: [{ type: 'text', text: 'a' }] }];
    expect((await node.call({ path: '/v2/embed', body: { model: 'swift', inputs } })).status).toBe(200);
    expect(sent()).toMatchObject({ input: ['a'] });
  });

  it.each([{ texts: [] }, { images: ['data:'] }, { texts: ['a'], embedding_types: ['int8'] }])(
    'is refused for %j',
    async (members) => {
      serve('openai-chat', ['embeddings'], {});
      const body = { model: 'swift', ...members };
      expect((await node.call({ path: '/v2/embed', body })).status).toBe(400);
    },
  );

  it('gets 501 for chat', async () => {
    expect((await node.call({ path: '/v2/chat', body: { model: 'swift' } })).status).toBe(501);
  });
});

describe('a count of tokens', () => {
  const input = { model: 'swift', input: 'Hello there, friend' };
  const path = '/v1/responses/input_tokens';

  it('comes from an upstream of the responses format for a client of this format', async () => {
    serve('openai-responses', ['chat_completions'], { object: 'response.input_tokens', input_tokens: 17 });
    const { text, headers } = await node.call({ path, body: { ...input, store: true } });
    expect(JSON.parse(text)).toEqual({ object: 'response.input_tokens', input_tokens: 17 });
    expect(headers['x-gateway-estimated']).toBeUndefined();
    expect(upstream.seen[0]?.path).toBe('/v1/responses/input_tokens');
    expect(sent()).toEqual({ ...input, model: 'vendor-model' });
    expect(node.ledger.charges).toEqual([]);
  });

  it('is an estimate if the upstream does not count', async () => {
    serve('openai-responses', ['chat_completions'], {});
    upstream.play = () => ({ status: 501, chunks: ['{"error":{"message":"no"}}'] });
    const { status, text, headers } = await node.call({ path, body: input });
    expect([status, headers['x-gateway-estimated']]).toEqual([200, '1']);
    expect(JSON.parse(text)).toMatchObject({ object: 'response.input_tokens', input_tokens: 7 });
  });

  it.each([
    ['/v1/messages/count_tokens', { model: 'swift', messages: [] }, 'input_tokens'],
    [path, input, 'input_tokens'],
    ['/v1beta/models/swift:countTokens', { contents: [] }, 'totalTokens'],
  ])('is an estimate without an upstream of the format: %s', async (each, body, member) => {
    const { text, headers } = await node.call({ path: each, body });
    expect(headers['x-gateway-estimated']).toBe('1');
    expect(JSON.parse(text)).toHaveProperty(member);
  });
});

describe('every family of the providers’ SDKs', () => {
  it('is served or answered with 501', async () => {
    const known = new Set(ENDPOINTS.map(({ path }) => path));
    for (const family of [
      ...['/v1/files', '/v1/fine_tuning', '/v1/batches', '/v1/uploads', '/v1/vector_stores', '/v1/videos'],
      ...['/v1/containers', '/v1/evals', '/v1/skills', '/v1/realtime/client_secrets', '/v1/assistants'],
      ...['/v1/threads', '/v1/complete', '/v1/chat', '/v1/embed', '/v1/classify', '/v1/tokenize'],
      ...['/v1beta/cachedContents', '/v1beta/corpora', '/v1beta/fileSearchStores', '/v1beta/interactions'],
    ])
      expect([...known]).toContain(family);
    const verbs = ['predict', 'predictLongRunning', 'batchGenerateContent'];
    for (const verb of verbs)
      expect((await node.call({ path: `/v1beta/models/swift:${verb}`, body: {} })).status).toBe(501);
  });
});

describe('the first event of a messages stream', () => {
  it('has the input tokens if the upstream’s first chunk knows them', async () => {
    serve('google-generate', ['chat_completions'], {});
    const chunk = (text: string, rest: object = {}) =>
      `data: ${JSON.stringify({
        candidates: [{ content: { parts: [{ text }] }, ...rest }],
        usageMetadata: { promptTokenCount: 23, candidatesTokenCount: 1 },
      })}\n\n`;
    const headers = { 'content-type': 'text/event-stream' };
    upstream.play = () => ({ headers, chunks: [chunk('Hi'), chunk(' you', { finishReason: 'STOP' })] });
    const body = { model: 'swift', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'Hi' }] };
    const { text } = await node.call({ path: '/v1/messages', body });
    expect(text.split('\n\n')[0]).toContain('"input_tokens":23');
  });
});
