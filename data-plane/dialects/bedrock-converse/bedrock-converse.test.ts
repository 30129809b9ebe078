/** The Converse dialect: what reaches Bedrock's models, what comes back, and what the format cannot carry. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '@gateway/shared/failures';
import { ConverseEvents, asConverse, asMessages } from '../../../test/converse.ts';
import type { ConverseEvent } from '../../../test/converse.ts';
import {
  BARE_REQUEST,
  meaningOfRequest,
  meaningOfResponse,
  requests,
  responses,
} from '../../../test/dialect-samples.ts';
import { SseParser } from '../../../test/sse-parser.ts';
import { collect, replay } from '../answer.ts';
import { anthropicMessages } from '../anthropic-messages/index.ts';
import type { ChatEvent, ChatRequest, ChatResponse, Message, Part, Tool } from '../canonical.ts';
import { objectOf, objectsOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { DIALECTS } from '../index.ts';
import { bedrockConverse } from './index.ts';

const { outbound } = bedrockConverse;
const CLAUDE = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0';
const NOVA_2 = 'us.amazon.nova-2-lite-v1:0';
const GPT_OSS = 'openai.gpt-oss-120b-1:0';
const LLAMA = 'meta.llama3-3-70b-instruct-v1:0';
const PNG = 'iVBORw0KGgoAAAANSUhEUg==';

function request(given: Partial<ChatRequest>): ChatRequest {
  const messages: Message[] = [{ role: 'user', at: '/messages/0', parts: [text('hi')] }];
  return { ...BARE_REQUEST, messages, ...given };
}

function text(value: string): Part {
  return { kind: 'text', text: value, at: '/text' };
}

function sent(given: Partial<ChatRequest>, model = LLAMA): { body: JsonObject; dropped: string[] } {
  return outbound.encodeRequest(request(given), model);
}

/** The events of a stream of Converse. */
function read(events: readonly ConverseEvent[]): ChatEvent[] {
  const decoder = outbound.streamDecoder(1);
  const frames = events.map(([event, payload]) => ({ event, data: JSON.stringify(payload) }));
  return [...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end()];
}

/** An answer as Bedrock would stream it, translated from the messages format. */
function streamOf(response: ChatResponse): ConverseEvent[] {
  const encoder = anthropicMessages.inbound.streamEncoder(BARE_REQUEST);
  const bytes = [...replay(response)].map((event) => encoder.push(event)).join('');
  const parser = new SseParser();
  const converse = new ConverseEvents();
  return [...parser.push(Buffer.from(bytes)), ...parser.end()].flatMap(({ data }) =>
    converse.push(objectOf(JSON.parse(data))),
  );
}

/** Converse names neither the answer nor the model, and counts no reasoning. */
function meaning(response: ChatResponse): unknown {
  const tokens = { ...response.tokens, reasoning: null };
  return meaningOfResponse({ ...response, id: '', model: '', tokens });
}

