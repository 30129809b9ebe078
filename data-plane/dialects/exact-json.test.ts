/** Values that pass through keep digits, escapes, names and order: as tool arguments, in all format pairs. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BARE_REQUEST, pathOf } from '../../test/dialect-samples.ts';
import { SseParser } from '../../test/sse-parser.ts';
import { collect, replay } from './answer.ts';
import type { ChatRequest, ChatResponse } from './canonical.ts';
import type { Dialect } from './dialect.ts';
import { exactly, parseJson, plainNumber, readJson, writeJson } from './exact-json.ts';
import { objectOf } from './fields.ts';
import { DIALECTS } from './index.ts';

const ALL = Object.values(DIALECTS);
const PAIRS = ALL.flatMap((client) => ALL.map((upstream) => ({ client, upstream })));

const digits = fc.stringMatching(/^[1-9]\d{0,29}$/);
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    digits,
    fc.constantFrom('', '.0', '.50', '.123456789012345678', 'e5', 'E-3'),
  )
  .map((parts) => parts.join(''));
const string = fc
  .tuple(fc.string({ unit: 'binary' }), fc.constantFrom('', '\\"]}', '\\n\u2028', '", "1": 2.0'))
  .map((parts) => JSON.stringify(parts.join('')));
const scalar = fc.oneof(
  number,
  string,
  fc.constantFrom('null', 'true', 'false', '{}', '[]', '""', '-0', '0'),
);
const name = fc.oneof(fc.constantFrom('2', '10', '1', 'toJSON', 'rawJSON', ''), fc.string({ maxLength: 5 }));

/** The JSON text of an object with unique names, without white space. */
const object = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { weight: 4, arbitrary: scalar },
    tie('object'),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
  ),
  object: fc
    .uniqueArray(fc.tuple(name, tie('value')), { maxLength: 4, selector: ([key]) => key })
    .map((members) => members.filter(([key]) => key !== '__proto__'))
    .map((members) => `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`),
})).object;

/** The same in 50 levels. */
const deep = fc
  .tuple(object, fc.constantFrom('{"a":', '{"1":'))
  .map(([inner, open]) => `${open.repeat(50)}${inner}${'}'.repeat(50)}`);

describe('exact JSON', () => {
  it('is written as it was read', () => {
    fc.assert(
      fc.property(fc.oneof(object, deep), (text) => {
        expect(writeJson(parseJson(text))).toBe(text);
        expect(writeJson({ a: [parseJson(text)] })).toBe(`{"a":[${text}]}`);
      }),
    );
  });

  it('returns rounded numbers to code that calculates', () => {
    const value = objectOf(parseJson('{"a":1.0,"b":12345678901234567890,"c":2}'));
    expect([value.a, value.b, value.c].map(plainNumber)).toEqual([1, 12_345_678_901_234_567_000, 2]);
  });

  it('returns the same object if nothing would be lost', () => {
    const text = '{"temperature":0.7,"max_tokens":100,"text":"at 1.0 or 1e5"}';
    const parsed: unknown = JSON.parse(text);
    expect(exactly(text, parsed)).toBe(parsed);
  });

  it('rounds numbers above the limits instead of failing', () => {
    const deepText = `${'['.repeat(300)}1.0${']'.repeat(300)}`;
    expect(JSON.stringify(parseJson(deepText))).toBe(deepText.replace('1.0', '1'));
    const long = `[${Array.from({ length: 60_000 }, () => '1.0').join(',')}]`;
    expect(JSON.stringify(parseJson(long))).toBe(long.replaceAll('1.0', '1'));
  });

  it('keeps objects readable for code that does not know their hidden text', () => {
    expect(JSON.stringify(parseJson('{"b":1,"1":2}'))).toBe('{"1":2,"b":1}');
  });
});

/** The texts of arguments in an answer, in the order of the calls. */
function argumentsIn(response: ChatResponse): string[] {
  return response.choices.flatMap(({ blocks }) =>
    blocks.flatMap((block) => (block.kind === 'tool-call' ? [block.text] : [])),
  );
}

