/** The responses dialect: items, the sequence of events, what Codex needs, and deviations of providers. */
import { GatewayError } from '@gateway/shared/failures';
import { describe, expect, it } from 'vitest';
import { collect, replay } from '../answer.ts';
import type { Block, ChatEvent, ChatRequest, ChatResponse, Part } from '../canonical.ts';
import { objectOf, objectsOf, parseObject } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { SseParser } from '../../../test/sse-parser.ts';
import { openaiResponses } from './index.ts';

const { inbound, outbound } = openaiResponses;

function decode(wire: JsonObject): ChatRequest {
  return inbound.decodeRequest({ model: 'm', ...wire }, {});
}

/** Decodes a request and encodes it for an upstream of the same format. */
function roundTrip(wire: JsonObject): JsonObject {
  return outbound.encodeRequest(decode(wire), 'up').body;
}

function events(list: JsonObject[]): ChatEvent[] {
  const decoder = outbound.streamDecoder(1);
  const frames = list.map((event) => ({ data: JSON.stringify(event) }));
  return [...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end()];
}

function answer(...blocks: Block[]): ChatResponse {
  const tokens = { input: 10, output: 5, cached: 4, reasoning: 2 };
  return { id: 'a1', model: 'up', tokens, choices: [{ blocks, finish: 'stop' }] };
}

/** The events that a client receives for a streamed answer. */
function written(response: ChatResponse, request = decode({ input: 'hi', stream: true })): JsonObject[] {
  const encoder = inbound.streamEncoder(request);
  const text = [...replay(response)].map((event) => encoder.push(event)).join('');
  const parser = new SseParser();
  return [...parser.push(Buffer.from(text)), ...parser.end()].map(({ event, data }) => {
    const value = parseObject(data) ?? {};
    expect(event).toBe(value.type);
    return value;
  });
}

const typesOf = (list: JsonObject[]): unknown[] => list.map(({ type }) => type);
const partsOf = (request: ChatRequest): Part[] => request.messages.flatMap(({ parts }) => parts);
const CREATED = { type: 'response.created', response: { id: 'resp_1', model: 'up' } };
const text = (value: string): Block => ({ kind: 'text', text: value });

