/** Walks the enums of all wire formats: no value of one format reaches a client or upstream of another. */
import type { DialectName } from '@gateway/shared/catalog';
import { describe, expect, it } from 'vitest';
import { BARE_REQUEST, pathOf } from '../../test/dialect-samples.ts';
import { replay } from './answer.ts';
import type { Dialect } from './dialect.ts';
import { isObject } from './fields.ts';
import type { JsonObject } from './fields.ts';
import { DIALECTS } from './index.ts';
import { SseParser } from '../../test/sse-parser.ts';

const ALL = Object.values(DIALECTS);
const PAIRS = ALL.flatMap((client) => ALL.map((upstream) => ({ client, upstream })));
const UNKNOWN = 'brand_new';

type Words = Record<string, readonly string[]>;

const OPENAI_TIERS = ['auto', 'default', 'flex', 'scale', 'priority'];
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'];

/** The documented values of every enum in answers, by the name of its member. */
const ANSWER_WORDS: Record<DialectName, Words> = {
  'openai-chat': {
    finish_reason: ['stop', 'length', 'tool_calls', 'content_filter', 'function_call'],
    service_tier: OPENAI_TIERS,
    role: ['assistant'],
  },
  'openai-responses': {
    status: ['in_progress', 'completed', 'incomplete', 'failed'],
    reason: ['max_output_tokens', 'content_filter'],
    service_tier: OPENAI_TIERS,
    role: ['assistant'],
  },
  'anthropic-messages': {
    stop_reason: ['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'pause_turn', 'refusal'],
    service_tier: ['standard', 'priority', 'batch'],
    role: ['assistant'],
  },
  'google-generate': {
    finishReason: ['STOP', 'MAX_TOKENS', 'SAFETY', 'OTHER', 'MALFORMED_FUNCTION_CALL'],
    serviceTier: ['standard', 'flex', 'priority'],
    role: ['model'],
  },
};

/** An answer of each format with these values of its enums. */
const ANSWERS: Record<DialectName, (end: string, tier: string) => JsonObject> = {
  'openai-chat': (end, tier) => ({
    id: 'a',
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: end }],
    service_tier: tier,
  }),
  'openai-responses': (end, tier) => ({
    id: 'a',
    model: 'm',
    output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'hi' }] }],
    ...(end in RESPONSE_ENDS
      ? { status: end }
      : { status: 'incomplete', incomplete_details: { reason: end } }),
    service_tier: tier,
  }),
  'anthropic-messages': (end, tier) => ({
    id: 'a',
    model: 'm',
    content: [{ type: 'text', text: 'hi' }],
    stop_reason: end,
    usage: { input_tokens: 1, output_tokens: 1, service_tier: tier },
  }),
  'google-generate': (end, tier) => ({
    candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason: end }],
    usageMetadata: { promptTokenCount: 1, serviceTier: tier },
  }),
};
const RESPONSE_ENDS = { completed: true, queued: true, in_progress: true };

/** All documented values with which an upstream may end an answer, among them those of other vendors. */
const ENDS: Record<DialectName, readonly string[]> = {
  'openai-chat': [...words('openai-chat', 'finish_reason'), 'error', 'eos', 'model_length', UNKNOWN],
  'openai-responses': [...Object.keys(RESPONSE_ENDS), 'max_output_tokens', 'content_filter', UNKNOWN],
  'anthropic-messages': [
    ...words('anthropic-messages', 'stop_reason'),
    'model_context_window_exceeded',
    'compaction',
    UNKNOWN,
  ],
  'google-generate': [
    ...['STOP', 'MAX_TOKENS', 'SAFETY', 'RECITATION', 'LANGUAGE', 'OTHER', 'BLOCKLIST', 'SPII', UNKNOWN],
    ...['PROHIBITED_CONTENT', 'MALFORMED_FUNCTION_CALL', 'IMAGE_SAFETY', 'UNEXPECTED_TOOL_CALL'],
  ],
};

