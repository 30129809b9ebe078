/** Embeddings in both formats on upstreams of both, and web search on upstreams of three formats. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DialectName, Family } from '@gateway/shared/catalog';
import { GOOGLE, OPENAI } from '../exchange/embedding-formats.ts';
import { makeModel, makeRoute, startNode } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream } from '../../test/upstream.ts';

let upstream: FakeUpstream;
let node: TestNode;

beforeEach(async () => {
  upstream = await startUpstream(() => ({ status: 500 }));
  node = await startNode();
});

afterEach(async () => {
  await node.close();
  await upstream.close();
});

function serve(protocol: DialectName, families: Family[], answer: object): void {
  node.store.modelList = [makeModel({ families })];
  node.store.routes = [
    makeRoute(upstream.origin, { provider: { protocols: [protocol] }, route: { families } }),
  ];
  upstream.play = () => ({ chunks: [JSON.stringify(answer)] });
}

const sent = (): unknown => JSON.parse(upstream.seen[0]?.body ?? 'null');
const read = (text: string): unknown => JSON.parse(text);

const OPENAI_ANSWER = {
  object: 'list',
  model: 'vendor-model',
  data: [
    { object: 'embedding', index: 1, embedding: [0.5, -2] },
    { object: 'embedding', index: 0, embedding: 'AACAPwAAAEA=' },
  ],
  usage: { prompt_tokens: 4, total_tokens: 4 },
};
const GOOGLE_ANSWER = {
  embeddings: [{ values: [1, 2] }, { values: [0.5, -2] }],
  usageMetadata: { promptTokenCount: 4 },
};
const GOOGLE_REQUEST = {
  requests: ['a', 'b'].map((text) => ({
    model: 'models/swift',
    content: { parts: [{ text }] },
    taskType: 'RETRIEVAL_QUERY',
    outputDimensionality: 2,
  })),
};

describe('embeddings', () => {
  it('pass unchanged from client to upstream in OpenAI’s format, except for the model’s name', async () => {
    serve('openai-chat', ['embeddings'], OPENAI_ANSWER);
    const body = { model: 'swift', input: ['a', 'b'], encoding_format: 'base64', user: 'u' };
    const { text } = await node.call({ path: '/v1/embeddings', body });
    expect(text).toBe(JSON.stringify({ ...OPENAI_ANSWER, model: 'swift' }));
    expect(sent()).toEqual({ ...body, model: 'vendor-model' });
    expect(node.ledger.charges).toMatchObject([{ family: 'embeddings', tokens: { input: 4 } }]);
  });

  it('are translated from OpenAI’s format for a Google upstream, as numbers or as base64', async () => {
    serve('google-generate', ['embeddings'], GOOGLE_ANSWER);
    const ask = (extra: object) =>
      node.call({
        path: '/v1/embeddings',
        body: { model: 'swift', input: ['a', 'b'], dimensions: 2, ...extra },
      });
    const { text, headers } = await ask({ user: 'u' });
    expect(read(text)).toMatchObject({
      object: 'list',
      model: 'swift',
      data: [
        { index: 0, embedding: [1, 2] },
        { index: 1, embedding: [0.5, -2] },
      ],
      usage: { prompt_tokens: 4, total_tokens: 4 },
    });
    expect(headers['x-gateway-dropped']).toBe('/user');
    expect(upstream.seen[0]?.path).toBe('/v1/models/vendor-model:batchEmbedContents');
    expect(sent()).toEqual({
      requests: ['a', 'b'].map((part) => ({
        model: 'models/vendor-model',
        content: { parts: [{ text: part }] },
        outputDimensionality: 2,
      })),
    });
    const bytes = read((await ask({ encoding_format: 'base64' })).text);
    expect(bytes).toMatchObject({ data: [{ embedding: 'AACAPwAAAEA=' }, {}] });
  });

  it('are translated from Google’s format for an OpenAI upstream, in order, with losses named', async () => {
    serve('openai-chat', ['embeddings'], OPENAI_ANSWER);
    const path = '/v1beta/models/swift:batchEmbedContents';
    const { status, text, headers } = await node.call({ path, body: GOOGLE_REQUEST });
    expect({ status, body: read(text) }).toEqual({
      status: 200,
      body: { embeddings: [{ values: [1, 2] }, { values: [0.5, -2] }] },
    });
    expect(headers['x-gateway-dropped']).toBe('/requests/0/taskType, /requests/1/taskType');
    expect(sent()).toEqual({
      model: 'vendor-model',
      input: ['a', 'b'],
      encoding_format: 'float',
      dimensions: 2,
    });
    const strict = await node.call({ path, body: GOOGLE_REQUEST, headers: { 'x-gateway-strict': '1' } });
    expect(strict.status).toBe(400);
    expect(node.ledger.charges).toHaveLength(1);
  });

  it('are served one at a time in Google’s format under v1 and v1beta', async () => {
    serve('google-generate', ['embeddings'], { embedding: { values: [1] } });
    const body = { content: { parts: [{ text: 'a' }] }, taskType: 'X' };
    for (const version of ['v1', 'v1beta']) {
      const { text } = await node.call({
        path: `/${version}/models/swift:embedContent`,
        body,
        headers: { authorization: '', 'x-goog-api-key': node.secret },
      });
      expect(read(text)).toEqual({ embedding: { values: [1] } });
    }
    expect(upstream.seen[0]?.path).toBe('/v1/models/vendor-model:embedContent');
    expect(sent()).toEqual({ ...body, model: 'models/vendor-model' });
  });

  it('fail in the client’s own format', async () => {
    serve('google-generate', ['embeddings'], { embeddings: [] });
    const path = '/v1beta/models/swift:embedContent';
    const wrong = await node.call({ path, body: {} });
    expect(read(wrong.text)).toMatchObject({ error: { code: 400, status: 'INVALID_ARGUMENT' } });
    const short = await node.call({ path, body: { content: { parts: [{ text: 'a' }] } } });
    expect(read(short.text)).toMatchObject({ error: { code: 502 } });
    const stored = await node.call({ path, body: { content: { parts: [{ fileData: { fileUri: 'x' } }] } } });
    expect(stored.status).toBe(400);
    const tokens = await node.call({ path: '/v1/embeddings', body: { model: 'swift', input: [1, 2] } });
    expect(tokens.status).toBe(400);
    expect(node.ledger.charges).toEqual([]);
    expect(node.ledger.open).toBe(0);
  });

  it('keep every 32-bit number through both formats', () => {
    const number = fc.float({ noNaN: true, noDefaultInfinity: true });
    const vectors = fc.array(fc.array(number, { minLength: 1 }), { minLength: 1 });
    fc.assert(
      fc.property(vectors, fc.constantFrom('float' as const, 'base64' as const), (list, encoding) => {
        const request = {
          ...OPENAI.decodeRequest({ model: 'm', input: list.map(() => 'a'), encoding_format: encoding }),
        };
        const tokens = { input: 1, output: null, cached: null, reasoning: null };
        const wire = OPENAI.encodeResponse({ vectors: list, tokens, model: '' }, request);
        const through = OPENAI.decodeResponse(JSON.parse(JSON.stringify(wire)) as Record<string, unknown>);
        const google = GOOGLE.encodeResponse(through, { ...request, single: false });
        const back = GOOGLE.decodeResponse(JSON.parse(JSON.stringify(google)) as Record<string, unknown>);
        // JSON has no negative zero.
        const plain = (all: number[][]): number[][] =>
          all.map((vector) => vector.map((number) => number + 0));
        expect(plain(back.vectors)).toEqual(plain(list));
      }),
    );
  });
});

describe('web search', () => {
  const SEARCH = {
    id: 's1',
    model: 'swift',
    input: 'context',
    commands: {
      search_query: [{ q: 'node 26 release', recency: 7, domains: ['nodejs.org'] }],
      open: [{ ref_id: 'https://nodejs.org' }],
    },
    settings: { filters: { allowed_domains: ['nodejs.org'] }, search_context_size: 'low' },
    max_output_tokens: 2500,
  };
  const ask = () => node.call({ path: '/v1/alpha/search', body: SEARCH });

  it('passes unchanged to an upstream that offers it', async () => {
    serve('openai-responses', ['search'], { output: 'Found.', results: [] });
    const { status, text } = await ask();
    expect({ status, body: read(text) }).toEqual({ status: 200, body: { output: 'Found.', results: [] } });
    expect(upstream.seen[0]?.path).toBe('/v1/alpha/search');
    expect(sent()).toEqual({ ...SEARCH, model: 'vendor-model' });
    expect(node.ledger.charges).toMatchObject([{ family: 'search', cost: '100000' }]);
  });

  it.each([
    [
      'openai-responses',
      {
        id: 'r',
        object: 'response',
        status: 'completed',
        model: 'm',
        output: [
          { type: 'web_search_call', id: 'w', status: 'completed' },
          {
            type: 'message',
            id: 'm',
            role: 'assistant',
            status: 'completed',
            content: [
              {
                type: 'output_text',
                text: 'Node 26.',
                annotations: [
                  {
                    type: 'url_citation',
                    url: 'https://nodejs.org/a',
                    title: 'A',
                    start_index: 0,
                    end_index: 7,
                  },
                ],
              },
            ],
          },
        ],
      },
      '"type":"web_search"',
    ],
    [
      'anthropic-messages',
      {
        id: 'msg',
        type: 'message',
        role: 'assistant',
        model: 'm',
        stop_reason: 'end_turn',
        usage: { input_tokens: 1, output_tokens: 1 },
        content: [
          {
            type: 'text',
            text: 'Node 26.',
            citations: [
              {
                type: 'web_search_result_location',
                url: 'https://nodejs.org/a',
                title: 'A',
                cited_text: 'x',
              },
            ],
          },
        ],
      },
      '"type":"web_search_',
    ],
    [
      'google-generate',
      {
        candidates: [
          {
            content: { role: 'model', parts: [{ text: 'Node 26.' }] },
            finishReason: 'STOP',
            groundingMetadata: {
              groundingChunks: [{ web: { uri: 'https://nodejs.org/a', title: 'A' } }],
              groundingSupports: [
                { segment: { startIndex: 0, endIndex: 8, text: 'Node 26.' }, groundingChunkIndices: [0] },
              ],
            },
          },
        ],
      },
      '"googleSearch"',
    ],
  ] as [DialectName, object, string][])(
    'is done by a chat model of a %s upstream with the tool of its format',
    async (protocol, answer, tool) => {
      serve(protocol, ['chat_completions'], answer);
      node.store.modelList = [makeModel({ families: ['chat_completions', 'search'] })];
      const { status, text } = await ask();
      expect(status).toBe(200);
      expect(read(text)).toMatchObject({
        output: 'Node 26.\n\nSources:\n- A: https://nodejs.org/a',
        results: [{ url: 'https://nodejs.org/a', title: 'A' }],
      });
      const body = upstream.seen[0]?.body ?? '';
      expect(body).toContain(tool);
      expect(body).toContain('node 26 release. Only what is at most 7 days old. Only on: nodejs.org.');
      expect(node.ledger.charges).toMatchObject([{ family: 'search' }]);
    },
  );
});
