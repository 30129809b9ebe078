/** The messages dialect: thinking and signatures, the order of messages, and what the format cannot carry. */
import { describe, expect, it } from 'vitest';
import { collect } from '../answer.ts';
import { NO_TOKENS } from '../canonical.ts';
import type { Block, ChatEvent, ChatRequest, ChatResponse, Message, Part, Tool } from '../canonical.ts';
import { objectOf, objectsOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { openaiChat } from '../openai-chat/index.ts';
import { anthropicMessages } from './index.ts';

const { inbound, outbound } = anthropicMessages;
/** A model that takes thinking budgets. */
const OLD = 'claude-sonnet-4-5';
/** A model that takes adaptive thinking. */
const NEW = 'claude-opus-4-7';

function request(given: Partial<ChatRequest>): ChatRequest {
  const base: ChatRequest = {
    model: 'm',
    stream: false,
    choices: 1,
    messages: [message('user', text('hi'))],
    tools: [],
    stop: [],
    pointers: {},
    extras: [],
    shape: {},
  };
  return { ...base, ...given };
}

function message(role: Message['role'], ...parts: Part[]): Message {
  return { role, parts, at: '/m' };
}

const text = (value: string, at = '/t'): Part => ({ kind: 'text', text: value, at });
const call = (id: string): Part => ({ kind: 'tool-call', id, name: 'f', text: '{"a":1}', at: '/c' });
const result = (id: string, ...parts: Part[]): Part => ({
  kind: 'tool-result',
  id,
  name: 'f',
  parts,
  at: '/r',
});
const tool: Tool = { kind: 'function', name: 'f', description: '', at: '/tools/0' };

function answer(...blocks: Block[]): ChatResponse {
  return { id: 'a', model: 'm', tokens: NO_TOKENS, choices: [{ blocks, finish: 'stop' }] };
}

function decode(events: JsonObject[]): ChatEvent[] {
  const decoder = outbound.streamDecoder(1);
  return [...events.flatMap((event) => decoder.push({ data: JSON.stringify(event) })), ...decoder.end()];
}

const start = {
  type: 'message_start',
  message: { id: 'a', model: 'm', usage: { input_tokens: 5, output_tokens: 1 } },
};

describe('thinking', () => {
  const pointers = {
    reasoning: '/reasoning_effort',
    temperature: '/temperature',
    toolChoice: '/tool_choice',
  };

  it('is a budget below max_tokens for older models, and adaptive with an effort for newer ones', () => {
    const given = request({ reasoning: { effort: 'high' }, maxOutputTokens: 10_000 });
    expect(outbound.encodeRequest(given, OLD).body.thinking).toEqual({
      type: 'enabled',
      budget_tokens: 7500,
    });
    expect(outbound.encodeRequest(given, NEW).body).toMatchObject({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
    });
    const off = outbound.encodeRequest(request({ reasoning: { effort: 'none' } }), NEW).body;
    expect(off.thinking).toEqual({ type: 'disabled' });
  });

  it('is dropped if max_tokens leaves no room for it', () => {
    const { body, dropped } = outbound.encodeRequest(
      request({ reasoning: { effort: 'high' }, maxOutputTokens: 500, pointers }),
      OLD,
    );
    expect(body).not.toHaveProperty('thinking');
    expect(dropped).toContain('/reasoning_effort');
  });

  it('drops temperature and a forced tool call', () => {
    const given = request({
      reasoning: { effort: 'low' },
      temperature: 0.3,
      toolChoice: 'required',
      tools: [tool],
      pointers,
      maxOutputTokens: 9000,
    });
    const { body, dropped } = outbound.encodeRequest(given, OLD);
    expect(JSON.parse(JSON.stringify(body))).toMatchObject({ tool_choice: { type: 'auto' } });
    expect(body).not.toHaveProperty('temperature');
    expect(dropped.toSorted()).toEqual(['/temperature', '/tool_choice']);
  });

  it('is dropped within a chain of tool calls that began without it', () => {
    const messages = [
      message('user', text('q')),
      message('assistant', call('a')),
      message('user', result('a')),
    ];
    const { body, dropped } = outbound.encodeRequest(
      request({ messages, reasoning: { budget: 2048 }, pointers }),
      OLD,
    );
    expect(body).not.toHaveProperty('thinking');
    expect(dropped).toContain('/reasoning_effort');
  });

  it('comes back with its signature in the next request of a client of another format', () => {
    const thinking = { type: 'thinking', thinking: 'hm', signature: 'signed' };
    const wire = {
      id: 'a',
      model: 'm',
      content: [thinking, { type: 'tool_use', id: 'x', name: 'f', input: {} }],
      stop_reason: 'tool_use',
      usage: {},
    };
    const toChat = objectOf(openaiChat.inbound.encodeResponse(outbound.decodeResponse(wire), request({})));
    const reply = objectOf(objectsOf(toChat.choices)[0]?.message);
    const next = {
      model: 'm',
      messages: [{ role: 'user', content: 'q' }, reply, { role: 'tool', tool_call_id: 'x', content: '1' }],
    };
    const { body, dropped } = outbound.encodeRequest(openaiChat.inbound.decodeRequest(next, {}), OLD);
    expect(objectsOf(objectsOf(body.messages)[1]?.content)[0]).toEqual(thinking);
    expect(dropped).toEqual([]);
  });

  it('carries the seal of another provider’s tool call to the client and back', () => {
    const seal = { dialect: 'google-generate' as const, value: 'thought' };
    const sealed: Block = { kind: 'tool-call', id: 'x', name: 'f', text: '{}', seal };
    const whole = objectsOf(objectOf(inbound.encodeResponse(answer(sealed), request({}))).content);
    const encoder = inbound.streamEncoder(request({}));
    const { seal: _seal, text: _text, ...head } = sealed;
    const streamed =
      encoder.push({ type: 'start', id: 'a', model: 'm' }) +
      encoder.push({ type: 'block-start', choice: 0, block: head, seal });
    const [carrier] = whole;
    expect(streamed).toContain(JSON.stringify(carrier));
    const decoded = inbound.decodeRequest(
      { model: 'm', messages: [{ role: 'assistant', content: whole }] },
      {},
    );
    expect(decoded.messages[0]?.parts).toMatchObject([{ kind: 'tool-call', id: 'x', seal }]);
  });

  it('is dropped if another provider made it', () => {
    const foreign: Part = {
      kind: 'reasoning',
      text: 'hm',
      seal: { dialect: 'openai-responses', value: 's' },
      at: '/think',
    };
    const { body, dropped } = outbound.encodeRequest(
      request({
        messages: [
          message('user', text('q')),
          message('assistant', foreign, text('a')),
          message('user', text('b')),
        ],
      }),
      OLD,
    );
    expect(JSON.stringify(body)).not.toContain('hm');
    expect(dropped).toEqual(['/think']);
  });
});

describe('conversations', () => {
  it('have all instructions moved to the system text', () => {
    const messages = [
      message('system', text('A')),
      message('user', text('q')),
      message('developer', text('B')),
    ];
    const { body } = outbound.encodeRequest(request({ messages }), OLD);
    expect(body.system).toEqual([
      { type: 'text', text: 'A' },
      { type: 'text', text: 'B' },
    ]);
    expect(objectsOf(body.messages).map(({ role }) => role)).toEqual(['user']);
  });

  it('start with the user, merge consecutive messages of one role, and put tool results first', () => {
    const messages = [
      message('assistant', text('hello')),
      message('assistant', call('a.b')),
      message('user', text('and'), result('a.b')),
      message('user', text('more')),
    ];
    const { body } = outbound.encodeRequest(request({ messages }), OLD);
    const contents = objectsOf(body.messages).map(({ role, content }) => [
      role,
      objectsOf(content).map(({ type }) => type),
    ]);
    expect(contents).toEqual([
      ['user', ['text']],
      ['assistant', ['text', 'tool_use']],
      ['user', ['tool_result', 'text', 'text']],
    ]);
    const ids = objectsOf(body.messages).flatMap(({ content }) =>
      objectsOf(content).map(({ id, tool_use_id: of }) => id ?? of),
    );
    expect(ids.filter(Boolean)).toEqual(['a_b', 'a_b']);
  });

  it('may hold system messages in the middle, as Claude Code sends them', () => {
    const wire = {
      model: 'm',
      max_tokens: 5,
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
      system: [{ type: 'text', text: 'S', cache_control: { type: 'ephemeral', ttl: '1h' } }],
      messages: [
        { role: 'user', content: 'q' },
        { role: 'system', content: 'later' },
      ],
    };
    const decoded = inbound.decodeRequest(wire, {});
    expect(decoded.messages.map(({ role }) => role)).toEqual(['system', 'user', 'system']);
    expect(decoded.messages[0]?.parts[0]).toMatchObject({ cache: { ttl: '1h' }, at: '/system/0' });
    expect(decoded.reasoning).toEqual({ adaptive: true, effort: 'high' });
    expect(decoded.extras).toEqual([]);
  });

  it('are refused if they refer to stored objects', () => {
    const source = { type: 'file', file_id: 'f' };
    const content = [{ type: 'document', source }];
    expect(() => inbound.decodeRequest({ model: 'm', messages: [{ role: 'user', content }] }, {})).toThrow(
      '/messages/0/content/0/source',
    );
    expect(() => inbound.decodeRequest({ model: 'm', container: 'c', messages: [] }, {})).toThrow(
      '/container',
    );
  });
});

describe('requests', () => {
  it('get a max_tokens that the model accepts if the client sent none', () => {
    expect(outbound.encodeRequest(request({}), OLD).body.max_tokens).toBe(32_000);
    expect(outbound.encodeRequest(request({}), 'claude-3-haiku-20240307').body.max_tokens).toBe(4096);
  });

  it('close the objects of a schema, and name the schema if limits on values were removed', () => {
    const schema = { type: 'object', properties: { minimum: { type: 'integer', minimum: 1 } } };
    const given = request({ format: { kind: 'schema', schema }, pointers: { format: '/response_format' } });
    const { body, dropped } = outbound.encodeRequest(given, NEW);
    expect(objectOf(objectOf(body.output_config).format).schema).toEqual({
      type: 'object',
      properties: { minimum: { type: 'integer' } },
      additionalProperties: false,
    });
    expect(dropped).toEqual(['/response_format']);
  });

  it('offer only allowed tools, replace another provider’s search, and wrap free-text tools', () => {
    const tools: Tool[] = [
      tool,
      { ...tool, name: 'g' },
      { kind: 'custom', name: 'patch', description: 'Patches.', at: '/tools/2' },
      { kind: 'builtin', dialect: 'openai-responses', value: {}, builtin: 'web-search', at: '/tools/3' },
      { kind: 'builtin', dialect: 'openai-responses', value: {}, at: '/tools/4' },
    ];
    const given = request({
      tools,
      toolChoice: { allowed: ['f', 'patch'], mode: 'required' },
      pointers: { toolChoice: '/tool_choice' },
    });
    const { body, dropped } = outbound.encodeRequest(given, NEW);
    expect(objectsOf(body.tools).map(({ name }) => name)).toEqual(['f', 'patch', 'web_search']);
    expect(body.tool_choice).toEqual({ type: 'any' });
    expect(dropped.toSorted()).toEqual(['/tool_choice', '/tools/4']);
  });

  it('limit the temperature to 1, and name it if it was higher', () => {
    const { body, dropped } = outbound.encodeRequest(
      request({ temperature: 1.6, pointers: { temperature: '/t' } }),
      OLD,
    );
    expect(body.temperature).toBe(1);
    expect(dropped).toEqual(['/t']);
  });
});

describe('streams', () => {
  it('count cached tokens as input', () => {
    const usage = {
      input_tokens: 5,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 20,
      output_tokens: 1,
    };
    const events = decode([
      { ...start, message: { ...start.message, usage } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
      { type: 'message_stop' },
    ]);
    expect(collect(events)).toMatchObject({
      tokens: { input: 125, output: 9, cached: 100 },
      counters: { cacheWrite: 20 },
    });
  });

  it('may hold a whole tool call in message_start, without message_delta', () => {
    const content = [{ type: 'tool_use', id: 'x', name: 'f', input: { a: 1 } }];
    const events = decode([
      { type: 'message_start', message: { ...start.message, content, stop_reason: 'tool_use' } },
      { type: 'message_stop' },
    ]);
    expect(collect(events).choices[0]).toEqual({
      blocks: [{ kind: 'tool-call', id: 'x', name: 'f', text: '{"a":1}' }],
      finish: 'tool',
    });
  });

  it('are complete only with message_stop', () => {
    const finished = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: {} };
    expect(decode([start, finished]).at(-1)?.type).toBe('error');
    expect(
      decode([start, { type: 'error', error: { type: 'overloaded_error', message: 'x' } }]).at(-1),
    ).toMatchObject({ type: 'error', error: { code: 'upstream_busy' } });
  });

  it('report a refusal with its explanation', () => {
    const delta = { stop_reason: 'refusal', stop_details: { type: 'refusal', explanation: 'No.' } };
    const events = decode([start, { type: 'message_delta', delta, usage: {} }, { type: 'message_stop' }]);
    expect(collect(events).choices[0]).toEqual({
      blocks: [{ kind: 'refusal', text: 'No.' }],
      finish: 'refusal',
    });
  });

  it('keep blocks of server-side tools unchanged', () => {
    const block = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} };
    const events = decode([
      start,
      { type: 'content_block_start', index: 0, content_block: block },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: '{"query":"x"}' },
      },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: {} },
      { type: 'message_stop' },
    ]);
    expect(collect(events).choices[0]?.blocks).toEqual([
      { kind: 'native', dialect: 'anthropic-messages', value: { ...block, input: { query: 'x' } }, text: '' },
    ]);
  });

  it('are encoded with event names, and with the input tokens at the start if known', () => {
    const encoder = inbound.streamEncoder(request({}));
    const tokens = { input: 7, output: 3, cached: 2, reasoning: null };
    const written = (
      [
        { type: 'start', id: 'a', model: 'm' },
        { type: 'usage', tokens },
        { type: 'block-start', choice: 0, block: { kind: 'text' } },
        { type: 'block-delta', choice: 0, text: 'x' },
        { type: 'block-end', choice: 0 },
        { type: 'finish', choice: 0, reason: 'stop', stopSequence: 'END' },
        { type: 'done' },
      ] satisfies ChatEvent[]
    )
      .map((event) => encoder.push(event))
      .join('');
    const names = [...written.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
    expect(names).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(written).toContain('"input_tokens":5');
    expect(written).toContain('"stop_reason":"stop_sequence","stop_sequence":"END"');
  });
});

describe('the token counts of an answer', () => {
  it('have the reported input as their sum, even if the upstream counts more cached tokens', () => {
    const tokens = { input: 7, output: 1, cached: 161, reasoning: null };
    const response: ChatResponse = {
      ...{ id: 'a', model: 'm', tokens },
      choices: [{ blocks: [{ kind: 'text', text: 'Hi' }], finish: 'stop' }],
    };
    const { usage } = objectOf(inbound.encodeResponse(response, request({})));
    expect(usage).toMatchObject({ input_tokens: 0, cache_read_input_tokens: 7 });
  });
});