const TIERS: Record<DialectName, readonly string[]> = {
  'openai-chat': [...OPENAI_TIERS, UNKNOWN],
  'openai-responses': [...OPENAI_TIERS, UNKNOWN],
  'anthropic-messages': ['standard', 'priority', 'batch', UNKNOWN],
  'google-generate': ['standard', 'flex', 'priority', 'SERVICE_TIER_PRIORITY', UNKNOWN],
};

function words(dialect: DialectName, member: string): readonly string[] {
  return ANSWER_WORDS[dialect][member] ?? [];
}

describe.each(PAIRS)('enums of answers, $client.name over $upstream.name', ({ client, upstream }) => {
  it('have only values of the client format, whole and streamed', () => {
    for (const end of ENDS[upstream.name]) {
      for (const tier of TIERS[upstream.name]) {
        const answer = upstream.outbound.decodeResponse(ANSWERS[upstream.name](end, tier));
        const whole: unknown = JSON.parse(
          JSON.stringify(client.inbound.encodeResponse(answer, BARE_REQUEST)),
        );
        const encoder = client.inbound.streamEncoder(BARE_REQUEST);
        const text = [...replay(answer)].map((event) => encoder.push(event)).join('');
        expect(foreign([whole, ...eventsOf(text)], ANSWER_WORDS[client.name])).toEqual([]);
      }
    }
  });
});

/** The documented values of every enum in requests, by the name of its member. */
const REQUEST_WORDS: Record<DialectName, Words> = {
  'openai-chat': {
    role: ['system', 'developer', 'user', 'assistant', 'tool'],
    service_tier: OPENAI_TIERS,
    reasoning_effort: EFFORTS,
    verbosity: ['low', 'medium', 'high'],
    modalities: ['text', 'audio'],
    detail: ['auto', 'low', 'high', 'original'],
    prompt_cache_retention: ['in_memory', '24h'],
    tool_choice: ['auto', 'none', 'required'],
  },
  'openai-responses': {
    role: ['system', 'developer', 'user', 'assistant'],
    service_tier: OPENAI_TIERS,
    effort: [...EFFORTS, 'max'],
    verbosity: ['low', 'medium', 'high'],
    detail: ['auto', 'low', 'high', 'original'],
    prompt_cache_retention: ['in_memory', '24h'],
    tool_choice: ['auto', 'none', 'required'],
    summary: ['auto', 'concise', 'detailed'],
  },
  'anthropic-messages': {
    role: ['user', 'assistant'],
    service_tier: ['auto', 'standard_only'],
    effort: ['low', 'medium', 'high', 'xhigh', 'max'],
  },
  'google-generate': {
    role: ['user', 'model'],
    serviceTier: ['flex', 'priority', 'standard'],
    responseModalities: ['TEXT', 'AUDIO', 'IMAGE', 'VIDEO'],
    thinkingLevel: ['minimal', 'low', 'medium', 'high'],
    mode: ['AUTO', 'ANY', 'NONE', 'VALIDATED'],
  },
};

