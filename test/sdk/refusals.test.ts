/** How each SDK reads refusals, model lists and token counts: in its own shapes and error classes. */
import Anthropic from '@anthropic-ai/sdk';
import { GatewayError } from '@gateway/shared/failures';
import { ApiError, GoogleGenAI } from '@google/genai';
import { APICallError, generateText } from 'ai';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeModel, makeRoute, startNode } from '../request-path.ts';
import type { TestNode } from '../request-path.ts';
import { startUpstream } from '../upstream.ts';
import type { FakeUpstream } from '../upstream.ts';

const WRONG_KEY = `sk-${'0'.repeat(48)}`;
const MODEL = 'swift';

let upstream: FakeUpstream;
let node: TestNode;
let url = '';

beforeAll(async () => {
  upstream = await startUpstream(() => ({ status: 429, chunks: ['{"error":{"message":"slow down"}}'] }));
  node = await startNode();
  url = `http://127.0.0.1:${node.port}`;
  node.store.modelList = [makeModel({ name: MODEL }), makeModel({ id: 'model-2', name: 'balanced' })];
  node.store.routes = [
    makeRoute(upstream.origin),
    makeRoute(upstream.origin, { route: { id: 'route-2', modelId: 'model-2' } }),
  ];
});

afterAll(async () => {
  await node?.close();
  await upstream?.close();
});

beforeEach(() => {
  node.ledger.refuse = undefined;
});

const openai = (key = node.secret): OpenAI =>
  new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });
const anthropic = (key = node.secret): Anthropic =>
  new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 });
const google = (key = node.secret): GoogleGenAI =>
  new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } });

interface Client {
  name: string;
  ask(key?: string, model?: string): Promise<unknown>;
}

const messages = [{ role: 'user' as const, content: 'Hi' }];
const short = { maxRetries: 0, prompt: 'Hi' };
const CLIENTS: Client[] = [
  {
    name: 'openai chat.completions',
    ask: (key, model = MODEL) => openai(key).chat.completions.create({ model, messages }),
  },
  {
    name: 'openai responses',
    ask: (key, model = MODEL) => openai(key).responses.create({ model, input: 'Hi' }),
  },
  {
    name: '@anthropic-ai/sdk',
    ask: (key, model = MODEL) => anthropic(key).messages.create({ model, messages, max_tokens: 9 }),
  },
  {
    name: '@google/genai',
    ask: (key, model = MODEL) => google(key).models.generateContent({ model, contents: 'Hi' }),
  },
  {
    name: 'ai with openai',
    ask: (apiKey = node.secret, model = MODEL) =>
      generateText({ ...short, model: createOpenAI({ apiKey, baseURL: `${url}/v1` })(model) }),
  },
  {
    name: 'ai with anthropic',
    ask: (apiKey = node.secret, model = MODEL) =>
      generateText({
        ...short,
        maxOutputTokens: 9,
        model: createAnthropic({ apiKey, baseURL: `${url}/v1` })(model),
      }),
  },
  {
    name: 'ai with google',
    ask: (apiKey = node.secret, model = MODEL) =>
      generateText({ ...short, model: createGoogle({ apiKey, baseURL: `${url}/v1beta` })(model) }),
  },
];

/** Status and message of a refusal, from the SDK's own error class. */
async function refusalOf(answer: Promise<unknown>): Promise<{ status: number | undefined; message: string }> {
  const error: unknown = await answer.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (error instanceof OpenAI.APIError || error instanceof Anthropic.APIError || error instanceof ApiError)
    return { status: error.status, message: error.message };
  if (APICallError.isInstance(error)) return { status: error.statusCode, message: error.message };
  throw new Error(`no error of the SDK: ${String(error)}`);
}

describe.each(CLIENTS)('$name', ({ ask }) => {
  it('reports every refusal with its status and message', async () => {
    expect(await refusalOf(ask(WRONG_KEY))).toMatchObject({
      status: 401,
      message: expect.stringMatching(/key/i),
    });
    expect(await refusalOf(ask(undefined, 'no-such-model'))).toMatchObject({
      status: 404,
      message: expect.stringContaining('no-such-model'),
    });
    node.ledger.refuse = new GatewayError('insufficient_funds', 'Unused: the node adds the wallet page.');
    expect(await refusalOf(ask())).toMatchObject({
      status: 402,
      message: expect.stringContaining('Add credit at http://console.test:4000/wallet'),
    });
    node.ledger.refuse = undefined;
    expect((await refusalOf(ask())).status).toBeGreaterThanOrEqual(429);
  });
});

describe('model lists', () => {
  it('have the shape that each SDK reads', async () => {
    expect((await openai().models.list()).data).toMatchObject([{ id: MODEL }, { id: 'balanced' }]);
    const native = await anthropic().models.list();
    expect(native.data.map(({ id, type, display_name }) => ({ id, type, display_name }))).toEqual([
      { id: MODEL, type: 'model', display_name: 'Swift' },
      { id: 'balanced', type: 'model', display_name: 'Swift' },
    ]);
    expect(await anthropic().models.retrieve(MODEL)).toMatchObject({ id: MODEL, type: 'model' });
    const names: string[] = [];
    for await (const model of await google().models.list()) names.push(model.name ?? '');
    expect(names).toEqual([`models/${MODEL}`, 'models/balanced']);
    expect(await google().models.get({ model: MODEL })).toMatchObject({ name: `models/${MODEL}` });
  });
});

describe('counting tokens', () => {
  it('answers in the shape that each SDK reads, without a charge', async () => {
    const counted = await anthropic().messages.countTokens({ model: MODEL, messages });
    expect(counted.input_tokens).toBeGreaterThan(0);
    const { totalTokens } = await google().models.countTokens({ model: MODEL, contents: 'Hi' });
    expect(totalTokens).toBeGreaterThan(0);
    expect(node.ledger.charges).toEqual([]);
  });
});
