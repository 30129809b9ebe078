/**
 * Official SDKs on a second independent implementation of a provider's API as upstream, mock-openai-api:
 * what holds on one implementation alone may be a habit of it. It offers chat completions, whole and
 * streamed, with thinking and calls, and images.
 */
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeModel, makeRoute, startNode, until } from './request-path.ts';
import type { TestNode } from './request-path.ts';

/** The prompt that the upstream has an answer to. */
const PROMPT = 'Question 1';
const TEXT = '2 + 2 = 4\n\nThis is a basic addition operation.';
const THOUGHT = 'This is a simple addition problem.';
const CALLED = { name: 'get_time', arguments: '{}' };
const MESSAGES = [{ role: 'user' as const, content: PROMPT }];

// CommonJS compiled from modules: only a require gets the same thing everywhere.
const require = createRequire(import.meta.url);
const { default: mockOpenAi } = require('mock-openai-api/dist/app.js') as { default: RequestListener };
const upstream = createServer(mockOpenAi);
let node: TestNode;

beforeAll(async () => {
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  node = await startNode();
  const served = [
    { name: 'thinker', upstreamModel: 'mock-gpt-thinking', families: ['chat_completions'] as const },
    { name: 'caller', upstreamModel: 'gpt-4-mock', families: ['chat_completions'] as const },
    { name: 'unknown-there', upstreamModel: 'no-such-model', families: ['chat_completions'] as const },
    { name: 'painter', upstreamModel: 'gpt-4o-image', families: ['images'] as const },
  ];
  node.store.modelList = served.map(({ name, families }) =>
    makeModel({
      id: name,
      name,
      families:
        families[0] === 'images'
          ? ['images']
          : ['chat_completions', 'messages', 'responses', 'generative_language', 'completions'],
    }),
  );
  node.store.routes = served.map(({ name, upstreamModel, families }) =>
    makeRoute(origin, { route: { id: name, modelId: name, upstreamModel, families: [...families] } }),
  );
});

afterAll(async () => {
  await node.close();
  upstream.closeAllConnections();
  await new Promise((resolve) => upstream.close(resolve));
});

beforeEach(() => {
  node.ledger.charges = [];
});

const base = (): string => `http://127.0.0.1:${node.port}`;
const openai = (): OpenAI => new OpenAI({ apiKey: node.secret, baseURL: `${base()}/v1`, maxRetries: 0 });
const anthropic = (): Anthropic => new Anthropic({ apiKey: node.secret, baseURL: base(), maxRetries: 0 });
const google = (): GoogleGenAI => new GoogleGenAI({ apiKey: node.secret, httpOptions: { baseUrl: base() } });

/** Every test asks twice, whole and streamed. */
async function expectCharged(family: string, times = 2): Promise<void> {
  await until(() => node.ledger.charges.length >= times);
  expect(node.ledger.charges.map((charge) => [charge.family, charge.outcome])).toEqual(
    Array.from({ length: times }, () => [family, 'DELIVERED']),
  );
}