describe('requests', () => {
  it('join consecutive items of the assistant into one message, and tool results into another', () => {
    const request = decode({
      instructions: 'Be kind.',
      input: [
        { role: 'user', content: 'go' },
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed' },
        { type: 'function_call', call_id: 'c1', name: 'read', arguments: '{"a":1}' },
        { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: 'free text' },
        { type: 'function_call_output', call_id: 'c1', output: 'one' },
        { type: 'custom_tool_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'two' }] },
        { role: 'user', content: [{ type: 'input_text', text: 'and now?' }] },
      ],
    });
    expect(request.messages.map(({ role, parts }) => [role, parts.map(({ kind }) => kind)])).toEqual([
      ['system', ['text']],
      ['user', ['text']],
      ['assistant', ['reasoning', 'tool-call', 'tool-call']],
      ['user', ['tool-result', 'tool-result']],
      ['user', ['text']],
    ]);
    const results = partsOf(request).filter(({ kind }) => kind === 'tool-result');
    expect(results).toMatchObject([{ name: 'read' }, { name: 'patch', custom: true }]);
    expect(results.map(({ at }) => at)).toEqual(['/input/4', '/input/5']);
  });

  it('keep encrypted reasoning, compaction and unknown items unchanged', () => {
    const input = [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] },
      { type: 'compaction', id: 'cmp_1', encrypted_content: 'sealed' },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 's' }],
        encrypted_content: 'x',
      },
      { type: 'brand_new_item', value: { a: [1] } },
    ];
    expect(roundTrip({ input }).input).toEqual(input);
  });

  it('give tools of a namespace unique names, and encode them with their namespace', () => {
    const inner = { type: 'function', name: 'wait', description: 'in', parameters: { type: 'object' } };
    const tools = [
      { ...inner, description: 'out', strict: false },
      {
        type: 'namespace',
        name: 'agents',
        description: 'Agents',
        tools: [inner, { ...inner, name: 'spawn' }],
      },
    ];
    const call = { type: 'function_call', call_id: 'c1', name: 'wait', namespace: 'agents', arguments: '{}' };
    const request = decode({ input: [call], tools });
    expect(request.tools.map((tool) => ('name' in tool ? tool.name : ''))).toEqual([
      'wait',
      'agents__wait',
      'spawn',
    ]);
    expect(partsOf(request)).toMatchObject([{ kind: 'tool-call', name: 'agents__wait' }]);
    expect(objectsOf(roundTrip({ input: [call], tools }).input)).toEqual([call]);
    const body = inbound.encodeResponse(
      answer({ kind: 'tool-call', id: 'c2', name: 'agents__wait', text: '{}' }),
      request,
    );
    expect(objectsOf(objectOf(body).output)).toMatchObject([{ name: 'wait', namespace: 'agents' }]);
  });

  it('store nothing and ask for encrypted reasoning', () => {
    const body = roundTrip({ input: 'hi', store: true, include: ['web_search_call.action.sources'] });
    expect(body).toMatchObject({
      store: false,
      include: ['reasoning.encrypted_content', 'web_search_call.action.sources'],
    });
  });

  it.each([
    ['/previous_response_id', { previous_response_id: 'resp_1' }],
    ['/conversation', { conversation: 'conv_1' }],
    ['/prompt', { prompt: { id: 'pmpt_1' } }],
    ['/background', { background: true }],
    ['/input/0', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    [
      '/input/0/content/0/file_id',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }] },
    ],
    ['/tools/0/vector_store_ids', { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }],
    ['/tools/0/container', { tools: [{ type: 'code_interpreter', container: 'cntr_1' }] }],
  ])('are refused for %s', (parameter, wire) => {
    const error = (() => {
      try {
        return decode({ input: 'hi', ...wire });
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({ code: 'invalid_request', details: { parameter } });
  });

  it('name everything that is dropped for clients of other formats', () => {
    const request: ChatRequest = {
      ...decode({ input: 'hi' }),
      choices: 2,
      stop: ['x'],
      topK: 3,
      pointers: { choices: '/n', stop: '/stop', topK: '/top_k' },
      messages: [
        {
          role: 'user',
          at: '/messages/0',
          parts: [
            { kind: 'text', text: 'hear', at: '/messages/0/content/0' },
            {
              kind: 'media',
              media: { type: 'audio', mediaType: 'audio/wav', source: { base64: 'AAAA' } },
              at: '/messages/0/content/1',
            },
          ],
        },
      ],
    };
    const { dropped } = outbound.encodeRequest(request, 'up');
    expect(new Set(dropped)).toEqual(new Set(['/messages/0/content/1', '/n', '/stop', '/top_k']));
  });

  it('shorten a long call id in the same way for tool call and result', () => {
    const id = `call_${'x'.repeat(100)}`;
    const [call, result] = objectsOf(
      roundTrip({
        input: [
          { type: 'function_call', call_id: id, name: 'f', arguments: '{}' },
          { type: 'function_call_output', call_id: id, output: 'ok' },
        ],
      }).input,
    );
    expect(call?.call_id).toBe(result?.call_id);
    expect(String(call?.call_id).length).toBeLessThanOrEqual(64);
  });
});

describe('answers to clients', () => {
  it('stream the full sequence of numbered events, and the whole response at the end', () => {
    const list = written(
      answer({ kind: 'reasoning', text: 'hm' }, text('hello'), {
        kind: 'tool-call',
        id: 'c1',
        name: 'f',
        text: '{"a":1}',
      }),
    );
    expect(typesOf(list)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(list.map(({ sequence_number: number }) => number)).toEqual(list.map((_, index) => index));
    const done = list.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item);
    expect(objectOf(list.at(-1)?.response)).toMatchObject({
      status: 'completed',
      output: done,
      usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
    });
  });

  it('keep id and index of an item from its start to its end', () => {
    const list = written(answer({ kind: 'reasoning', text: 'hm' }, text('a'), text('b')));
    const added = list.filter(({ type }) => type === 'response.output_item.added');
    const done = list.filter(({ type }) => type === 'response.output_item.done');
    const placeOf = ({ item, output_index: index }: JsonObject): unknown => [objectOf(item).id, index];
    expect(done.map(placeOf)).toEqual(added.map(placeOf));
    expect(objectsOf(objectOf(done.at(-1)?.item).content)).toHaveLength(2);
  });

  it.each([
    ['length', 'response.incomplete', 'max_output_tokens'],
    ['filter', 'response.incomplete', 'content_filter'],
    ['refusal', 'response.incomplete', 'content_filter'],
  ] as const)('encode the finish %s as %s', (finish, type, reason) => {
    const { choices: _choices, ...head } = answer();
    const last = written({ ...head, choices: [{ blocks: [text('a')], finish }] }).at(-1);
    expect(last).toMatchObject({ type, response: { incomplete_details: { reason } } });
  });

  it('carry the seal of a tool call in a reasoning item before it, and decode it from there', () => {
    const seal = { dialect: 'google-generate', value: 'signed' } as const;
    const call: Block = { kind: 'tool-call', id: 'c1', name: 'f', text: '{}', seal };
    const completed = objectOf(written(answer(call)).at(-1)?.response);
    const items = objectsOf(completed.output);
    expect(typesOf(items)).toEqual(['reasoning', 'function_call']);
    expect(partsOf(decode({ input: items }))).toMatchObject([{ kind: 'tool-call', seal }]);
    expect(objectOf(inbound.encodeResponse(answer(call), decode({ input: 'x' }))).output).toHaveLength(2);
  });

  it('end a failed stream with response.failed and the message', () => {
    const failure = new GatewayError('upstream_failed', 'It broke.');
    const encoder = inbound.streamEncoder(decode({ input: 'x' }));
    encoder.push({ type: 'start', id: 'a', model: 'm' });
    for (const end of [encoder.push({ type: 'error', error: failure }), inbound.encodeStreamError(failure)]) {
      const frames = new SseParser().push(Buffer.from(end)).map(({ data }) => parseObject(data));
      expect(frames).toMatchObject([
        { type: 'error', message: 'It broke.' },
        { type: 'response.failed', response: { status: 'failed', error: { message: 'It broke.' } } },
      ]);
    }
  });
});

describe('answers of upstreams', () => {
  it('are serialised if their items are interleaved', () => {
    const item = (index: number): JsonObject => ({
      type: 'function_call',
      id: `fc_${index}`,
      call_id: `c${index}`,
      name: 'f',
      arguments: `{"n":${index}}`,
    });
    const delta = (index: number): JsonObject => ({
      type: 'response.function_call_arguments.delta',
      output_index: index,
      delta: `{"n":${index}}`,
    });
    const list = events([
      CREATED,
      { type: 'response.output_item.added', output_index: 0, item: { ...item(0), arguments: '' } },
      { type: 'response.output_item.added', output_index: 1, item: { ...item(1), arguments: '' } },
      delta(1),
      delta(0),
      { type: 'response.output_item.done', output_index: 1, item: item(1) },
      { type: 'response.output_item.done', output_index: 0, item: item(0) },
      { type: 'response.completed', response: { status: 'completed', output: [item(0), item(1)] } },
    ]);
    expect(collect(list).choices).toMatchObject([
      {
        finish: 'tool',
        blocks: [
          { id: 'c0', text: '{"n":0}' },
          { id: 'c1', text: '{"n":1}' },
        ],
      },
    ]);
  });

  it('are completed from finished items and the final response if deltas are missing', () => {
    const message = (id: string, content: string): JsonObject => ({
      type: 'message',
      id,
      content: [{ type: 'output_text', text: content }],
    });
    const place = { output_index: 0, content_index: 0 };
    const output = [message('m0', 'hello there'), message('m1', ' again')];
    const list = events([
      CREATED,
      { type: 'response.output_text.delta', ...place, delta: 'hello' },
      { type: 'response.output_item.done', output_index: 0, item: output[0] },
      { type: 'response.completed', response: { status: 'completed', output } },
    ]);
    expect(collect(list).choices[0]?.blocks.map((block) => block.text)).toEqual(['hello there', ' again']);
  });

  it('fail at a failed response, an error event and a missing end', () => {
    const failed = {
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'server_error' } },
    };
    const busy = { type: 'error', error: { code: 'rate_limit_exceeded', message: 'slow down' } };
    const ends: [JsonObject[], string][] = [
      [[failed], 'upstream_failed'],
      [[busy], 'upstream_busy'],
      [[], 'upstream_failed'],
    ];
    for (const [end, code] of ends) {
      expect(events([CREATED, ...end]).at(-1)).toMatchObject({ type: 'error', error: { code } });
    }
    expect(() => outbound.decodeResponse({ status: 'failed', output: [], error: null })).toThrow(
      GatewayError,
    );
  });

  it('may hold the marker of chat completions and events of unknown types, which are ignored', () => {
    const decoder = outbound.streamDecoder(1);
    decoder.push({ data: JSON.stringify(CREATED) });
    expect(decoder.push({ data: '[DONE]' })).toEqual([]);
    expect(decoder.push({ data: '{"type":"response.brand_new"}' })).toEqual([]);
  });
});