describe('a request', () => {
  it('keeps its meaning, except for the drops', () => {
    fc.assert(
      fc.property(requests, (original) => {
        const { body, dropped } = outbound.encodeRequest(original, CLAUDE);
        const wire = asMessages(objectOf(JSON.parse(JSON.stringify(body))), original);
        const decoded = anthropicMessages.inbound.decodeRequest(wire, {});
        const kept = { ...original, tools: original.tools.filter(({ at }) => !dropped.includes(at)) };
        const choice = kept.tools.length === 0 ? ['/toolChoice'] : [];
        const lost = [...dropped, ...choice];
        // Without tools of the client, those of the history are declared.
        const received = kept.tools.length > 0 ? decoded : { ...decoded, tools: [] };
        expect(meaningOfRequest(received, kept, lost)).toEqual(meaningOfRequest(kept, kept, lost));
      }),
    );
  });

  it('names every scalar that it drops', () => {
    const pointers = {
      seed: '/seed',
      presencePenalty: '/presence_penalty',
      frequencyPenalty: '/frequency_penalty',
      logprobs: '/logprobs',
      user: '/user',
      metadata: '/metadata',
      verbosity: '/verbosity',
      cacheKey: '/prompt_cache_key',
      topK: '/top_k',
      reasoning: '/reasoning_effort',
      parallelToolCalls: '/parallel_tool_calls',
      choices: '/n',
    };
    const { body, dropped } = sent({
      ...{ seed: 1, presencePenalty: 1, frequencyPenalty: 1, logprobs: { top: 1 }, user: 'u', topK: 4 },
      ...{ metadata: { a: 'b' }, verbosity: 'low', cacheKey: 'k', parallelToolCalls: false, choices: 2 },
      reasoning: { effort: 'high' },
      pointers,
    });
    expect(Object.keys(body)).toEqual(['messages']);
    expect(dropped.toSorted()).toEqual(Object.values(pointers).toSorted());
  });

  it('names the model in its path, with every character encoded', () => {
    expect(outbound.encodeRequest(request({}), CLAUDE).path).toBe(
      '/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream',
    );
    expect(outbound.pathFor('arn:aws:bedrock:x:1:profile/p', false)).toBe(
      '/model/arn%3Aaws%3Abedrock%3Ax%3A1%3Aprofile%2Fp/converse',
    );
  });

  it('holds images, documents and sounds inline, and drops addresses with their pointers', () => {
    const media = (at: string, type: 'image' | 'file' | 'audio', mediaType: string, name?: string): Part => ({
      ...{ kind: 'media', at },
      media: { type, mediaType, source: { base64: PNG }, ...(name === undefined ? {} : { name }) },
    });
    const parts: Part[] = [
      media('/0', 'image', 'image/png'),
      media('/1', 'file', 'application/pdf', 'report: 2026/11.pdf'),
      media('/2', 'file', 'application/pdf', 'report: 2026/11.pdf'),
      media('/3', 'audio', 'audio/mp3'),
      media('/4', 'image', 'image/tiff'),
      ...['https://example.com/a.png', 's3://bucket/a.png'].map((url, index): Part => ({
        kind: 'media',
        at: `/${5 + index}`,
        media: { type: 'image', mediaType: '', source: { url } },
      })),
    ];
    const { body, dropped } = sent({ messages: [{ role: 'user', at: '/m', parts }] });
    expect(objectsOf(body.messages)[0]?.content).toEqual([
      { image: { format: 'png', source: { bytes: PNG } } },
      { document: { format: 'pdf', name: 'report- 2026-11-pdf', source: { bytes: PNG } } },
      { document: { format: 'pdf', name: 'report- 2026-11-pdf 2', source: { bytes: PNG } } },
      { audio: { format: 'mp3', source: { bytes: PNG } } },
    ]);
    expect(dropped).toEqual(['/4', '/5', '/6']);
  });

  it('marks cached prefixes only for models that know such marks, and names the others', () => {
    const cache = { ttl: '1h' };
    const tool: Tool = { kind: 'function', name: 'f', description: '', at: '/tools/0', cache };
    const messages: Message[] = [{ role: 'user', at: '/m', parts: [{ ...text('hi'), cache }] }];
    const point = { cachePoint: { type: 'default', ttl: '1h' } };
    const claude = sent({ messages, tools: [tool] }, CLAUDE);
    expect(objectsOf(claude.body.messages)[0]?.content).toEqual([{ text: 'hi' }, point]);
    expect(objectOf(claude.body.toolConfig).tools).toContainEqual(point);
    expect(claude.dropped).toEqual([]);
    expect(sent({ messages, tools: [tool] }, NOVA_2).dropped).toEqual(['/tools/0/cache_control']);
    expect(sent({ messages, tools: [tool] }).dropped).toEqual([
      '/text/cache_control',
      '/tools/0/cache_control',
    ]);
  });

  it('asks each family of models for reasoning in its own member', () => {
    const fields = (model: string, effort: 'high' | 'none'): unknown =>
      sent({ reasoning: { effort } }, model).body.additionalModelRequestFields;
    expect(fields(CLAUDE, 'high')).toEqual({ thinking: { type: 'enabled', budget_tokens: 24_576 } });
    expect(fields(CLAUDE, 'none')).toEqual({ thinking: { type: 'disabled' } });
    expect(fields(NOVA_2, 'high')).toEqual({
      reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' },
    });
    expect(fields(GPT_OSS, 'high')).toEqual({ reasoning_effort: 'high' });
    expect(fields(LLAMA, 'high')).toBeUndefined();
  });

  it('leaves out what Claude refuses together with thinking', () => {
    const tools: Tool[] = [{ kind: 'function', name: 'f', description: '', at: '/tools/0' }];
    const { body, dropped } = sent(
      {
        ...{ reasoning: { effort: 'low' }, temperature: 0.5, topK: 3, tools, toolChoice: 'required' },
        pointers: { temperature: '/temperature', topK: '/top_k', toolChoice: '/tool_choice' },
      },
      CLAUDE,
    );
    expect(body).not.toHaveProperty('inferenceConfig');
    expect(objectOf(body.toolConfig).toolChoice).toEqual({ auto: {} });
    expect(dropped.toSorted()).toEqual(['/temperature', '/tool_choice', '/top_k']);
  });

  it('declares the tools of its history if the client sends none, as the provider demands', () => {
    const call: Part = { kind: 'tool-call', id: 'x'.repeat(80), name: 'look', text: '{}', at: '/call' };
    const result: Part = { kind: 'tool-result', id: 'x'.repeat(80), name: 'look', parts: [], at: '/result' };
    const messages: Message[] = [
      { role: 'user', at: '/0', parts: [text('go')] },
      { role: 'assistant', at: '/1', parts: [call] },
      { role: 'user', at: '/2', parts: [result] },
    ];
    const { body } = sent({ messages });
    expect(body.toolConfig).toEqual({
      tools: [{ toolSpec: { name: 'look', inputSchema: { json: { type: 'object' } } } }],
    });
    const [, asked, told] = objectsOf(body.messages).map(({ content }) => objectsOf(content)[0]);
    const id = objectOf(asked?.toolUse).toolUseId;
    expect(String(id).length).toBeLessThanOrEqual(64);
    expect(objectOf(told?.toolResult)).toEqual({ toolUseId: id, content: [{ text: '' }] });
  });

  it('returns thinking with its signature, and drops that of other providers', () => {
    const thought = (dialect: 'bedrock-converse' | 'google-generate', redacted: boolean): Part => ({
      ...{ kind: 'reasoning', text: redacted ? '' : 'hm', redacted, at: `/${dialect}` },
      seal: { dialect, value: 'c2ln' },
    });
    const parts = [
      thought('bedrock-converse', false),
      thought('bedrock-converse', true),
      thought('google-generate', false),
    ];
    const messages: Message[] = [
      { role: 'user', at: '/0', parts: [text('go')] },
      { role: 'assistant', at: '/1', parts: [...parts, text('well')] },
    ];
    const { body, dropped } = sent({ messages });
    expect(objectsOf(body.messages)[1]?.content).toEqual([
      { reasoningContent: { reasoningText: { text: 'hm', signature: 'c2ln' } } },
      { reasoningContent: { redactedContent: 'c2ln' } },
      { text: 'well' },
    ]);
    expect(dropped).toEqual(['/google-generate']);
  });
});