describe('the openai SDK', () => {
  it('completes a chat, whole and streamed, with the thinking that was sent', async () => {
    const { chat } = openai();
    const whole = await chat.completions.create({ model: 'thinker', messages: MESSAGES });
    expect(whole.choices[0]?.message.content).toBe(TEXT);
    const stream = await chat.completions.create({ model: 'thinker', messages: MESSAGES, stream: true });
    let text = '';
    let thought = '';
    for await (const { choices } of stream) {
      const delta: { content?: string | null; reasoning_content?: string } = choices[0]?.delta ?? {};
      text += delta.content ?? '';
      thought += delta.reasoning_content ?? '';
    }
    expect(text).toBe(TEXT);
    expect(thought).toContain(THOUGHT);
    await expectCharged('chat_completions');
    // Its total shows that it counts thinking beside the completion.
    expect(node.ledger.charges[0]?.tokens).toMatchObject({ input: 3, output: 37, reasoning: 25 });
  });

  it('gets calls, whole and streamed', async () => {
    const { chat } = openai();
    const ask = { model: 'caller', messages: MESSAGES };
    const whole = await chat.completions.create(ask);
    expect(whole.choices[0]?.message.tool_calls?.[0]).toMatchObject({ type: 'function', function: CALLED });
    const streamed = await chat.completions.stream(ask).finalChatCompletion();
    expect(streamed.choices[0]?.message.tool_calls?.[0]).toMatchObject({ function: CALLED });
    expect(streamed.choices[0]?.finish_reason).toBe('tool_calls');
    await expectCharged('chat_completions');
  });

  it('completes a text, whole and streamed', async () => {
    const { completions } = openai();
    const whole = await completions.create({ model: 'thinker', prompt: PROMPT });
    expect(whole.choices[0]?.text).toBe(TEXT);
    let text = '';
    for await (const { choices } of await completions.create({
      model: 'thinker',
      prompt: PROMPT,
      stream: true,
    }))
      text += choices[0]?.text ?? '';
    expect(text).toBe(TEXT);
    await expectCharged('completions');
  });

  it('gets a response, whole and streamed', async () => {
    const { responses } = openai();
    const whole = await responses.create({ model: 'thinker', input: PROMPT });
    expect(whole.output_text).toBe(TEXT);
    const streamed = await responses.stream({ model: 'thinker', input: PROMPT }).finalResponse();
    expect(streamed.output_text).toBe(TEXT);
    expect(streamed.output.map(({ type }) => type)).toEqual(['reasoning', 'message']);
    const called = await responses.create({ model: 'caller', input: PROMPT });
    expect(called.output[0]).toMatchObject({ type: 'function_call', ...CALLED });
    await expectCharged('responses', 3);
  });

  it('generates a picture', async () => {
    const drawn = await openai().images.generate({ model: 'painter', prompt: 'A dot', n: 2 });
    expect(drawn.data?.map(({ url }) => url?.slice(0, 8))).toEqual(['https://', 'https://']);
    await expectCharged('images', 1);
  });

  it('receives a refusal and an error inside a stream, and pays for neither', async () => {
    const { chat } = openai();
    const ask = { model: 'unknown-there', messages: MESSAGES };
    await expect(chat.completions.create(ask)).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    const drain = async (): Promise<void> => {
      for await (const chunk of await chat.completions.create({ ...ask, stream: true }))
        expect(chunk.choices).toEqual([]);
    };
    await expect(drain()).rejects.toBeInstanceOf(OpenAI.APIError);
    expect([node.ledger.charges, node.ledger.open]).toEqual([[], 0]);
  });
});

describe('the @anthropic-ai/sdk', () => {
  it('gets a message, whole and streamed, with thinking and calls', async () => {
    const { messages } = anthropic();
    const ask = { model: 'thinker', max_tokens: 100, messages: MESSAGES };
    const whole = await messages.create(ask);
    expect(whole.content).toMatchObject([{ type: 'text', text: TEXT }]);
    const streamed = await messages.stream(ask).finalMessage();
    expect(streamed.content).toMatchObject([
      { type: 'thinking', thinking: expect.stringContaining(THOUGHT) },
      { type: 'text', text: TEXT },
    ]);
    const called = await messages.stream({ ...ask, model: 'caller' }).finalMessage();
    expect(called).toMatchObject({
      stop_reason: 'tool_use',
      content: [{ type: 'tool_use', name: CALLED.name, input: {} }],
    });
    await expectCharged('messages', 3);
  });
});

describe('the @google/genai SDK', () => {
  it('generates, whole and streamed, with calls', async () => {
    const { models } = google();
    const whole = await models.generateContent({ model: 'thinker', contents: PROMPT });
    expect(whole.text).toBe(TEXT);
    let text = '';
    for await (const chunk of await models.generateContentStream({ model: 'thinker', contents: PROMPT }))
      text += chunk.text ?? '';
    expect(text).toBe(TEXT);
    const called = await models.generateContent({ model: 'caller', contents: PROMPT });
    expect(called.functionCalls).toMatchObject([{ name: CALLED.name, args: {} }]);
    await expectCharged('generative_language', 3);
  });
});
