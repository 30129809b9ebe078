/** The description of the API is valid OpenAPI, and describes what every route answers. */
import { Validator } from '@seriousme/openapi-schema-validator';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FAMILIES } from '@gateway/shared/catalog';
import { makeModel, makeRoute, startNode } from '../../test/request-path.ts';
import type { CallOptions, CallResult, TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream, Play } from '../../test/upstream.ts';
import { objectOf, parseObject, textOf } from '../dialects/fields.ts';
import type { JsonObject } from '../dialects/fields.ts';
import { ENDPOINTS } from '../endpoints/table.ts';
import { openApiDocument } from './document.ts';
import { OPERATIONS as DESCRIBED } from './operations.ts';

const API = openApiDocument('1.2.3');
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema(API, 'api');

interface Described {
  path: string;
  method: string;
  id: string;
  responses: JsonObject;
  hasBody: boolean;
}
const OPERATIONS: Described[] = Object.entries(objectOf(API.paths)).flatMap(([path, methods]) =>
  Object.entries(objectOf(methods)).map(([method, operation]) => {
    const { operationId, responses, requestBody } = objectOf(operation);
    return {
      ...{ path, method, id: textOf(operationId), responses: objectOf(responses) },
      hasBody: requestBody !== undefined,
    };
  }),
);
const STORED = new Set(
  Object.values(DESCRIBED)
    .flat()
    .filter(({ isStored }) => isStored)
    .map(({ id }) => id),
);
const OFFERED = OPERATIONS.filter(({ id }) => !id.endsWith('NotOffered'));
/** One method of each: all have the same handler. */
const OTHERS = OPERATIONS.filter(({ id, method }) => id.endsWith('NotOffered') && method === 'get');

const MESSAGES = [{ role: 'user', content: 'Hi' }];
const CONTENTS = [{ parts: [{ text: 'Hi' }] }];
const SWIFT = { model: 'swift' };
const BOUNDARY = { 'content-type': 'multipart/form-data; boundary=x' };

