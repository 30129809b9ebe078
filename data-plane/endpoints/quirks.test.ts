/** Quirks of upstreams in requests over real sockets: mirrored, translated, whole and streamed. */
import type { DialectName } from '@gateway/shared/catalog';
import type { Quirk, QuirkKind } from '@gateway/shared/quirks';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeRoute, startNode } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream } from '../../test/upstream.ts';

const CHAT = JSON.stringify({
  ...{ id: 'c1', object: 'chat.completion', model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
});
const MESSAGES = '"messages":[{"role":"user","content":"H" }]';
const USER = { role: 'user', content: 'Hello' };

let upstream: FakeUpstream;
let node: TestNode;

beforeAll(async () => {
  upstream = await startUpstream(() => ({ chunks: [CHAT] }));
  node = await startNode();
});
beforeEach(() => {
  upstream.seen = [];
  upstream.play = () => ({ chunks: [CHAT] });
});
afterAll(async () => {
  await node.close();
  await upstream.close();
});

const row = (kind: QuirkKind, fields: Partial<Quirk> = {}): Quirk => ({
  ...{ kind, member: null, other: null, value: null, min: null, max: null },
  ...fields,
});

function useQuirks(ofUpstream: Quirk[], ofRoute: Quirk[] = [], protocol: DialectName = 'openai-chat'): void {
  const provider = { protocols: [protocol], quirks: ofUpstream };
  node.store.routes = [makeRoute(upstream.origin, { provider, route: { quirks: ofRoute } })];
}

const sentBody = (): unknown => JSON.parse(upstream.seen.at(-1)?.body ?? 'null');

describe('quirks of an upstream', () => {
  it('change only their byte ranges of a mirrored request', async () => {
    useQuirks(
      [row('DROP', { member: 'seed' }), row('CLAMP', { member: 'temperature', max: 1 })],
      [row('RENAME', { member: 'max_tokens', other: 'max_completion_tokens' })],
    );
    const text = `{"model":"swift", "seed":1, "temperature": 1.90,${MESSAGES},"max_tokens":50}`;
    const { status, headers } = await node.call({ body: text });
    expect([status, headers['x-gateway-dropped']]).toEqual([200, '/seed, /temperature']);
    expect(upstream.seen[0]?.body).toBe(
      `{"model":"vendor-model", "temperature": 1,${MESSAGES},"max_completion_tokens":50}`,
    );
  });

  it('name the members of the client in a translated request', async () => {
    useQuirks([row('DROP', { member: 'temperature' }), row('CLAMP', { member: 'max_tokens', max: 10 })]);
    const body = { model: 'swift', max_tokens: 99, temperature: 1, messages: [USER] };
    const { status, headers } = await node.call({ path: '/v1/messages', body });
    expect(status).toBe(200);
    expect(headers['x-gateway-dropped']).toBe('/temperature');
    expect(sentBody()).not.toHaveProperty('temperature');
  });

  it('are refused for a strict client before the upstream is asked', async () => {
    useQuirks([row('DROP', { member: 'seed' })]);
    const body = { model: 'swift', seed: 1, messages: [USER] };
    const { status, text } = await node.call({ body, headers: { 'x-gateway-strict': '1' } });
    expect([status, text]).toEqual([400, expect.stringContaining('/seed')]);
    expect(upstream.seen).toEqual([]);
  });

  it('keep unknown parts out of a member that is written again', async () => {
    useQuirks([row('SET', { member: 'audio.format', value: '"mp3"' })]);
    const audio = { voice: 'alloy', format: 'wav', odd: 1 };
    const { status, headers } = await node.call({ body: { model: 'swift', messages: [USER], audio } });
    expect([status, headers['x-gateway-dropped']]).toEqual([200, '/audio/odd, /audio/format']);
    expect(sentBody()).toMatchObject({ audio: { voice: 'alloy', format: 'mp3' } });
    expect(upstream.seen[0]?.body).not.toContain('odd');
  });

  it('give system texts to the user, and name them', async () => {
    useQuirks([row('NO_SYSTEM', { other: 'user' })]);
    const body = { model: 'swift', messages: [{ role: 'system', content: 'Be brief.' }, USER] };
    const { headers } = await node.call({ body });
    expect(headers['x-gateway-dropped']).toBe('/messages/0');
    expect(sentBody()).toMatchObject({ messages: [{ role: 'user', content: 'Be brief.\n\nHello' }] });
  });

  it('give system texts the role of a developer', async () => {
    useQuirks([row('NO_SYSTEM', { other: 'developer' })]);
    await node.call({ body: { model: 'swift', messages: [{ role: 'system', content: 'Brief.' }, USER] } });
    expect(sentBody()).toMatchObject({ messages: [{ role: 'developer', content: 'Brief.' }, USER] });
  });

  it('put parallel tool calls of earlier turns in sequence', async () => {
    useQuirks([row('NO_PARALLEL_TOOLS')]);
    const call = (id: string) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } });
    const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: id });
    const calls = { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] };
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
    await node.call({ body: { model: 'swift', tools, messages: [USER, calls, result('a'), result('b')] } });
    const { messages, parallel_tool_calls } = sentBody() as {
      messages: object[];
      parallel_tool_calls: unknown;
    };
    expect(parallel_tool_calls).toBe(false);
    expect(messages).toMatchObject([
      USER,
      { role: 'assistant', tool_calls: [{ id: 'a' }] },
      result('a'),
      { role: 'assistant', tool_calls: [{ id: 'b' }] },
      result('b'),
    ]);
  });
});

