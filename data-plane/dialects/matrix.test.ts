/**
 * Every client format over every upstream format: answers and requests keep their meaning, seals come back
 * to their provider with the next request, and drops are named.
 */
import type { DialectName } from '@gateway/shared/catalog';
import { GatewayError } from '@gateway/shared/failures';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BARE_REQUEST,
  meaningOfRequest,
  meaningOfResponse,
  pathOf,
  requests,
  responses,
} from '../../test/dialect-samples.ts';
import { SKIPPED_SUFFIX, hasRecordings, readRecordings } from '../../test/recorded-traffic.ts';
import type { Recording } from '../../test/recorded-traffic.ts';
import { collect, replay } from './answer.ts';
import type { Block, ChatRequest, ChatResponse } from './canonical.ts';
import type { Dialect } from './dialect.ts';
import { objectOf, objectsOf, parseObject } from './fields.ts';
import type { JsonObject } from './fields.ts';
import { DIALECTS } from './index.ts';
import { SseParser } from '../../test/sse-parser.ts';

const ALL = Object.values(DIALECTS);
const PAIRS = ALL.flatMap((client) => ALL.map((upstream) => ({ client, upstream }))).map((pair) => ({
  ...pair,
  title: `${pair.client.name} over ${pair.upstream.name}`,
}));

/** Encodes a whole answer for a client of this format and decodes the result. */
function throughWhole(dialect: Dialect, response: ChatResponse): ChatResponse {
  return dialect.outbound.decodeResponse(
    JSON.parse(JSON.stringify(dialect.inbound.encodeResponse(response, BARE_REQUEST))),
  );
}

/** Encodes a streamed answer for a client of this format and decodes the result. */
function throughStream(dialect: Dialect, response: ChatResponse): ChatResponse {
  const encoder = dialect.inbound.streamEncoder(BARE_REQUEST);
  const text = [...replay(response)].map((event) => encoder.push(event)).join('');
  return readStream(dialect, text);
}

function readStream(dialect: Dialect, text: string, choices = 1): ChatResponse {
  const parser = new SseParser();
  const decoder = dialect.outbound.streamDecoder(choices);
  const frames = [...parser.push(Buffer.from(text)), ...parser.end()];
  return collect([...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end()]);
}

/** Encodes a request for an upstream of this format and decodes the result; also returns the drops. */
function throughRequest(dialect: Dialect, request: ChatRequest): { request: ChatRequest; dropped: string[] } {
  const { path, body, dropped } = dialect.outbound.encodeRequest(request, request.model);
  return { request: dialect.inbound.decodeRequest(JSON.parse(JSON.stringify(body)), pathOf(path)), dropped };
}

describe.each(PAIRS)('$title', ({ client, upstream }) => {
  it('keeps the meaning of answers, whole and streamed', () => {
    fc.assert(
      fc.property(responses(1), (response) => {
        const meaning = meaningOfResponse(response);
        expect(meaningOfResponse(throughWhole(client, throughWhole(upstream, response)))).toEqual(meaning);
        expect(meaningOfResponse(throughStream(client, throughStream(upstream, response)))).toEqual(meaning);
      }),
      { numRuns: 30 },
    );
  });

  it('keeps the meaning of requests, except for the drops', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const received = throughRequest(client, request);
        const sent = throughRequest(upstream, received.request);
        const names = Object.entries(received.request.pointers)
          .filter(([, pointer]) => sent.dropped.includes(pointer))
          .map(([name]) => `/${name}`);
        const dropped = [...received.dropped, ...names];
        expect(meaningOfRequest(sent.request, request, dropped)).toEqual(
          meaningOfRequest(request, request, dropped),
        );
      }),
      { numRuns: 30 },
    );
  });
});