describe('an answer', () => {
  it('keeps its meaning, whole and streamed', () => {
    fc.assert(
      fc.property(responses(1), (response) => {
        const message = anthropicMessages.inbound.encodeResponse(response, BARE_REQUEST);
        const whole = asConverse(objectOf(JSON.parse(JSON.stringify(message))));
        expect(meaning(outbound.decodeResponse(whole))).toEqual(meaning(response));
        expect(meaning(collect(read(streamOf(response))))).toEqual(meaning(response));
      }),
    );
  });

  it('reaches clients of every format with thinking, text, calls and counts, whole and streamed', () => {
    fc.assert(
      fc.property(responses(1), (response) => {
        const received = collect(read(streamOf(response)));
        for (const client of Object.values(DIALECTS)) {
          const named = { ...received, id: response.id, model: response.model };
          const wire: unknown = JSON.parse(
            JSON.stringify(client.inbound.encodeResponse(named, BARE_REQUEST)),
          );
          expect(meaning(client.outbound.decodeResponse(wire))).toEqual(meaning(response));
        }
      }),
      { numRuns: 20 },
    );
  });

  it('ends with an error if it is cut off at any event, and never with both an end and an error', () => {
    fc.assert(
      fc.property(responses(1), fc.nat(100), (response, percent) => {
        const events = streamOf(response);
        const decoded = read(events.slice(0, Math.floor((events.length * percent) / 100)));
        const isFinished = decoded.some(({ type }) => type === 'finish');
        expect(decoded.at(-1)?.type).toBe(isFinished ? 'done' : 'error');
        expect(decoded.filter(({ type }) => type === 'done' || type === 'error')).toHaveLength(1);
      }),
    );
  });

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['guardrail_intervened', 'filter'],
    ['content_filtered', 'filter'],
    ['malformed_model_output', 'error'],
    ['malformed_tool_use', 'error'],
    ['brand_new', 'other'],
  ])('maps the stop reason %s to the finish %s, whole and streamed', (stopReason, finish) => {
    const content = [{ text: 'hi' }];
    const whole = outbound.decodeResponse({ output: { message: { content } }, stopReason });
    const streamed = collect(
      read([
        ['messageStart', { role: 'assistant' }],
        ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'hi' } }],
        ['contentBlockStop', { contentBlockIndex: 0 }],
        ['messageStop', { stopReason }],
      ]),
    );
    for (const answer of [whole, streamed]) expect(answer.choices[0]?.finish).toBe(finish);
  });

  it('counts tokens read from and written to the cache as input, and names the tier', () => {
    const { tokens, counters, serviceTier } = outbound.decodeResponse({
      output: { message: { content: [{ text: 'hi' }] } },
      stopReason: 'end_turn',
      usage: { inputTokens: 3, outputTokens: 2, cacheReadInputTokens: 10, cacheWriteInputTokens: 4 },
      serviceTier: { type: 'priority' },
    });
    expect(tokens).toEqual({ input: 17, output: 2, cached: 10, reasoning: null });
    expect([counters, serviceTier]).toEqual([{ cacheWrite: 4 }, 'priority']);
  });

  it('holds citations, images and blocks of server tools, whole and streamed', () => {
    const citation = {
      title: 'T',
      sourceContent: [{ text: 's' }],
      location: { web: { url: 'https://a.b' } },
    };
    const expected = [
      { kind: 'text', text: 'said', citations: [{ url: 'https://a.b', title: 'T', text: 's' }] },
      { kind: 'media', text: '', media: { type: 'image', mediaType: 'image/png', source: { base64: PNG } } },
    ];
    const server = { toolUseId: 't', name: 'web', type: 'server_tool_use' };
    const whole = outbound.decodeResponse({
      output: {
        message: {
          content: [
            { citationsContent: { content: [{ text: 'said' }], citations: [citation] } },
            { image: { format: 'png', source: { bytes: PNG } } },
            { toolUse: { ...server, input: {} } },
          ],
        },
      },
      stopReason: 'end_turn',
    });
    const at = (contentBlockIndex: number, rest: object) => ({ contentBlockIndex, ...rest });
    const streamed = collect(
      read([
        ['messageStart', { role: 'assistant' }],
        ['contentBlockDelta', at(0, { delta: { text: 'said' } })],
        ['contentBlockDelta', at(0, { delta: { citation } })],
        ['contentBlockStop', at(0, {})],
        ['contentBlockStart', at(1, { start: { image: { format: 'png' } } })],
        ['contentBlockDelta', at(1, { delta: { image: { source: { bytes: PNG } } } })],
        ['contentBlockStop', at(1, {})],
        ['contentBlockStart', at(2, { start: { toolUse: server } })],
        ['contentBlockDelta', at(2, { delta: { toolUse: { input: '{}' } } })],
        ['contentBlockStop', at(2, {})],
        ['messageStop', { stopReason: 'end_turn' }],
      ]),
    );
    for (const { choices } of [whole, streamed]) {
      expect(choices[0]?.blocks.slice(0, 2)).toEqual(expected);
      expect(choices[0]?.blocks[2]).toMatchObject({ kind: 'native', dialect: 'bedrock-converse' });
      expect(choices[0]?.finish).toBe('stop');
    }
  });

  it('is a failure of the upstream if it cannot be read', () => {
    for (const wire of [null, 7, [], {}, { message: 'no' }, { output: {} }])
      expect(() => outbound.decodeResponse(wire)).toThrow(GatewayError);
    const decoder = outbound.streamDecoder(1);
    expect(decoder.push({ event: 'messageStart', data: '{' }).map(({ type }) => type)).toEqual(['error']);
  });
});

describe('an error', () => {
  it.each([
    ['message', 400, 'invalid_request'],
    ['Message', 413, 'body_too_large'],
    ['message', 429, 'upstream_busy'],
    ['message', 403, 'upstream_failed'],
    ['message', 424, 'upstream_failed'],
    ['message', 503, 'upstream_failed'],
  ])('with the member %s and status %i becomes %s', (member, status, code) => {
    const error = outbound.decodeError(status, JSON.stringify({ [member]: 'Too long.' }));
    expect(error.code).toBe(code);
    expect(error.message.includes('Too long.')).toBe(status === 400 || status === 413);
  });

  it('ends its stream as busy or failed', () => {
    for (const [type, code] of [
      ['overloaded_error', 'upstream_busy'],
      ['api_error', 'upstream_failed'],
    ]) {
      const events = read([
        ['messageStart', { role: 'assistant' }],
        ['error', { type: 'error', error: { type } }],
      ]);
      expect(events.at(-1)).toMatchObject({ type: 'error', error: { code } });
    }
  });
});
