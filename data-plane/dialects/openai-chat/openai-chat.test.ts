/** The chat completions dialect: deviations of real providers, and what the format cannot carry. */
import { GatewayError } from '@gateway/shared/failures';
import { describe, expect, it } from 'vitest';
import { collect } from '../answer.ts';
import { NO_TOKENS } from '../canonical.ts';
import type { ChatEvent, ChatRequest, ChatResponse, Message, Part, Seal } from '../canonical.ts';
import { objectOf, objectsOf, parseObject } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { openaiChat } from './index.ts';

const { inbound, outbound } = openaiChat;

/** The events of these chunks; `DONE` stands for `[DONE]`. */
function decode(chunks: (JsonObject | 'DONE')[], choices = 1): ChatEvent[] {
  const decoder = outbound.streamDecoder(choices);
  const frames = chunks.map((chunk) => ({ data: chunk === 'DONE' ? '[DONE]' : JSON.stringify(chunk) }));
  return [...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end()];
}

function chunk(delta: JsonObject, finish?: string): JsonObject {
  return { id: 'c1', model: 'm', choices: [{ index: 0, delta, finish_reason: finish ?? null }] };
}

function toolDelta(call: JsonObject): JsonObject {
  return chunk({ tool_calls: [call] });
}

function callsOf(response: ChatResponse): unknown[] {
  return (response.choices[0]?.blocks ?? []).flatMap((block) =>
    block.kind === 'tool-call' ? [[block.id, block.name, parseObject(block.text) ?? block.text]] : [],
  );
}