describe.each(PAIRS)('the next request of $title', ({ client, upstream }) => {
  it('returns the seals of thoughts and tool calls to their provider', () => {
    const response = answerWithSeal(upstream.name, SEALS[upstream.name]);
    // The chat decoder would take the gateway's details for an upstream's, so it cannot play the client here.
    const streamed = client.name === 'openai-chat' ? response : throughStream(client, response);
    for (const answer of [response, streamed]) {
      const sent = JSON.stringify(upstream.outbound.encodeRequest(nextRequest(client, answer), 'm').body);
      expect(sent).toContain(SIGNATURE);
      expect(sent).toContain('"f"');
    }
  });

  it('is encoded even with a forged seal', () => {
    const next = nextRequest(client, answerWithSeal(upstream.name, '{not json'));
    expect(() => upstream.outbound.encodeRequest(next, 'm')).not.toThrow();
  });
});

/** An answer with a tool call after thinking, whose seal has this value. */
function answerWithSeal(dialect: DialectName, value: string): ChatResponse {
  const blocks: Block[] = [
    { kind: 'reasoning', text: 'hm', seal: { dialect, value } },
    { kind: 'tool-call', id: RESULT.call, name: 'f', text: '{}' },
  ];
  const tokens = { input: 1, output: 1, cached: 0, reasoning: 0 };
  return { id: 'a1', model: 'm', tokens, choices: [{ finish: 'tool', blocks }] };
}

/** The client's next request, with this answer and the result of its tool call. */
function nextRequest(client: Dialect, answer: ChatResponse): ChatRequest {
  const wire = objectOf(JSON.parse(JSON.stringify(client.inbound.encodeResponse(answer, BARE_REQUEST))));
  return client.inbound.decodeRequest(HISTORY[client.name](wire), { model: 'm', stream: false });
}

const SIGNATURE = 'c2VhbGVkLXRob3VnaHQ=';

/** The seal of each provider; that of a chat upstream is a list of details. */
const SEALS: Record<DialectName, string> = {
  'openai-chat': JSON.stringify([{ type: 'reasoning.encrypted', data: SIGNATURE }]),
  'openai-responses': SIGNATURE,
  'anthropic-messages': SIGNATURE,
  'google-generate': SIGNATURE,
};

const RESULT = { call: 'call_1', text: 'done' };

/** Writes the request in which a client of each format sends an answer back, with the result of its call. */
const HISTORY: Record<DialectName, (answer: JsonObject) => JsonObject> = {
  'openai-chat': ({ choices }) => ({
    model: 'm',
    messages: [
      { role: 'user', content: 'go' },
      objectOf(objectsOf(choices)[0]?.message),
      { role: 'tool', tool_call_id: RESULT.call, content: RESULT.text },
    ],
  }),
  'openai-responses': ({ output }) => ({
    model: 'm',
    input: [
      { role: 'user', content: 'go' },
      ...objectsOf(output),
      { type: 'function_call_output', call_id: RESULT.call, output: RESULT.text },
    ],
  }),
  'anthropic-messages': ({ content }) => ({
    model: 'm',
    max_tokens: 9,
    messages: [
      { role: 'user', content: 'go' },
      { role: 'assistant', content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: RESULT.call, content: RESULT.text }] },
    ],
  }),
  'google-generate': ({ candidates }) => ({
    contents: [
      { role: 'user', parts: [{ text: 'go' }] },
      objectsOf(candidates)[0]?.content,
      {
        role: 'user',
        parts: [{ functionResponse: { id: RESULT.call, name: 'f', response: { result: RESULT.text } } }],
      },
    ],
  }),
};

