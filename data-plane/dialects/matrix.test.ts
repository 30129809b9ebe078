/**
 * Every format in front of every other: answers and requests keep their meaning on the whole way, what a
 * provider must see again comes back to it with the next turn, and what cannot be carried is named.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { DialectName } from '@gateway/shared/catalog';
import { GatewayError } from '@gateway/shared/failures';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { meaningOfRequest, meaningOfResponse, requests, responses } from '../../test/dialect-samples.ts';
import { collect, replay } from './answer.ts';
import type { Block, ChatRequest, ChatResponse } from './canonical.ts';
import type { Dialect, RequestPath } from './dialect.ts';
import { isObject, numberOf, objectOf, objectsOf, parseObject, textOf } from './fields.ts';
import type { JsonObject } from './fields.ts';
import { DIALECTS } from './index.ts';
import { SseParser } from './sse.ts';

const ALL = Object.values(DIALECTS);
const PAIRS = ALL.flatMap((client) => ALL.map((upstream) => ({ client, upstream }))).map((pair) => ({
  ...pair,
  title: `${pair.client.name} in front of ${pair.upstream.name}`,
}));

const ASKED: ChatRequest = {
  model: 'm',
  stream: true,
  choices: 1,
  messages: [],
  tools: [],
  stop: [],
  pointers: {},
  extras: [],
  shape: { usageInStream: true },
};

function pathOf(path: string): RequestPath {
  const url = new URL(path, 'http://gateway');
  const [, model, verb] = /models\/(.+):([a-zA-Z]+)$/.exec(decodeURIComponent(url.pathname)) ?? [];
  const stream = verb?.startsWith('stream') ?? false;
  return { ...(model === undefined ? {} : { model, stream }), query: url.searchParams };
}

/** An answer as it is after it went through this format: written for a client, and read by one. */
function throughWhole(dialect: Dialect, response: ChatResponse): ChatResponse {
  return dialect.outbound.decodeResponse(
    JSON.parse(JSON.stringify(dialect.inbound.encodeResponse(response, ASKED))),
  );
}

function throughStream(dialect: Dialect, response: ChatResponse): ChatResponse {
  const encoder = dialect.inbound.streamEncoder(ASKED);
  const text = [...replay(response)].map((event) => encoder.push(event)).join('');
  return readStream(dialect, text);
}

function readStream(dialect: Dialect, text: string, choices = 1): ChatResponse {
  const parser = new SseParser();
  const decoder = dialect.outbound.streamDecoder(choices);
  const frames = [...parser.push(Buffer.from(text)), ...parser.end()];
  return collect([...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end()]);
}

/** A request as it is after it went to an upstream of this format, and what got lost on the way. */
function throughRequest(dialect: Dialect, request: ChatRequest): { request: ChatRequest; dropped: string[] } {
  const { path, body, dropped } = dialect.outbound.encodeRequest(request, request.model);
  return { request: dialect.inbound.decodeRequest(JSON.parse(JSON.stringify(body)), pathOf(path)), dropped };
}

describe.each(PAIRS)('$title', ({ client, upstream }) => {
  it('answers keep their meaning, whole and streamed', () => {
    fc.assert(
      fc.property(responses(1), (response) => {
        const meaning = meaningOfResponse(response);
        expect(meaningOfResponse(throughWhole(client, throughWhole(upstream, response)))).toEqual(meaning);
        expect(meaningOfResponse(throughStream(client, throughStream(upstream, response)))).toEqual(meaning);
      }),
      { numRuns: 30 },
    );
  });

  it('requests keep their meaning but for what is reported as dropped', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const asked = throughRequest(client, request);
        const sent = throughRequest(upstream, asked.request);
        const names = Object.entries(asked.request.pointers)
          .filter(([, pointer]) => sent.dropped.includes(pointer))
          .map(([name]) => `/${name}`);
        const dropped = [...asked.dropped, ...names];
        expect(meaningOfRequest(sent.request, request, dropped)).toEqual(
          meaningOfRequest(request, request, dropped),
        );
      }),
      { numRuns: 30 },
    );
  });
});

