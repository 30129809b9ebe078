/** The demo upstream answers every endpoint, and says that its answers are simulated. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDemoUpstream } from './demo-upstream.ts';

type Demo = Awaited<ReturnType<typeof startDemoUpstream>>;

describe('the demo upstream', () => {
  let demo: Demo;
  beforeAll(async () => {
    demo = await startDemoUpstream(0);
  });
  afterAll(() => demo.stop());

  const post = (path: string, body: object | FormData): Promise<Response> =>
    fetch(`${demo.url}${path}`, {
      method: 'POST',
      headers: body instanceof FormData ? {} : { 'content-type': 'application/json' },
      body: body instanceof FormData ? body : JSON.stringify(body),
    });
  const messages = [{ role: 'user', content: 'What is a gateway?' }];
  const parts = [{ role: 'user', parts: [{ text: 'What is a gateway?' }] }];

  test.each([
    ['/v1/chat/completions', { model: 'swift', messages }],
    ['/v1/chat/completions', { model: 'swift', messages, stream: true }],
    ['/v1/messages', { model: 'swift', max_tokens: 99, messages }],
    ['/v1/messages', { model: 'swift', max_tokens: 99, messages, stream: true }],
    ['/v1/responses', { model: 'swift', input: 'What is a gateway?' }],
    ['/v1/responses', { model: 'swift', input: 'What is a gateway?', stream: true }],
    ['/v1beta/models/swift:generateContent', { contents: parts }],
    ['/v1beta/models/swift:streamGenerateContent?alt=sse', { contents: parts }],
    [
      '/v1/chat/completions',
      { model: 'swift', messages: [{ role: 'user', content: [{ type: 'image_url' }] }] },
    ],
    ['/v1/alpha/search', { query: 'gateways' }],
  ])('answers %s with a text that is marked as simulated', async (path, body) => {
    const response = await post(path, body);
    expect(response.status).toBe(200);
    expect(joinDeltas(await response.text())).toMatch(/simulated/);
  });

  test.each([
    ['/v1/embeddings', { model: 'budget', input: ['one', 'two'] }],
    ['/v1/moderations', { model: 'budget', input: 'one' }],
    ['/v1/images/generations', { model: 'flagship-max', prompt: 'a gate' }],
    ['/v1/images/edits', form({ model: 'flagship-max', prompt: 'a gate', image: new Blob(['x']) })],
    ['/v1/audio/speech', { model: 'swift', input: 'Hello', voice: 'alloy' }],
    ['/v1/audio/transcriptions', form({ model: 'swift', file: new Blob(['x']) })],
    ['/v1/audio/translations', form({ model: 'swift', file: new Blob(['x']) })],
  ])('answers %s', async (path, body) => {
    const response = await post(path, body);
    expect(response.status).toBe(200);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
  });

  test('ranks documents by the words that they share with the query', async () => {
    const response = await post('/v1/rerank', {
      model: 'budget-plus',
      query: 'red gate',
      documents: ['a blue door', { text: 'the red gate' }, 'a red door'],
      top_n: 2,
    });
    const { results } = (await response.json()) as { results: { index: number }[] };
    expect(results.map((result) => result.index)).toEqual([1, 2]);
  });

  test('calls a tool or answers in JSON if the request requires it', async () => {
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
    const call = await post('/v1/chat/completions', {
      model: 'swift',
      messages,
      tools,
      tool_choice: 'required',
    });
    expect(await call.text()).toContain('"name":"look"');
    const json = await post('/v1/chat/completions', {
      model: 'swift',
      messages,
      response_format: { type: 'json_object' },
    });
    const { choices } = (await json.json()) as { choices: { message: { content: string } }[] };
    expect(JSON.parse(choices[0]?.message.content ?? '')).toMatchObject({ simulated: true });
  });
});

function form(fields: Record<string, string | Blob>): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  return data;
}

/** Joins the values of all text fields, because a stream splits its text within words. */
function joinDeltas(body: string): string {
  const texts = [...body.matchAll(/"(?:content|text|delta|output)":\s*"((?:[^"\\]|\\.)*)"/g)];
  return texts.map((match) => match[1]).join('');
}