function request(given: Partial<ChatRequest>): ChatRequest {
  const base: ChatRequest = {
    model: 'm',
    stream: false,
    choices: 1,
    messages: [],
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

describe('streams of real providers', () => {
  it('may send their finish twice (OpenRouter)', () => {
    const events = decode([
      chunk({ content: 'hi' }),
      chunk({}, 'stop'),
      chunk({ content: '' }, 'stop'),
      'DONE',
    ]);
    expect(events.filter(({ type }) => type === 'finish')).toHaveLength(1);
    expect(events.at(-1)?.type).toBe('done');
  });

  it('may start with a chunk without id and choices (Azure)', () => {
    const opening = { id: '', model: '', choices: [], prompt_filter_results: [{ prompt_index: 0 }] };
    const [first] = decode([opening, chunk({ content: 'hi' }, 'stop'), 'DONE']);
    expect(first).toEqual({ type: 'start', id: 'c1', model: 'm' });
  });

  it('may end without [DONE], but only after every choice has finished (Groq)', () => {
    expect(decode([chunk({ content: 'hi' }, 'stop')]).at(-1)?.type).toBe('done');
    expect(decode([chunk({ content: 'hi' })]).at(-1)?.type).toBe('error');
    expect(decode([chunk({ content: 'hi' }, 'stop')], 2).at(-1)?.type).toBe('error');
    expect(decode([chunk({ content: 'hi' }), 'DONE']).at(-1)?.type).toBe('error');
  });

  it('may send tool call deltas without an index (Mistral)', () => {
    const call = { id: 'a', function: { name: 'f', arguments: '{"x":1}' } };
    const other = { id: 'b', function: { name: 'g', arguments: '{}' } };
    const answer = collect(decode([toolDelta(call), toolDelta(other), chunk({}, 'tool_calls'), 'DONE']));
    expect(callsOf(answer)).toEqual([
      ['a', 'f', { x: 1 }],
      ['b', 'g', {}],
    ]);
  });

  it('may send content as parts of text and thinking (Mistral)', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
      { type: 'text', text: 'hi' },
    ];
    const [choice] = collect(decode([chunk({ content }, 'stop'), 'DONE'])).choices;
    expect(choice?.blocks.map((block) => [block.kind, block.text])).toEqual([
      ['reasoning', 'hm'],
      ['text', 'hi'],
    ]);
  });

  it('may send several tool calls with one index (Cerebras)', () => {
    const one = { index: 0, id: 'a', function: { name: 'f', arguments: '{}' } };
    const two = { index: 0, id: 'b', function: { name: 'g', arguments: '{}' } };
    const answer = collect(decode([toolDelta(one), toolDelta(two), chunk({}, 'tool_calls'), 'DONE']));
    expect(callsOf(answer)).toEqual([
      ['a', 'f', {}],
      ['b', 'g', {}],
    ]);
  });

  it('may interleave the deltas of parallel tool calls', () => {
    const deltas = [
      { index: 0, id: 'a', function: { name: 'f', arguments: '{"x"' } },
      { index: 1, id: 'b', function: { name: 'g', arguments: '{"y"' } },
      { index: 0, function: { arguments: ':1}' } },
      { index: 1, function: { arguments: ':2}' } },
    ];
    const answer = collect(decode([...deltas.map(toolDelta), chunk({}, 'tool_calls'), 'DONE']));
    expect(callsOf(answer)).toEqual([
      ['a', 'f', { x: 1 }],
      ['b', 'g', { y: 2 }],
    ]);
  });

  it('report each of several consecutive tool calls at once', () => {
    const first = toolDelta({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x":1}' } });
    const second = toolDelta({ index: 1, id: 'b', function: { name: 'g', arguments: '' } });
    const decoder = outbound.streamDecoder(1);
    decoder.push({ data: JSON.stringify(first) });
    const types = decoder.push({ data: JSON.stringify(second) }).map(({ type }) => type);
    expect(types).toEqual(['block-end', 'block-start']);
  });

  it('finish for tool calls after stop, which is sent for forced functions', () => {
    const call = { index: 0, id: 'a', function: { name: 'f', arguments: '' } };
    const answer = collect(decode([toolDelta(call), chunk({}, 'stop'), 'DONE']));
    expect(answer.choices[0]?.finish).toBe('tool');
    expect(callsOf(answer)).toEqual([['a', 'f', {}]]);
  });

  it('may exclude reasoning from the completion tokens (xAI)', () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 35,
      completion_tokens_details: { reasoning_tokens: 20 },
    };
    const answer = collect(decode([chunk({ content: 'a' }, 'stop'), { choices: [], usage }, 'DONE']));
    expect(answer.tokens).toEqual({ input: 10, output: 25, cached: null, reasoning: 20 });
  });

  it('fail at an error chunk or an error in a choice, without a word about the account', () => {
    const error = {
      message: 'You exceeded your quota',
      type: 'insufficient_quota',
      code: 'insufficient_quota',
    };
    for (const bad of [{ error }, { id: 'c1', choices: [{ index: 0, delta: {}, error }] }]) {
      const last = decode([chunk({ content: 'a' }), bad, 'DONE']).at(-1);
      expect(last?.type === 'error' && last.error.message).not.toContain('quota');
    }
  });

  it('may interleave several choices, each with its own finish', () => {
    const one = (index: number, delta: JsonObject, finish: string | null): JsonObject => ({
      id: 'c',
      model: 'm',
      choices: [{ index, delta, finish_reason: finish }],
    });
    const answer = collect(
      decode(
        [
          one(1, { content: 'b' }, null),
          one(0, { content: 'a' }, null),
          one(1, { content: 'B' }, 'length'),
          one(0, { content: 'A' }, 'stop'),
          'DONE',
        ],
        2,
      ),
    );
    expect(answer.choices.map(({ blocks, finish }) => [blocks[0]?.text, finish])).toEqual([
      ['aA', 'stop'],
      ['bB', 'length'],
    ]);
  });
});