describe.each(PAIRS)('the next turn of $title', ({ client, upstream }) => {
  it('brings what proves thoughts and calls back to its provider', () => {
    const response = thoughtOf(upstream.name, SEALS[upstream.name]);
    // Our own chat half takes the details for those of a chat upstream: it cannot stand for a client here.
    const streamed = client.name === 'openai-chat' ? response : throughStream(client, response);
    for (const answer of [response, streamed]) {
      const sent = JSON.stringify(upstream.outbound.encodeRequest(nextTurn(client, answer), 'm').body);
      expect(sent).toContain(PROOF);
      expect(sent).toContain('"f"');
    }
  });

  it('takes a forged proof for none', () => {
    const next = nextTurn(client, thoughtOf(upstream.name, '{not json'));
    expect(() => upstream.outbound.encodeRequest(next, 'm')).not.toThrow();
  });
});

/** An answer that calls a tool after some thinking, which `value` proves to its provider. */
function thoughtOf(dialect: DialectName, value: string): ChatResponse {
  const blocks: Block[] = [
    { kind: 'reasoning', text: 'hm', seal: { dialect, value } },
    { kind: 'tool-call', id: RESULT.call, name: 'f', text: '{}' },
  ];
  const tokens = { input: 1, output: 1, cached: 0, reasoning: 0 };
  return { id: 'a1', model: 'm', tokens, choices: [{ finish: 'tool', blocks }] };
}

/** The client's next request: this answer and the result of its call. */
function nextTurn(client: Dialect, answer: ChatResponse): ChatRequest {
  const wire = objectOf(JSON.parse(JSON.stringify(client.inbound.encodeResponse(answer, ASKED))));
  return client.inbound.decodeRequest(HISTORY[client.name](wire), { model: 'm', stream: false });
}

const PROOF = 'c2VhbGVkLXRob3VnaHQ=';

/** How each provider's proof looks; of a chat upstream it is its list of details. */
const SEALS: Record<DialectName, string> = {
  'openai-chat': JSON.stringify([{ type: 'reasoning.encrypted', data: PROOF }]),
  'openai-responses': PROOF,
  'anthropic-messages': PROOF,
  'google-generate': PROOF,
};

const RESULT = { call: 'call_1', said: 'done' };

/** How a client of each format sends an answer back as history, with the result of its call. */
const HISTORY: Record<DialectName, (answer: JsonObject) => JsonObject> = {
  'openai-chat': ({ choices }) => ({
    model: 'm',
    messages: [
      { role: 'user', content: 'go' },
      objectOf(objectsOf(choices)[0]?.message),
      { role: 'tool', tool_call_id: RESULT.call, content: RESULT.said },
    ],
  }),
  'openai-responses': ({ output }) => ({
    model: 'm',
    input: [
      { role: 'user', content: 'go' },
      ...objectsOf(output),
      { type: 'function_call_output', call_id: RESULT.call, output: RESULT.said },
    ],
  }),
  'anthropic-messages': ({ content }) => ({
    model: 'm',
    max_tokens: 9,
    messages: [
      { role: 'user', content: 'go' },
      { role: 'assistant', content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: RESULT.call, content: RESULT.said }] },
    ],
  }),
  'google-generate': ({ candidates }) => ({
    contents: [
      { role: 'user', parts: [{ text: 'go' }] },
      objectsOf(candidates)[0]?.content,
      {
        role: 'user',
        parts: [{ functionResponse: { id: RESULT.call, name: 'f', response: { result: RESULT.said } } }],
      },
    ],
  }),
};

const FOLDER = fileURLToPath(new URL('../../../shared/corpus/dev/', import.meta.url));
const isThere = existsSync(FOLDER);
const reason = isThere ? '' : ` (skipped: no recordings at ${FOLDER})`;

interface Recording {
  id: string;
  upstream: Dialect;
  request: JsonObject;
  answer: ChatResponse | undefined;
  isStream: boolean;
}