describe('tool names that an upstream does not permit', () => {
  const NAME = 'mcp.files/read';
  const tools = [{ type: 'function', function: { name: NAME, parameters: { type: 'object' } } }];
  const body = { model: 'swift', tools, messages: [USER] };
  const sentName = (): string => {
    const { tools: sent } = sentBody() as { tools: { function: { name: string } }[] };
    return sent[0]?.function.name ?? '';
  };
  const callOf = (name: string) => ({
    ...{ index: 0, id: 'call_1', type: 'function' },
    function: { name, arguments: '{}' },
  });

  beforeEach(() => {
    useQuirks([row('TOOL_NAMES', { value: '_', max: 32 })]);
    upstream.play = ({ body: sent }) => {
      const { stream, tools: known } = JSON.parse(sent) as { stream?: boolean; tools: typeof tools };
      const tool_calls = [callOf(known[0]?.function.name ?? '')];
      const head = { id: 'c1', model: 'm' };
      if (stream !== true) {
        const message = { role: 'assistant', content: null, tool_calls };
        const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
        return { chunks: [JSON.stringify({ ...head, object: 'chat.completion', choices })] };
      }
      const event = (choice: object) => {
        const choices = [{ index: 0, ...choice }];
        return `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices })}\n\n`;
      };
      return {
        headers: { 'content-type': 'text/event-stream' },
        chunks: [
          event({ delta: { role: 'assistant', tool_calls } }),
          event({ delta: {}, finish_reason: 'tool_calls' }),
          'data: [DONE]\n\n',
        ],
      };
    };
  });

  it.each([false, true])(
    'are changed for the upstream and restored for the client, streamed: %s',
    async (stream) => {
      const { status, text } = await node.call({ body: { ...body, stream } });
      expect(status).toBe(200);
      expect(sentName()).toMatch(/^mcp_files_read_[0-9a-f]{8}$/);
      expect(text).toContain(`"${NAME}"`);
      expect(text).not.toContain(sentName());
    },
  );

  it('become the same name in every turn', async () => {
    await node.call({ body });
    const first = sentName();
    const other = { type: 'function', function: { name: 'mcp/files_read', parameters: { type: 'object' } } };
    await node.call({ body: { ...body, tools: [...tools, other] } });
    expect(sentName()).toBe(first);
  });
});