describe('requests', () => {
  it('are refused for a reference to a stored file', () => {
    const content = [
      { type: 'text', text: 'x' },
      { type: 'file', file: { file_id: 'file-1' } },
    ];
    const wire = { model: 'm', messages: [{ role: 'user', content }] };
    expect(() => inbound.decodeRequest(wire, {})).toThrow('/messages/0/content/1/file/file_id');
  });

  it('are refused for fields of the wrong type, with the pointer of the first one', () => {
    const good = { model: 'm', messages: [{ role: 'user', content: 'x' }] };
    const wrong: [JsonObject, string][] = [
      [{ ...good, model: undefined }, '/model'],
      [{ ...good, temperature: 'hot' }, '/temperature'],
      [{ ...good, n: 0 }, '/n'],
      [{ ...good, messages: [{ role: 'wizard' }] }, '/messages/0/role'],
      [{ ...good, tools: [{ type: 'function' }] }, '/tools/0/function'],
      [{ ...good, stop: [1] }, '/stop/0'],
    ];
    for (const [wire, pointer] of wrong) {
      try {
        inbound.decodeRequest(wire, {});
        expect.unreachable();
      } catch (error) {
        expect(error instanceof GatewayError && error.details.parameter).toBe(pointer);
      }
    }
  });

  it('keep unknown fields at any depth as extras, with their pointers', () => {
    const wire = {
      model: 'm',
      brand_new: 1,
      store: true,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'x', hue: 2 }] }],
    };
    expect(inbound.decodeRequest(wire, {}).extras).toEqual([
      { dialect: 'openai-chat', pointer: '/brand_new', value: 1 },
      { dialect: 'openai-chat', pointer: '/messages/0/content/0/hue', value: 2 },
    ]);
  });

  it('may use the deprecated functions, which become tools matched by name', () => {
    const wire = {
      model: 'm',
      functions: [{ name: 'f', parameters: {} }],
      function_call: { name: 'f' },
      messages: [
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
        { role: 'function', name: 'f', content: 'done' },
      ],
    };
    const decoded = inbound.decodeRequest(wire, {});
    expect(decoded.toolChoice).toEqual({ name: 'f' });
    const [call, result] = decoded.messages.flatMap(({ parts }) => parts);
    expect(call?.kind === 'tool-call' && result?.kind === 'tool-result' && call.id === result.id).toBe(true);
    const blocks = [{ kind: 'tool-call' as const, id: 'x', name: 'f', text: '{}' }];
    const answer = { id: 'a', model: 'm', tokens: NO_TOKENS, choices: [{ blocks, finish: 'tool' as const }] };
    const [choice] = objectsOf(objectOf(inbound.encodeResponse(answer, decoded)).choices);
    expect(choice?.finish_reason).toBe('function_call');
    expect(objectOf(choice?.message).function_call).toEqual({ name: 'f', arguments: '{}' });
  });

  it('encode tool results first, and their images in a user message after them', () => {
    const image: Part = {
      kind: 'media',
      media: { type: 'image', mediaType: 'image/png', source: { base64: 'AA' } },
      at: '/i',
    };
    const result = (id: string, ...parts: Part[]): Part => ({
      kind: 'tool-result',
      id,
      name: 'f',
      parts,
      at: '/r',
    });
    const messages = [
      message('user', result('a', text('1'), image)),
      message('user', text('go on'), result('b', text('2'))),
    ];
    const { body } = outbound.encodeRequest(request({ messages }), 'up');
    expect(objectsOf(body.messages).map(({ role, tool_call_id: id }) => id ?? role)).toEqual([
      'a',
      'b',
      'user',
      'user',
    ]);
  });

  it('name everything that is dropped', () => {
    const video: Part = {
      kind: 'media',
      media: { type: 'video', mediaType: 'video/mp4', source: { base64: 'AA' } },
      at: '/v',
    };
    const messages = [
      message('user', { ...text('x'), at: '/c', cache: {} }, video),
      message('assistant', {
        kind: 'reasoning',
        text: 'hm',
        seal: { dialect: 'anthropic-messages', value: 's' },
        at: '/think',
      }),
    ];
    const given = request({
      messages,
      topK: 3,
      metadata: { a: 'b' },
      pointers: { topK: '/top_k', metadata: '/metadata' },
      tools: [
        { kind: 'builtin', dialect: 'anthropic-messages', value: {}, builtin: 'web-search', at: '/tools/0' },
      ],
    });
    const { dropped, body } = outbound.encodeRequest(given, 'up');
    expect(dropped.toSorted()).toEqual([
      '/c/cache_control',
      '/metadata',
      '/think',
      '/tools/0',
      '/top_k',
      '/v',
    ]);
    expect(body).toEqual({ model: 'up', messages: [{ role: 'user', content: 'x' }] });
  });

  it('return thinking to its upstream only within a chain of tool calls', () => {
    const thinking: Part = {
      kind: 'reasoning',
      text: 'hm',
      seal: { dialect: 'openai-chat', value: '' },
      at: '/think',
    };
    const call: Part = { kind: 'tool-call', id: 'a', name: 'f', text: '{}', at: '/c' };
    const result: Part = { kind: 'tool-result', id: 'a', name: 'f', parts: [text('1')], at: '/r' };
    const chain = [message('user', text('q')), message('assistant', thinking, call), message('user', result)];
    const within = outbound.encodeRequest(request({ messages: chain }), 'up');
    expect(objectsOf(within.body.messages)[1]?.reasoning_content).toBe('hm');
    expect(within.dropped).toEqual([]);
    const after = outbound.encodeRequest(
      request({ messages: [...chain, message('user', text('next'))] }),
      'up',
    );
    expect(objectsOf(after.body.messages)[1]).not.toHaveProperty('reasoning_content');
    expect(after.dropped).toEqual(['/think']);
  });
});