/** What an upstream really answered, read by its own format; undefined for errors and broken answers. */
function answerOf(upstream: Dialect, { status, body, sse }: JsonObject): ChatResponse | undefined {
  if ((numberOf(status) ?? 0) >= 400) return undefined;
  try {
    return typeof sse === 'string' ? readStream(upstream, sse) : upstream.outbound.decodeResponse(body);
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

function recordings(): Recording[] {
  return readdirSync(FOLDER).flatMap((file) => {
    const value = parseObject(readFileSync(FOLDER + file, 'utf8')) ?? {};
    const upstream = ALL.find(({ name }) => name === value.wire);
    const response = objectOf(value.response);
    return upstream
      ? [
          {
            id: textOf(value.id),
            upstream,
            request: objectOf(value.request),
            answer: answerOf(upstream, response),
            isStream: typeof response.sse === 'string',
          },
        ]
      : [];
  });
}

/** Of the first choice what every format keeps: blanks between joined blocks do not count. */
function keptOf({ choices: [choice], tokens }: ChatResponse): unknown {
  const blocks = choice?.blocks ?? [];
  const joined = (...kinds: string[]): string =>
    blocks
      .map((block) => (kinds.includes(block.kind) ? block.text : ''))
      .join('')
      .replaceAll(/\s+/g, '');
  const calls = blocks.flatMap((block) => (block.kind === 'tool-call' ? [block] : []));
  return {
    said: joined('text', 'refusal', 'media'),
    thinking: joined('reasoning'),
    // Free text goes as the argument of a function where there are no free-text tools.
    calls: calls.map(({ name, text, custom }) => [
      name,
      custom ? text : (parseObject(text)?.input ?? parseObject(text)),
    ]),
    tokens: [tokens.input ?? 0, tokens.output ?? 0, tokens.cached ?? 0],
  };
}

/** Azure says so now and then; a format that counts the two apart cannot repeat it. */
function countsMoreCachedThanRead({ tokens }: ChatResponse): boolean {
  return (tokens.cached ?? 0) > (tokens.input ?? 0);
}

/** `stop` and `refusal`, `pause` and `other` are not told apart by all. */
const FINISHES: Record<string, string> = { refusal: 'filter', pause: 'stop', other: 'stop' };

describe.skipIf(!isThere)(`recorded traffic through every format${reason}`, () => {
  const all = isThere ? recordings() : [];

  it.each(ALL)('answers reach clients of $name with the same text, thoughts, calls and counts', (client) => {
    for (const { id, answer, isStream } of all) {
      if (!answer || countsMoreCachedThanRead(answer)) continue;
      const reached = isStream ? throughStream(client, answer) : throughWhole(client, answer);
      expect(keptOf(reached), id).toEqual(keptOf(answer));
      const [before, after] = [answer.choices[0]?.finish ?? '', reached.choices[0]?.finish ?? ''];
      expect(FINISHES[after] ?? after, id).toBe(FINISHES[before] ?? before);
    }
  });

  it.each(ALL)(
    'requests reach upstreams of $name with the same words, calls, tools and settings',
    (upstream) => {
      for (const { id, request, upstream: own } of all) {
        if (!isObject(request.body)) continue;
        let asked: ChatRequest;
        try {
          asked = own.inbound.decodeRequest(request.body, pathOf(textOf(request.path)));
        } catch (error) {
          expect(error, id).toBeInstanceOf(GatewayError);
          continue;
        }
        if (!startsWithUser(asked)) continue;
        const { request: sent, dropped } = throughRequest(upstream, { ...asked, model: 'm' });
        expect(wordsOf(sent), id).toEqual(wordsOf(asked));
        for (const name of ['temperature', 'topP', 'maxOutputTokens', 'seed'] as const) {
          const isNamed = dropped.includes(asked.pointers[name] ?? '');
          if (asked[name] !== undefined && !isNamed)
            expect([id, name, sent[name]]).toEqual([id, name, asked[name]]);
        }
        const kept = new Set(sent.tools.flatMap((tool) => (tool.kind === 'builtin' ? [] : [tool.name])));
        for (const tool of asked.tools) {
          if (tool.kind !== 'builtin' && !dropped.includes(tool.at)) expect(kept, id).toContain(tool.name);
        }
      }
    },
  );
});

/** Where the user must begin, others get a sentence put before them, or instructions become the turn. */
function startsWithUser({ messages }: ChatRequest): boolean {
  const first = messages.find(
    ({ role, parts }) =>
      (role === 'user' || role === 'assistant') &&
      parts.some((part) => part.kind !== 'text' || part.text !== ''),
  );
  return first?.role === 'user';
}

/** What is said and called in a request, in its order, without blanks. */
function wordsOf({ messages }: ChatRequest): unknown {
  const parts = messages.flatMap((message) => message.parts.map((part) => ({ ...part, role: message.role })));
  const spoken = parts.filter(({ role }) => role === 'user' || role === 'assistant');
  return {
    said: spoken
      .map((part) => (part.kind === 'text' || part.kind === 'refusal' ? part.text : ''))
      .join('')
      .replaceAll(/\s+/g, ''),
    calls: spoken.flatMap((part) => (part.kind === 'tool-call' ? [part.name] : [])),
    results: spoken.flatMap((part) => (part.kind === 'tool-result' ? [part.name] : [])),
  };
}