describe('a stream whose final answer names its items anew', () => {
  const message = (id: string) => ({
    ...{ type: 'message', id, role: 'assistant' },
    content: [{ type: 'output_text', text: 'Hello' }],
  });
  const call = (id: string) => ({
    ...{ type: 'function_call', id, call_id: 'c1', name: 'f' },
    arguments: '{"a":1}',
  });
  const thought = { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'text', text: 'Hm' }] };
  const completed = (output: JsonObject[]) => ({
    ...{ type: 'response.completed' },
    response: { id: 'resp_1', model: 'up', status: 'completed', output },
  });
  const delta = { type: 'response.output_text.delta', output_index: 1, content_index: 0, delta: 'Hello' };
  const textsOf = (list: JsonObject[]) => collect(events(list)).choices[0]?.blocks.map((block) => block.text);

  it('is delivered once if the final answer numbers its items differently', () => {
    const thinking = { type: 'response.reasoning_text.delta', output_index: 0, delta: 'Hm' };
    const stream = [CREATED, thinking, delta];
    expect(textsOf([...stream, completed([message('msg_2')])])).toEqual(['Hm', 'Hello']);
    const done = { type: 'response.output_item.done', output_index: 1, item: message('msg_1') };
    expect(textsOf([...stream, done, completed([message('msg_2')])])).toEqual(['Hm', 'Hello']);
    expect(textsOf([...stream, done, completed([thought, message('msg_2')])])).toEqual(['Hm', 'Hello']);
  });

  it('is delivered once if all items have the same index', () => {
    const thinking = { type: 'response.output_item.done', output_index: 0, item: thought };
    const stream = [CREATED, thinking, { ...delta, output_index: 0 }];
    expect(textsOf([...stream, completed([thought, message('msg_1')])])).toEqual(['Hm', 'Hello']);
  });

  it('has its tool calls once, and two equal messages twice', () => {
    const done = (at: number, item: JsonObject) => ({
      ...{ type: 'response.output_item.done', output_index: at, item },
    });
    const called = [CREATED, done(2, call('fc_1')), completed([call('fc_2')])];
    expect(textsOf(called)).toEqual(['{"a":1}']);
    const twice = [CREATED, done(0, message('a')), done(1, message('b'))];
    expect(textsOf([...twice, completed([message('c'), message('d')])])).toEqual(['Hello', 'Hello']);
  });
});

describe('a response object', () => {
  // https://www.openresponses.org/specification
  const REQUIRED = [
    ...['id', 'object', 'created_at', 'completed_at', 'status', 'incomplete_details', 'model'],
    ...['previous_response_id', 'instructions', 'output', 'error', 'tools', 'tool_choice', 'truncation'],
    ...['parallel_tool_calls', 'text', 'top_p', 'presence_penalty', 'frequency_penalty', 'top_logprobs'],
    ...['temperature', 'reasoning', 'usage', 'max_output_tokens', 'max_tool_calls', 'store', 'background'],
    ...['service_tier', 'metadata', 'safety_identifier', 'prompt_cache_key'],
  ];

  it('has every member that the specification requires, whole and at the end of a stream', () => {
    const response = answer(text('Hi'));
    const whole = objectOf(inbound.encodeResponse(response, decode({ input: 'hi' })));
    const last = objectOf(written(response).at(-1)?.response);
    for (const object of [whole, last]) {
      expect(REQUIRED.filter((name) => object[name] === undefined)).toEqual([]);
      expect(object.completed_at).toBeGreaterThanOrEqual(Number(object.created_at));
    }
  });
});