/** Decodes a recorded answer by its own dialect; undefined for errors and broken answers. */
function answerOf({ wire, response: { status, body, sse } }: Recording): ChatResponse | undefined {
  const upstream = ALL.find(({ name }) => name === wire);
  if (!upstream || status >= 400) return undefined;
  try {
    return sse === undefined ? upstream.outbound.decodeResponse(body) : readStream(upstream, sse);
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

/** The parts of the first choice that every format keeps, without the white space between joined blocks. */
function keptOf({ choices: [choice], tokens }: ChatResponse): unknown {
  const blocks = choice?.blocks ?? [];
  const joined = (...kinds: string[]): string =>
    blocks
      .map((block) => (kinds.includes(block.kind) ? block.text : ''))
      .join('')
      .replaceAll(/\s+/g, '');
  const calls = blocks.flatMap((block) => (block.kind === 'tool-call' ? [block] : []));
  return {
    text: joined('text', 'refusal', 'media'),
    thinking: joined('reasoning'),
    // Formats without free-text tools carry the text as an argument.
    calls: calls.map(({ name, text, custom }) => [
      name,
      custom ? text : (parseObject(text)?.input ?? parseObject(text)),
    ]),
    tokens: [tokens.input ?? 0, tokens.output ?? 0, tokens.cached ?? 0],
  };
}

/** Azure sometimes sends such counts, which formats that count cached tokens separately cannot carry. */
function hasMoreCachedThanInput({ tokens }: ChatResponse): boolean {
  return (tokens.cached ?? 0) > (tokens.input ?? 0);
}

/** Finishes that some formats do not distinguish. */
const FINISHES: Record<string, string> = { refusal: 'filter', pause: 'stop', other: 'stop' };

describe.skipIf(!hasRecordings)(`recorded traffic${SKIPPED_SUFFIX}`, () => {
  const all = readRecordings();

  it.each(ALL)('reaches clients of $name with the same text, thinking, tool calls and counts', (client) => {
    for (const recording of all) {
      const { id, response } = recording;
      const answer = answerOf(recording);
      if (!answer || hasMoreCachedThanInput(answer)) continue;
      const isWhole = response.sse === undefined;
      const received = isWhole ? throughWhole(client, answer) : throughStream(client, answer);
      expect(keptOf(received), id).toEqual(keptOf(answer));
      const [before, after] = [answer.choices[0]?.finish ?? '', received.choices[0]?.finish ?? ''];
      expect(FINISHES[after] ?? after, id).toBe(FINISHES[before] ?? before);
    }
  });

  it.each(ALL)(
    'reaches upstreams of $name with the same text, tool calls, tools and settings',
    (upstream) => {
      for (const { id, request, wire } of all) {
        const own = ALL.find(({ name }) => name === wire);
        if (!own || !request) continue;
        let received: ChatRequest;
        try {
          received = own.inbound.decodeRequest(request.body, pathOf(request.path));
        } catch (error) {
          expect(error, id).toBeInstanceOf(GatewayError);
          continue;
        }
        if (!startsWithUser(received)) continue;
        const { request: sent, dropped } = throughRequest(upstream, { ...received, model: 'm' });
        expect(conversationOf(sent), id).toEqual(conversationOf(received));
        for (const name of ['temperature', 'topP', 'maxOutputTokens', 'seed'] as const) {
          const isNamed = dropped.includes(received.pointers[name] ?? '');
          if (received[name] !== undefined && !isNamed)
            expect([id, name, sent[name]]).toEqual([id, name, received[name]]);
        }
        const kept = new Set(sent.tools.flatMap((tool) => (tool.kind === 'builtin' ? [] : [tool.name])));
        for (const tool of received.tools) {
          if (tool.kind !== 'builtin' && !dropped.includes(tool.at)) expect(kept, id).toContain(tool.name);
        }
      }
    },
  );
});

/** Whether the user comes first. If not, some encoders insert a user message or move the instructions. */
function startsWithUser({ messages }: ChatRequest): boolean {
  const first = messages.find(
    ({ role, parts }) =>
      (role === 'user' || role === 'assistant') &&
      parts.some((part) => part.kind !== 'text' || part.text !== ''),
  );
  return first?.role === 'user';
}

/** Texts, tool calls and results of a request in order, without white space. */
function conversationOf({ messages }: ChatRequest): unknown {
  const parts = messages.flatMap((message) => message.parts.map((part) => ({ ...part, role: message.role })));
  const spoken = parts.filter(({ role }) => role === 'user' || role === 'assistant');
  return {
    text: spoken
      .map((part) => (part.kind === 'text' || part.kind === 'refusal' ? part.text : ''))
      .join('')
      .replaceAll(/\s+/g, ''),
    calls: spoken.flatMap((part) => (part.kind === 'tool-call' ? [part.name] : [])),
    results: spoken.flatMap((part) => (part.kind === 'tool-result' ? [part.name] : [])),
  };
}