/** A request of each format, and its enum members with all values, which are set one after the other. */
const REQUESTS: Record<DialectName, { plain: JsonObject; members: Record<string, readonly unknown[]> }> = {
  'openai-chat': {
    plain: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
    members: {
      service_tier: [...OPENAI_TIERS, UNKNOWN],
      reasoning_effort: [...EFFORTS, UNKNOWN],
      verbosity: ['low', 'medium', 'high', UNKNOWN],
      modalities: [['text'], ['text', 'audio'], ['text', UNKNOWN]],
      prompt_cache_retention: ['in_memory', 'in-memory', '24h', UNKNOWN],
      messages: [...['auto', 'low', 'high', UNKNOWN].map((detail) => [pictured(detail)])],
    },
  },
  'openai-responses': {
    plain: { model: 'm', input: 'hi' },
    members: {
      service_tier: [...OPENAI_TIERS, UNKNOWN],
      reasoning: [...EFFORTS, UNKNOWN].map((effort) => ({ effort })),
      text: ['low', 'medium', 'high', UNKNOWN].map((verbosity) => ({ verbosity })),
      prompt_cache_retention: ['in_memory', 'in-memory', '24h', UNKNOWN],
    },
  },
  'anthropic-messages': {
    plain: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] },
    members: {
      service_tier: ['auto', 'standard_only', UNKNOWN],
      output_config: ['low', 'max', UNKNOWN].map((effort) => ({ effort })),
    },
  },
  'google-generate': {
    plain: { contents: [{ parts: [{ text: 'hi' }] }] },
    members: {
      serviceTier: ['standard', 'flex', 'priority', UNKNOWN],
      generationConfig: [
        ...['TEXT', 'IMAGE', 'AUDIO', UNKNOWN].map((kind) => ({ responseModalities: [kind] })),
        ...['LOW', 'HIGH', UNKNOWN].map((thinkingLevel) => ({ thinkingConfig: { thinkingLevel } })),
      ],
    },
  },
};

function pictured(detail: string): JsonObject {
  const image = { url: 'data:image/png;base64,AA==', detail };
  return { role: 'user', content: [{ type: 'image_url', image_url: image }] };
}

describe.each(PAIRS)('enums of requests, $client.name over $upstream.name', ({ client, upstream }) => {
  it('have only values of the upstream format', () => {
    const { plain, members } = REQUESTS[client.name];
    for (const [member, values] of Object.entries(members)) {
      for (const value of values) {
        const { body } = sent(client, upstream, { ...plain, [member]: value });
        // An unknown value may go to an upstream of the format that may know it by now.
        const isOwn = client === upstream && JSON.stringify(value).includes(UNKNOWN);
        if (!isOwn) expect(foreign([body], REQUEST_WORDS[upstream.name])).toEqual([]);
      }
    }
  });
});

describe.each(PAIRS)(
  'service tiers of requests, $client.name over $upstream.name',
  ({ client, upstream }) => {
    it('arrive or are named as dropped', () => {
      const member = client.name === 'google-generate' ? 'serviceTier' : 'service_tier';
      for (const tier of REQUESTS[client.name].members[member] ?? []) {
        const { body, dropped } = sent(client, upstream, { ...REQUESTS[client.name].plain, [member]: tier });
        const hasArrived = body.service_tier !== undefined || body.serviceTier !== undefined;
        expect(hasArrived).not.toBe(dropped.includes(`/${member}`));
      }
    });
  },
);

function sent(client: Dialect, upstream: Dialect, wire: JsonObject): { body: JsonObject; dropped: string[] } {
  const request = client.inbound.decodeRequest(wire, pathOf('/v1beta/models/m:generateContent'));
  return upstream.outbound.encodeRequest(request, 'm');
}

/** The JSON values of a stream. */
function eventsOf(text: string): unknown[] {
  const parser = new SseParser();
  return [...parser.push(Buffer.from(text)), ...parser.end()]
    .filter(({ data }) => data !== '[DONE]')
    .map(({ data }): unknown => JSON.parse(data));
}

/** The members whose value is none of the documented ones, as `name=value`. */
function foreign(values: unknown, known: Words): string[] {
  if (Array.isArray(values)) return values.flatMap((value) => foreign(value, known));
  if (!isObject(values)) return [];
  return Object.entries(values).flatMap(([name, value]) => {
    const list: unknown[] = Array.isArray(value) ? value : [value];
    const texts = list.filter((item) => typeof item === 'string');
    const allowed = Object.hasOwn(known, name) ? known[name] : undefined;
    const wrong = allowed ? texts.filter((text) => !allowed.includes(text)) : [];
    return [...wrong.map((text) => `${name}=${text}`), ...foreign(value, known)];
  });
}
