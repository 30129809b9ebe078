/** Compaction by an upstream that offers it, else by a summary that any chat model writes. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeModel, makeRoute, startNode } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream } from '../../test/upstream.ts';

const SUMMARY = 'They said hello; next: find the bug in parse.ts (déjà vu).';
const INPUT = [
  { role: 'user', content: 'Hello' },
  { role: 'assistant', content: 'Hi' },
  { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"at":"parse.ts"}' },
  { type: 'function_call_output', call_id: 'call_1', output: 'line 1' },
];
const TOOLS = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }];
const chat = (content: string): string =>
  JSON.stringify({
    id: 'c1',
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 30, completion_tokens: 9, total_tokens: 39 },
  });
const chunk = (delta: object, finish: string | null = null): string => {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: 'c1', model: 'm', choices })}\n\n`;
};

let upstream: FakeUpstream;
let node: TestNode;

beforeEach(async () => {
  upstream = await startUpstream(() => ({ chunks: [chat(SUMMARY)] }));
  node = await startNode();
  node.store.modelList = [makeModel({ families: ['responses', 'compact'] })];
  node.store.routes.push(makeRoute(upstream.origin));
});

afterEach(async () => {
  await node.close();
  await upstream.close();
});

const sent = (index = 0): { messages: { role: string; content: unknown }[]; tool_choice?: unknown } =>
  JSON.parse(upstream.seen[index]?.body ?? '{}');

interface Item {
  type: string;
  encrypted_content: string;
}

function compactionOf(text: string): Item {
  const { output } = JSON.parse(text) as { output: Item[] };
  expect(output).toHaveLength(1);
  expect(output[0]?.type).toBe('compaction');
  return output[0] ?? { type: '', encrypted_content: '' };
}

describe('compaction by a chat model', () => {
  const body = { model: 'swift', input: INPUT, tools: TOOLS, instructions: 'Be brief.' };

  it('asks for a summary of the whole conversation without tool calls, and charges once', async () => {
    const { status, text } = await node.call({ path: '/v1/responses/compact', body });
    expect(status, text).toBe(200);
    expect(JSON.parse(text)).toMatchObject({
      object: 'response.compaction',
      usage: { input_tokens: 30, output_tokens: 9, total_tokens: 39 },
    });
    compactionOf(text);
    expect(sent().messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'user']);
    expect(sent().tool_choice).toBe('none');
    expect(node.ledger.charges).toMatchObject([{ family: 'compact', outcome: 'DELIVERED' }]);
  });

  it('sends its summary with the next request, to upstreams of every format', async () => {
    const item = compactionOf((await node.call({ path: '/v1/responses/compact', body })).text);
    const next = { model: 'swift', input: [item, { role: 'user', content: 'Go on.' }] };
    expect((await node.call({ path: '/v1/responses', body: next })).status).toBe(200);
    expect(JSON.stringify(sent(1).messages)).toContain(SUMMARY);
    node.store.routes[0] = makeRoute(upstream.origin, { provider: { protocols: ['openai-responses'] } });
    await node.call({ path: '/v1/responses', body: next });
    const mirrored = upstream.seen[2];
    expect(mirrored?.path).toBe('/v1/responses');
    expect(mirrored?.body).toContain(SUMMARY);
    expect(mirrored?.body).not.toContain(item.encrypted_content);
  });

  it('fails without a charge if the model writes no summary', async () => {
    upstream.play = () => ({ chunks: [chat(' ')] });
    const { status, text } = await node.call({ path: '/v1/responses/compact', body });
    expect(status).toBe(502);
    expect(JSON.parse(text).error.code).toBe('upstream_failed');
    expect(node.ledger.charges).toEqual([]);
  });

  it('refuses an empty or stored conversation before an upstream is asked', async () => {
    const path = '/v1/responses/compact';
    const empty = await node.call({ path, body: { model: 'swift', input: [] } });
    expect([empty.status, JSON.parse(empty.text).error.param]).toEqual([400, '/input']);
    const stored = { model: 'swift', input: [], previous_response_id: 'resp_1' };
    expect((await node.call({ path, body: stored })).status).toBe(400);
    expect(upstream.seen).toEqual([]);
  });
});

describe('a compaction trigger at the end of the input', () => {
  const trigger = { type: 'compaction_trigger' };
  const body = { model: 'swift', input: [...INPUT, trigger], tools: TOOLS, stream: true };

  it('is answered with one compaction item in a whole answer', async () => {
    const { text } = await node.call({ path: '/v1/responses', body: { ...body, stream: false } });
    expect(JSON.parse(text)).toMatchObject({ object: 'response', status: 'completed' });
    compactionOf(text);
    expect(upstream.seen[0]?.body).not.toContain('compaction_trigger');
  });

  it('is answered with one compaction item in a streamed answer', async () => {
    const [half, rest] = [SUMMARY.slice(0, 9), SUMMARY.slice(9)];
    upstream.play = () => ({
      headers: { 'content-type': 'text/event-stream' },
      chunks: [chunk({ content: half }), chunk({ content: rest }), chunk({}, 'stop'), 'data: [DONE]\n\n'],
    });
    const { text } = await node.call({ path: '/v1/responses', body });
    const events = [...text.matchAll(/^data: (.*)$/gm)].map((match) => JSON.parse(match[1] ?? ''));
    const done = events.filter(({ type }) => type === 'response.output_item.done');
    expect(done.map(({ item }) => item.type)).toEqual(['compaction']);
    const last = events.at(-1);
    expect(last).toMatchObject({ type: 'response.completed', response: { output: [done[0].item] } });
    expect(node.ledger.charges).toHaveLength(1);
  });

  it('fails in the client’s format without a charge if the model writes no summary', async () => {
    upstream.play = () => ({
      headers: { 'content-type': 'text/event-stream' },
      chunks: [chunk({ content: '' }), chunk({}, 'stop'), 'data: [DONE]\n\n'],
    });
    const { status, text } = await node.call({ path: '/v1/responses', body });
    expect(status === 502 || /response\.failed/.test(text)).toBe(true);
    expect(text).not.toContain('response.completed');
    expect(node.ledger.charges).toEqual([]);
  });
});

describe('compaction by the upstream', () => {
  const native = { protocols: ['openai-responses' as const] };
  const answer = { object: 'response.compaction', output: [{ type: 'compaction', encrypted_content: 'x' }] };
  const usage = { input_tokens: 5, output_tokens: 2, total_tokens: 7 };

  beforeEach(() => {
    upstream.play = () => ({ chunks: [JSON.stringify({ ...answer, usage })] });
    const route = { families: ['responses' as const, 'compact' as const] };
    node.store.routes[0] = makeRoute(upstream.origin, { provider: native, route });
  });

  it('sends the client’s bytes with only the model replaced, and relays the answer unchanged', async () => {
    const body = '{"model":"swift",  "input":[{"role":"user","content":"Hello"}],"prompt_cache_key":"k"}';
    const { status, text } = await node.call({ path: '/v1/responses/compact', body });
    expect([status, text]).toEqual([200, JSON.stringify({ ...answer, usage })]);
    expect(upstream.seen[0]).toMatchObject({
      path: '/v1/responses/compact',
      body: body.replace('swift', 'vendor-model'),
    });
    expect(node.ledger.charges).toMatchObject([{ family: 'compact', tokens: { input: 5, output: 2 } }]);
  });

  it('sends the trigger unchanged', async () => {
    const input = [{ role: 'user', content: 'Hello' }, { type: 'compaction_trigger' }];
    await node.call({ path: '/v1/responses', body: { model: 'swift', input } });
    expect(upstream.seen[0]?.body).toContain('compaction_trigger');
  });
});
