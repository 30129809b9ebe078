/**
 * Requests in the upstream's own format: what the tables of members and headers do not list is left out and
 * named, and what names stored objects or costs more is refused.
 */
import type { DialectName } from '@gateway/shared/catalog';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeModel, makeRoute, startNode } from '../../test/request-path.ts';
import type { CallResult, TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream } from '../../test/upstream.ts';

const ANSWER = JSON.stringify({
  ...{ id: 'm1', type: 'message', role: 'assistant', model: 'm' },
  ...{ content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn' },
  usage: { input_tokens: 1, output_tokens: 1 },
});
const MESSAGES = '"messages":[{"role":"user","content":"Hello"}]';

let upstream: FakeUpstream;
let node: TestNode;

beforeEach(async () => {
  upstream = await startUpstream(() => ({ chunks: [ANSWER] }));
  node = await startNode();
  speak('anthropic-messages');
});
afterEach(async () => {
  await node.close();
  await upstream.close();
});

function speak(protocol: DialectName): void {
  node.store.routes = [makeRoute(upstream.origin, { provider: { protocols: [protocol] } })];
}

function ask(members: string, headers: Record<string, string> = {}): Promise<CallResult> {
  const body = `{"model":"swift","max_tokens":9,${members}}`;
  return node.call({ path: '/v1/messages', body, headers });
}

describe('an unknown part of a mirrored request', () => {
  const content = '[{"type":"text","text":"Hello", "odd": {"a":[1]}}]';
  const members = `"messages":[{"role":"user","content":${content}}],"new":1e2`;

  it('is left out and named, and nothing else changes', async () => {
    const { status, headers } = await ask(members);
    expect([status, headers['x-gateway-dropped']]).toEqual([200, '/messages/0/content/0/odd, /new']);
    const text = '[{"type":"text","text":"Hello"}]';
    const kept = `{"model":"vendor-model","max_tokens":9,"messages":[{"role":"user","content":${text}}]}`;
    expect(upstream.seen[0]?.body).toBe(kept);
  });

  it('is refused for a strict client before an upstream is asked', async () => {
    const { status, text } = await ask(members, { 'x-gateway-strict': '1' });
    expect([status, text]).toEqual([400, expect.stringContaining('/messages/0/content/0/odd')]);
    expect(upstream.seen).toEqual([]);
  });

  it('passes if the model lets unknown parts pass', async () => {
    node.store.modelList = [makeModel({ passUnknown: true })];
    const { headers } = await ask(members, { 'anthropic-beta': 'odd-2030-01-01', 'anthropic-odd': '1' });
    expect(headers['x-gateway-dropped']).toBeUndefined();
    expect(upstream.seen[0]?.body).toBe(`{"model":"vendor-model","max_tokens":9,${members}}`);
    const sent = { 'anthropic-beta': 'odd-2030-01-01', 'anthropic-odd': '1' };
    expect(upstream.seen[0]?.headers).toMatchObject(sent);
  });

  it('can be a flag or a header that the table does not list', async () => {
    const beta = 'context-management-2025-06-27, odd-2030-01-01,effort-2025-11-24';
    const { headers } = await ask(MESSAGES, { 'anthropic-beta': beta, 'anthropic-odd': '1' });
    const dropped = String(headers['x-gateway-dropped']).split(', ').toSorted();
    expect(dropped).toEqual(['header:anthropic-beta/odd-2030-01-01', 'header:anthropic-odd']);
    const kept = 'context-management-2025-06-27,effort-2025-11-24';
    expect(upstream.seen[0]?.headers).toMatchObject({ 'anthropic-beta': kept });
    expect(upstream.seen[0]?.headers).not.toHaveProperty('anthropic-odd');
  });
});

describe('a header that names an account of the client at the provider', () => {
  it.each([false, true])('is never sent, whether unknown parts pass or not: %s', async (passUnknown) => {
    speak('openai-chat');
    node.store.modelList = [makeModel({ passUnknown })];
    const headers = { 'openai-organization': 'org-client', 'openai-project': 'proj_client' };
    await node.call({ body: `{"model":"swift",${MESSAGES}}`, headers });
    expect(upstream.seen).toHaveLength(1);
    for (const name of Object.keys(headers)) expect(upstream.seen[0]?.headers).not.toHaveProperty(name);
  });
});

describe('an unknown part of a request that is re-encoded for an upstream of its own format', () => {
  it('is left out of messages that hold a seal of another provider', async () => {
    const sealed = '{"type":"thinking","thinking":"","signature":"gwseal1_e30"}';
    const block = '{"type":"server_tool_use","id":"s1","name":"web_search","input":{"q":1},"odd":1}';
    const messages = `[{"role":"user","content":"Hi"},{"role":"assistant","content":[${sealed},${block}]}]`;
    const tools = '[{"type":"dear_20300101","name":"d"},{"name":"f","input_schema":{}}]';
    const { status, headers } = await ask(`"messages":${messages},"tools":${tools},"new":{"a":1}`);
    expect(status).toBe(200);
    const dropped = '/messages/1/content/1/odd, /tools/0, /new';
    expect(headers['x-gateway-dropped']).toContain(dropped);
    for (const part of ['odd', 'dear_', 'new']) expect(upstream.seen[0]?.body).not.toContain(part);
    expect(upstream.seen[0]?.body).toContain('"server_tool_use"');
  });

  it('passes if the model lets unknown parts pass', async () => {
    node.store.modelList = [makeModel({ passUnknown: true })];
    await ask(`"messages":[{"role":"user","content":"gwseal1_"}],"new":{"a":1}`);
    expect(JSON.parse(upstream.seen[0]?.body ?? '')).toMatchObject({ new: { a: 1 } });
  });
});

describe('a priced part', () => {
  const SERVER = '{"type":"url","name":"a","url":"https://a.example/mcp"}';
  const TIERS = ['fast', 'fallbacks', 'priority', 'billing_policy', 'mcp_servers', 'mcp_toolset'];

  it.each([
    '"speed":"fast"',
    '"fallbacks":[{"model":"a"}]',
    '"service_tier":"priority"',
    '"billing_policy":{"type":"a"}',
    `"mcp_servers":[${SERVER}]`,
    '"tools":[{"type":"mcp_toolset","mcp_server_name":"a"}]',
  ])('is refused unless the limits of the model name it: %s', async (member) => {
    const { status, text } = await ask(`${MESSAGES},${member}`);
    expect([status, text]).toEqual([400, expect.stringContaining('is not sold')]);
    expect(upstream.seen).toEqual([]);
    node.store.modelList = [makeModel({ limits: { ...makeModel().limits, serviceTiers: TIERS } })];
    expect((await ask(`${MESSAGES},${member}`)).status).toBe(200);
  });

  it('is refused if an escape hides its name from JSON.parse of V8 14.6', async () => {
    // V8 then reads the escaped name of the second request as this name.
    expect((await ask(`${MESSAGES},"\\\\u0073ervice":1`)).status).toBe(200);
    const { status, text } = await ask(`${MESSAGES},"\\u0073ervice_tier":"priority"`);
    expect([status, text]).toEqual([400, expect.stringContaining('priority')]);
    expect(upstream.seen).toHaveLength(1);
  });

  it('is refused as `serviceTier` of a generative request', async () => {
    node.store.modelList = [makeModel({ families: ['generative_language'] })];
    const route = { families: ['generative_language' as const] };
    node.store.routes = [makeRoute(upstream.origin, { provider: { protocols: ['google-generate'] }, route })];
    const headers = { authorization: '', 'x-gen-api-key': node.secret };
    const body = '{"contents":[{"role":"user","parts":[{"text":"Hi"}]}],"serviceTier":"PRIORITY"}';
    const { status, text } = await node.call({ path: '/v1beta/models/swift:generateContent', body, headers });
    expect([status, text]).toEqual([400, expect.stringContaining('is not sold')]);
    expect(upstream.seen).toEqual([]);
  });
});

describe('a thread of messages', () => {
  it.each(['anthropic-messages', 'openai-chat'] as const)(
    'is refused over %s with the code after which the SDK sends the whole conversation',
    async (protocol) => {
      speak(protocol);
      const { status, text } = await ask(`${MESSAGES},"thread":{"type":"create"}`);
      expect(status).toBe(400);
      expect(JSON.parse(text).error.details).toEqual({ error_code: 'thread_unsupported_request' });
      expect(upstream.seen).toEqual([]);
    },
  );
});

describe('a duplicate member', () => {
  it.each([
    ['/a', '"a":1,"a":2'],
    ['/messages/0/role', '"messages":[{"role":"user","content":"x","role":"system"}]'],
    ['/metadata/user_id', '"metadata":{"user_id":"a","user\\u005fid":"b"}'],
    ['/tools/0/input_schema/x', '"tools":[{"name":"f","input_schema":{"x":{},"y":[{"x":1}],"\\u0078":{}}}]'],
  ])('is refused on every level, over every format: %s', async (pointer, member) => {
    for (const protocol of ['anthropic-messages', 'openai-chat'] as const) {
      speak(protocol);
      const { status, text } = await ask(member);
      expect([status, text], pointer).toEqual([400, expect.stringContaining('comes twice')]);
    }
    expect(upstream.seen).toEqual([]);
  });
});

describe('the address of a stored file', () => {
  const path = '/v1beta/models/swift:generateContent';
  const headers = () => ({ authorization: '', 'x-gen-api-key': node.secret });
  const play = { candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] };
  const partOf = (uri: string) => ({ file_data: { mime_type: 'image/png', file_uri: uri } });

  beforeEach(() => {
    node.store.modelList = [makeModel({ families: ['generative_language'] })];
    const route = { families: ['generative_language' as const] };
    node.store.routes = [makeRoute(upstream.origin, { provider: { protocols: ['google-generate'] }, route })];
    upstream.play = () => ({ chunks: [JSON.stringify(play)] });
  });

  it.each([
    'https://generativelanguage.googleapis.com/v1beta/files/a',
    'HTTPS://GenerativeLanguage.GoogleAPIs.com/v1beta/files/a',
    'https://generativelanguage.googleapis.com:443/v1beta/files/a',
    'https://generativelanguage.googleapis.com./v1beta/files/a',
    'https://user@generativelanguage.googleapis.com/v1beta/files/a',
    'https://content-generativelanguage.googleapis.com/v1beta/files/a',
    'https://autopush-generativelanguage.sandbox.googleapis.com/v1beta/files/a',
    'https://us-central1-aiplatform.googleapis.com/v1/a',
    'https://generativelanguage%2egoogleapis.com/v1beta/files/a',
    ' \thttps:\\\\generativelanguage.googleapis.com/v1beta/files/a',
    'gs://bucket/a',
    'files/a',
    '//generativelanguage.googleapis.com/v1beta/files/a',
  ])('is refused in every spelling: %s', async (uri) => {
    const history = [{ functionCall: { name: 'f', args: {} }, ...partOf(uri) }];
    for (const parts of [[partOf(uri)], history]) {
      const body = JSON.stringify({ contents: [{ role: 'user', parts }] });
      const { status, text } = await node.call({ path, body, headers: headers() });
      expect([status, text]).toEqual([400, expect.stringContaining('stored at a provider')]);
    }
    expect(upstream.seen).toEqual([]);
  });

  it.each([
    'https://example.com/generativelanguage.googleapis.com/a.png',
    'https://storage.googleapis.com/b/a',
  ])('is not recognised in an address of another host: %s', async (uri) => {
    const body = JSON.stringify({ contents: [{ role: 'user', parts: [partOf(uri)] }] });
    expect((await node.call({ path, body, headers: headers() })).status).toBe(200);
  });
});