describe('an assistant message for a chat upstream', () => {
  const seal = (details: JsonObject[]): Seal => ({
    dialect: 'openai-chat',
    value: details.length > 0 ? JSON.stringify(details) : '',
  });
  const thought = (value: string, details: JsonObject[] = []): Part => ({
    kind: 'reasoning',
    text: value,
    seal: seal(details),
    at: '/think',
  });
  const written = (...parts: Part[]): JsonObject | undefined => {
    const messages = [message('user', text('q')), message('assistant', ...parts)];
    return objectsOf(outbound.encodeRequest(request({ messages }), 'up').body.messages)[1];
  };

  it('has the text of all blocks of thinking', () => {
    expect(written(thought('first'), thought('second'), text('so'))?.reasoning_content).toBe(
      'first\n\nsecond',
    );
  });

  it('has the details of all blocks of thinking, in their order', () => {
    const details = [{ data: 'a' }, { data: 'b' }, { data: 'c' }];
    const [one, two, three] = details;
    const parts = [thought('x', [one ?? {}, two ?? {}]), thought('', [three ?? {}]), text('so')];
    expect(written(...parts)).toMatchObject({ reasoning: 'x', reasoning_details: details });
  });

  it('keeps content parts that only this format has among the other content', () => {
    const value = { type: 'new_part', role: 'tool' };
    const part: Part = { kind: 'native', dialect: 'openai-chat', value, at: '/new' };
    expect(written(text('see'), part)).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: 'see' }, value],
    });
  });
});

describe('answers to clients', () => {
  const blocks = [{ kind: 'tool-call' as const, id: 'x', name: 'patch', text: '{"input":"*** Begin"}' }];
  const answer: ChatResponse = {
    id: 'a',
    model: 'm',
    tokens: NO_TOKENS,
    choices: [{ blocks, finish: 'tool' }],
  };
  const asked = request({ tools: [{ kind: 'custom', name: 'patch', description: '', at: '/tools/0' }] });

  it('unwrap calls of free-text tools that were wrapped as functions, whole and streamed', () => {
    const [choice] = objectsOf(objectOf(inbound.encodeResponse(answer, asked)).choices);
    const [call] = objectsOf(objectOf(choice?.message).tool_calls);
    expect(call).toEqual({ id: 'x', type: 'custom', custom: { name: 'patch', input: '*** Begin' } });
    const encoder = inbound.streamEncoder(asked);
    const events: ChatEvent[] = [
      { type: 'start', id: 'a', model: 'm' },
      { type: 'block-start', choice: 0, block: { kind: 'tool-call', id: 'x', name: 'patch' } },
      { type: 'block-delta', choice: 0, text: '{"input":"*** B' },
      { type: 'block-delta', choice: 0, text: 'egin"}' },
      { type: 'block-end', choice: 0 },
    ];
    expect(events.map((event) => encoder.push(event)).join('')).toContain('"custom":{"input":"*** Begin"}');
  });

  it('stream usage only if the client requested it', () => {
    const usage: ChatEvent = { type: 'usage', tokens: { input: 1, output: 2, cached: 0, reasoning: 0 } };
    for (const usageInStream of [true, false]) {
      const encoder = inbound.streamEncoder(request({ shape: { usageInStream } }));
      const written = [{ type: 'start' as const, id: 'a', model: 'm' }, usage, { type: 'done' as const }]
        .map((event) => encoder.push(event))
        .join('');
      expect(written.includes('"usage"')).toBe(usageInStream);
      expect(written.endsWith('data: [DONE]\n\n')).toBe(true);
    }
  });
});