/** A form with the fields and a file of this name. */
function form(file: string, fields: Record<string, string>): CallOptions {
  const parts = Object.entries({ ...SWIFT, ...fields }).map(
    ([name, value]) => `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const head = `--x\r\ncontent-disposition: form-data; name="${file}"; filename="a.wav"\r\n\r\n`;
  return { headers: BOUNDARY, body: `${parts.join('')}${head}abc\r\n--x--\r\n` };
}

const CONVERSATION = { ...SWIFT, messages: MESSAGES };
/** A valid request of every operation, by its id. */
const REQUESTS: Record<string, CallOptions> = {
  chatCompletions: { body: CONVERSATION },
  messages: { body: { ...CONVERSATION, max_tokens: 9 } },
  responses: { body: { ...SWIFT, input: 'Hi' } },
  compact: { body: { ...SWIFT, input: 'Hi' } },
  completions: { body: { ...SWIFT, prompt: 'Hi' } },
  embeddings: { body: { ...SWIFT, input: 'Hi' } },
  cohereEmbed: { body: { ...SWIFT, texts: ['Hi'] } },
  transcriptions: form('file', {}),
  translations: form('file', {}),
  speech: { body: { ...SWIFT, input: 'Hi', voice: 'alloy' } },
  imageGenerations: { body: { ...SWIFT, prompt: 'A fox' } },
  imageEdits: form('image', { prompt: 'A fox' }),
  rerank: { body: { ...SWIFT, query: 'q', documents: ['a'] } },
  rerankV2: { body: { ...SWIFT, query: 'q', documents: ['a'] } },
  moderations: { body: { ...SWIFT, input: 'Hi' } },
  search: { body: { ...SWIFT, commands: { search_query: [{ q: 'fox' }] } } },
  realtime: {},
  responsesSocket: {},
  countMessagesTokens: { body: CONVERSATION },
  countResponsesTokens: { body: { ...SWIFT, input: 'Hi' } },
  listModels: {},
  getModel: {},
  listGoogleModels: {},
  getGoogleModel: {},
  ...Object.fromEntries(
    ['', 'V1'].flatMap((version) => [
      [`generateContent${version}`, { body: { contents: CONTENTS } }],
      [`streamGenerateContent${version}`, { body: { contents: CONTENTS } }],
      [`countTokens${version}`, { body: { contents: CONTENTS } }],
      [`embedContent${version}`, { body: { content: CONTENTS[0] } }],
      [`batchEmbedContents${version}`, { body: { requests: [{ content: CONTENTS[0] }] } }],
    ]),
  ),
};
const STREAMED: Record<string, CallOptions> = Object.fromEntries(
  ['chatCompletions', 'messages', 'responses', 'completions'].map((id) => {
    const { body } = REQUESTS[id] ?? {};
    return [id, { body: { ...objectOf(body), stream: true } }];
  }),
);

const NAMES = { id: 'c1', model: 'vendor-model', created: 1 };
const CHAT = {
  ...{ ...NAMES, object: 'chat.completion' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
};
const CHUNK = { ...NAMES, choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] };
/** The upstream's answers by the end of the path. */
const ANSWERS: Record<string, object> = {
  '/chat/completions': CHAT,
  '/embeddings': { object: 'list', model: 'vendor-model', data: [{ index: 0, embedding: [1, 2] }] },
  '/audio/transcriptions': { text: 'Hi' },
  '/audio/translations': { text: 'Hi' },
  '/images/generations': { created: 1, data: [{ b64_json: 'AA==' }] },
  '/images/edits': { created: 1, data: [{ b64_json: 'AA==' }] },
  '/rerank': { results: [{ index: 0, relevance_score: 0.5 }] },
  '/moderations': { id: 'm', model: 'vendor-model', results: [{ flagged: false }] },
  '/alpha/search': { output: 'A fox.' },
};

let upstream: FakeUpstream;
let node: TestNode;

beforeAll(async () => {
  upstream = await startUpstream(({ path, body }): Play => {
    const streamed = parseObject(body)?.stream === true;
    const headers = { 'content-type': 'text/event-stream' };
    if (streamed) return { headers, chunks: [`data: ${JSON.stringify(CHUNK)}\n\ndata: [DONE]\n\n`] };
    if (path.endsWith('/speech')) return { headers: { 'content-type': 'audio/wav' }, chunks: ['RIFF'] };
    return { chunks: [JSON.stringify(ANSWERS[path.replace('/v1', '')] ?? {})] };
  });
  node = await startNode();
  node.store.modelList = [makeModel({ families: [...FAMILIES] })];
  node.store.routes = [makeRoute(upstream.origin, { route: { families: [...FAMILIES] } })];
});
afterAll(async () => {
  await node.close();
  await upstream.close();
});

function send({ path, method }: Described, options: CallOptions = {}): Promise<CallResult> {
  const named = path.replace('{model}', 'swift').replaceAll(/\{\w+\}/g, 'x');
  return node.call({ method: method.toUpperCase(), path: named, ...options });
}

/** The response that the description has for a status, and where it is. */
function responseFor(
  { path, method, responses }: Described,
  status: number,
): { at: string; response: JsonObject } {
  const name = [String(status), `${String(status)[0]}XX`].find((each) => responses[each] !== undefined) ?? '';
  const steps = ['paths', path, method, 'responses', name].map((step) =>
    encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')),
  );
  return { at: `#/${steps.join('/')}`, response: objectOf(responses[name]) };
}

/** A request about a stored object, which does not exist. */
function sampleOf({ method, hasBody }: Described): CallOptions {
  if (hasBody || method === 'post') return { body: { ...SWIFT, contents: CONTENTS } };
  return {};
}

const compiled = new Map<string, ValidateFunction>();
function validatorAt(pointer: string): ValidateFunction {
  const known = compiled.get(pointer) ?? ajv.compile({ $ref: `api${pointer}` });
  compiled.set(pointer, known);
  return known;
}

/** Expects an answer to be one that the description has for its status. */
function expectDescribed(operation: Described, { status, headers, text }: CallResult): void {
  const { at, response } = responseFor(operation, status);
  expect(response.description, `${operation.id} ${status}`).toBeDefined();
  for (const name of Object.keys(objectOf(response.headers)).filter((one) => one === 'x-request-id'))
    expect(headers[name]).toMatch(/^req_[0-9a-f]{32}$/);
  const type = textOf(headers['content-type']).split(';')[0] ?? '';
  const types = Object.keys(objectOf(response.content));
  const found = types.find(
    (one) => one === type || (one.endsWith('/*') && type.startsWith(one.slice(0, -1))),
  );
  expect(found, `${operation.id} answered ${status} as ${type}`).toBeDefined();
  if (found !== 'application/json') return;
  const validate = validatorAt(`${at}/content/application~1json/schema`);
  const isValid = validate(JSON.parse(text));
  expect({ id: operation.id, isValid, errors: validate.errors, text: isValid ? '' : text }).toMatchObject({
    isValid: true,
  });
}

describe('the description of the API', () => {
  it('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(structuredClone(API));
    expect(result).toMatchObject({ valid: true });
  });

  it('is served with a hash, and not sent again to caches that have it', async () => {
    const first = await node.call({ method: 'GET', path: '/openapi.json', headers: { authorization: '' } });
    expect(first.status).toBe(200);
    expect(objectOf(JSON.parse(first.text)).openapi).toBe('3.1.1');
    const etag = textOf(first.headers.etag);
    const headers = { 'if-none-match': `"other", W/${etag}` };
    const again = await node.call({ method: 'GET', path: '/openapi.json', headers });
    expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag]);
  });

  it('describes every row of the endpoint table', () => {
    const described = new Set(OPERATIONS.map(({ method, path }) => `${method.toUpperCase()} ${path}`));
    for (const { method, path } of ENDPOINTS) {
      const start = `${method} ${path.replace('*', '')}`;
      expect([...described].some((one) => one.startsWith(start))).toBe(true);
    }
    expect(new Set(OPERATIONS.map(({ id }) => id)).size).toBe(OPERATIONS.length);
  });
});