function answerWith(text: string): ChatResponse {
  const tokens = { input: 1, output: 1, cached: 0, reasoning: 0 };
  const blocks = [{ kind: 'tool-call' as const, id: 'call_1', name: 'f', text }];
  return { id: 'a', model: 'm', tokens, choices: [{ finish: 'tool', blocks }] };
}

function requestWith(text: string): ChatRequest {
  const at = '/messages/0';
  const user = { role: 'user' as const, parts: [{ kind: 'text' as const, text: 'go', at }], at };
  const parts = [{ kind: 'tool-call' as const, id: 'call_1', name: 'f', text, at }];
  const schema = { type: 'object', properties: { a: { type: 'integer', maximum: parseJson('[1.50]') } } };
  const tool = { kind: 'function' as const, name: 'f', description: '', parameters: schema, at: '/tools/0' };
  return { ...BARE_REQUEST, messages: [user, { role: 'assistant', parts, at }], tools: [tool] };
}

function throughWhole(dialect: Dialect, answer: ChatResponse): ChatResponse {
  return dialect.outbound.decodeResponse(
    parseJson(writeJson(dialect.inbound.encodeResponse(answer, BARE_REQUEST))),
  );
}

function throughStream(dialect: Dialect, answer: ChatResponse): ChatResponse {
  const encoder = dialect.inbound.streamEncoder(BARE_REQUEST);
  const text = [...replay(answer)].map((event) => encoder.push(event)).join('');
  const parser = new SseParser();
  const decoder = dialect.outbound.streamDecoder(1);
  const frames = [...parser.push(Buffer.from(text)), ...parser.end()];
  return collect([...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end()]);
}

function throughRequest(dialect: Dialect, request: ChatRequest): ChatRequest {
  const { path, body } = dialect.outbound.encodeRequest(request, 'm');
  return dialect.inbound.decodeRequest(objectOf(parseJson(writeJson(body))), pathOf(path));
}

describe.each(PAIRS)('tool arguments, $client.name over $upstream.name', ({ client, upstream }) => {
  it('are unchanged in answers, whole and streamed', () => {
    fc.assert(
      fc.property(fc.oneof(object, deep), (text) => {
        const answer = answerWith(text);
        expect(argumentsIn(throughWhole(client, throughWhole(upstream, answer)))).toEqual([text]);
        expect(argumentsIn(throughStream(client, throughStream(upstream, answer)))).toEqual([text]);
      }),
      { numRuns: 40 },
    );
  });

  it('are unchanged in the history of requests, and so are schemas', () => {
    fc.assert(
      fc.property(fc.oneof(object, deep), (text) => {
        const sent = throughRequest(upstream, throughRequest(client, requestWith(text)));
        const parts = sent.messages.flatMap((message) => message.parts);
        expect(parts.flatMap((part) => (part.kind === 'tool-call' ? [part.text] : []))).toEqual([text]);
        expect(writeJson(sent.tools)).toContain('"maximum":[1.50]');
      }),
      { numRuns: 40 },
    );
  });
});

describe('a name with an escape', () => {
  it.each([
    ['{"w":1,"\\\\u006":1}', '{"w":1,"\\u006dodel":1}', ['w', 'model']],
    ['{"x":1,"\\\\":1}', '{"x":[1],"\\n":{}}', ['x', '\n']],
    ['{"y":1,"a\\\\":1}', '{"y":"é中","a\\"":1}', ['y', 'a"']],
  ])('is read as it is written after %s', (before, text, names) => {
    // V8 14.6 then reads the name of the first text instead.
    JSON.parse(before);
    expect(Object.keys(Object(readJson(text)))).toEqual(names);
    expect(Object.keys(Object(parseJson(text)))).toEqual(names);
    const [inner] = Object.values(Object(readJson(`{"inner":${text}}`)));
    expect(Object.keys(Object(inner))).toEqual(names);
  });

  it('may have a backslash', () => {
    expect(readJson('{"a\\\\b":[1.50,{"1":-0}]}')).toEqual({ 'a\\b': [1.5, { 1: -0 }] });
  });
});