describe.each(OFFERED)('$method $path', (operation) => {
  it('answers a valid request as described', async () => {
    // Stored objects need a model that stores state: endpoints/stored.test.ts.
    const isStored = STORED.has(operation.id);
    const request = isStored ? sampleOf(operation) : REQUESTS[operation.id];
    expect(request, `a sample of ${operation.id}`).toBeDefined();
    const result = await send(operation, request);
    expect(isStored ? [400, 404, 501] : [200, 426]).toContain(result.status);
    expectDescribed(operation, result);
  });

  it.runIf(STREAMED[operation.id])('streams as described', async () => {
    const result = await send(operation, STREAMED[operation.id]);
    expect(result.headers['content-type']).toContain('text/event-stream');
    expectDescribed(operation, result);
  });

  it.runIf(!operation.responses['101'] && !operation.responses['426'])('refuses as described', async () => {
    const request = REQUESTS[operation.id] ?? sampleOf(operation);
    const headers = { ...request?.headers, authorization: `Bearer sk-${'0'.repeat(48)}` };
    const stranger = await send(operation, { ...request, headers });
    expect(stranger.status).toBe(401);
    expectDescribed(operation, stranger);
    if (!operation.hasBody) return;
    const wrongType = await send(operation, { body: 'a=b', headers: { 'content-type': 'text/plain' } });
    expect(wrongType.status).toBe(415);
    expectDescribed(operation, wrongType);
    const malformed = await send(operation, { ...request, body: '[]' });
    expect(STORED.has(operation.id) ? [400, 404, 501] : [400]).toContain(malformed.status);
    expectDescribed(operation, malformed);
  });

  it('fails as described', async () => {
    const { play } = upstream;
    upstream.play = () => ({ status: 500, chunks: ['{}'] });
    const result = await send(operation, REQUESTS[operation.id] ?? sampleOf(operation));
    upstream.play = play;
    expectDescribed(operation, result);
  });
});

describe('families that are not offered', () => {
  it('are answered and refused as described, in the format of each header', async () => {
    for (const operation of OTHERS) {
      for (const name of ['authorization', 'x-api-key', 'x-goog-api-key']) {
        const headers = {
          authorization: '',
          [name]: name === 'authorization' ? `Bearer ${node.secret}` : node.secret,
        };
        const result = await send(operation, { headers });
        expect([result.status, operation.path]).toEqual([501, operation.path]);
        expectDescribed(operation, result);
      }
    }
  });
});
