/**
 * A body that is read in outline is accepted, refused and judged like one that is parsed whole, and no long
 * text is lost.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Pieces } from '../call/pieces.ts';
import { restored } from '../../test/outlines.ts';
import { DIALECTS } from '../dialects/index.ts';
import { JSON_TOP_MEMBERS, OUTLINED_BYTES, OUTLINED_FROM_BYTES } from '../limits.ts';
import { entriesOf } from '../../test/member-tables.ts';
import { TEXT_MEMBERS } from './omitted-texts.ts';
import { outlinedBody, parseChatBody, parseRequestBody } from './request-body.ts';
import type { RequestBody } from './request-body.ts';

/** Texts of more bytes than this are left out, so that small bodies have some. */
const LONG_TEXT_BYTES = 6;
const table = DIALECTS['openai-chat'].inbound.mirror?.members;

/** Everything that others can see of a body, or its refusal. */
function outcomeOf(read: () => RequestBody | undefined): unknown {
  try {
    const body = read();
    if (!body) return undefined;
    const { members, findings, value, exact } = body;
    return { members, findings, value, exact, outline: restored(body), envelope: body.holdsEnvelope() };
  } catch (error) {
    return String(error);
  }
}

const inOutline = (bytes: Buffer) =>
  outcomeOf(() => outlinedBody(bytes, { table, longTextBytes: LONG_TEXT_BYTES }));
const whole = (bytes: Buffer) => outcomeOf(() => parseRequestBody(bytes, table));

/** Texts with everything that JSON can write in several ways. */
const texts = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.constantFrom(
        '"',
        '\\',
        '\n',
        '\u0000',
        '\u007f',
        'é',
        '😀',
        'gwseal1_',
        'gws',
        'Z3dzZWFsMV9l',
        'Z3d',
      ),
    ),
    { maxLength: 8 },
  )
  .map((pieces) => pieces.join(''));
const names = fc.oneof(
  fc.constantFrom(
    ...TEXT_MEMBERS,
    'model',
    'role',
    'type',
    'a',
    'é',
    'stream_options',
    '1',
    '_',
    '__proto',
    'Model',
  ),
  fc.string({ unit: 'binary', maxLength: 20 }).filter((name) => name !== '__proto__'),
);
const { value: values } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    texts,
    fc.constantFrom(0, 1, -1, 1.5, 1e21, -0.25, true, false, null, 12_345_678_901_234_568),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(names, tie('value'), { maxKeys: 5 }),
  ),
}));
const bodies = fc.dictionary(names, values, { maxKeys: 6 });

/** JSON text with white space, and with escapes that are not needed. */
function untidy(value: unknown, space: string): string {
  if (Array.isArray(value)) return `[${space}${value.map((item) => untidy(item, space)).join(`${space},`)}]`;
  if (typeof value === 'string') return escaped(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${escaped(name)}${space}:${space}${untidy(member, space)}`,
  );
  return `{${space}${members.join(`${space},${space}`)}${space}}`;
}

/** The JSON text of a string, whose last character is an escape in every third string. */
function escaped(text: string): string {
  const last = text.at(-1);
  if (last === undefined || last.length > 1 || text.length % 3 > 0) return JSON.stringify(text);
  const code = last.charCodeAt(0).toString(16).padStart(4, '0');
  return `${JSON.stringify(text.slice(0, -1)).slice(0, -1)}\\u${code}"`;
}

describe('a body that is read in outline', () => {
  it('is the same body as one that is parsed whole, for random JSON', () => {
    let outlined = 0;
    fc.assert(
      fc.property(bodies, fc.constantFrom('', ' ', '\r\n\t'), (value, space) => {
        const bytes = Buffer.from(untidy(value, space));
        const found = inOutline(bytes);
        if (found === undefined) return;
        outlined += 1;
        expect(found).toEqual(whole(bytes));
      }),
      { numRuns: 2_000 },
    );
    // Otherwise this test would say nothing.
    expect(outlined).toBeGreaterThan(500);
  });

  it('is the same body in pieces as in one buffer', () => {
    fc.assert(
      fc.property(bodies, fc.array(fc.nat(200), { maxLength: 5 }), (value, lengths) => {
        const bytes = Buffer.from(JSON.stringify(value));
        let from = 0;
        const cut = lengths.map((length) => bytes.subarray(from, (from += length)));
        const pieces = new Pieces([...cut, bytes.subarray(from)]);
        const options = { table, longTextBytes: LONG_TEXT_BYTES };
        expect(outcomeOf(() => outlinedBody(pieces, options))).toEqual(inOutline(bytes));
      }),
      { numRuns: 1_000 },
    );
  });

  it('is read in outline in UTF-8 alone', () => {
    const text = Buffer.from('{"a":{"text":"0123456789é"}}');
    expect(inOutline(text)).toBeDefined();
    expect(inOutline(Buffer.from(text.toString(), 'latin1'))).toBeUndefined();
    expect(inOutline(Buffer.from('{"a":\u00a01}', 'latin1'))).toBeUndefined();
  });

  it('may have as many members as the whole body, in its outermost object', () => {
    const members = (count: number): Buffer =>
      Buffer.from(
        JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, at]))),
      );
    expect(inOutline(members(JSON_TOP_MEMBERS))).toEqual(whole(members(JSON_TOP_MEMBERS)));
    expect(inOutline(members(JSON_TOP_MEMBERS + 1))).toBeUndefined();
  });

  it('may have more long texts than one digit of a placeholder counts', () => {
    const value = { a: Array.from({ length: 5_000 }, (_, at) => ({ text: `a long text ${at}` })) };
    const bytes = Buffer.from(JSON.stringify(value));
    expect(inOutline(bytes)).toEqual(whole(bytes));
  });

  it('is parsed whole with more long texts than the scanner has room for', () => {
    const value = { a: Array.from({ length: 20_000 }, () => ({ text: 'a long text' })) };
    expect(inOutline(Buffer.from(JSON.stringify(value)))).toBeUndefined();
  });

  it('is refused if the whole body is refused, for changed JSON', () => {
    const cuts = fc.array(
      fc.tuple(fc.nat(400), fc.nat(3), fc.constantFrom(...'{}[]",:\\u0-.e \u0000\u001fé')),
      { minLength: 1, maxLength: 3 },
    );
    fc.assert(
      fc.property(bodies, cuts, (value, changes) => {
        let text = JSON.stringify(value);
        for (const [at, length, inserted] of changes)
          text =
            text.slice(0, at % (text.length + 1)) + inserted + text.slice((at % (text.length + 1)) + length);
        const bytes = Buffer.from(text);
        const found = inOutline(bytes);
        if (found !== undefined) expect(found).toEqual(whole(bytes));
      }),
      { numRuns: 4_000 },
    );
  });

  it('reads each escape, and refuses each invalid one, at every place of a block', () => {
    const pieces = [
      '\\"',
      '\\\\',
      '\\/',
      '\\b',
      '\\f',
      '\\n',
      '\\r',
      '\\t',
      '\\u00e9',
      '\\uD83D\\uDE00',
      '\\ud800',
    ];
    const invalid = [
      '\\',
      '\\a',
      '\\u',
      '\\u12',
      '\\u12g4',
      '\\U0041',
      '\\x41',
      '\u0000',
      '\u001f',
      '\n',
      '\t',
    ];
    for (let before = 0; before < 40; before += 1) {
      for (const piece of [...pieces, ...invalid]) {
        const bytes = Buffer.from(`{"a":{"text":"${'x'.repeat(before)}${piece}${'y'.repeat(20)}"}}`);
        const found = inOutline(bytes);
        if (invalid.includes(piece)) expect(found, piece).toBeUndefined();
        else expect(found, piece).toEqual(whole(bytes));
      }
    }
  });

  it('finds an envelope of a seal at every place of a block', () => {
    for (const envelope of ['gwseal1_x', 'gwsummary1_x', 'Z3dzZWFsMV9lx', 'gws', 'Z3d']) {
      for (let before = 0; before < 20; before += 1) {
        const bytes = Buffer.from(`{"a":{"text":"\\n${'g'.repeat(before)}${envelope}"}}`);
        expect(inOutline(bytes)).toEqual(whole(bytes));
      }
    }
  });

  it.each([
    ['a long number', '{"a":12345678901234567890}'],
    ['an exponent', '{"a":1e2}'],
    ['a zero that JavaScript drops', '{"a":[1.50]}'],
    ['minus zero', '{"a":-0}'],
    ['a name that is an index', '{"a":{"b":1,"0":2}}'],
    ['an escaped name', '{"a":{"\\u0030":2}}'],
    ['__proto__', '{"a":{"__proto__":2}}'],
    ['an escaped __proto__', '{"a":{"_\\u005fproto__":2}}'],
    ['a name twice', '{"a":{"b":2,"c":[{"b":1}],"b":2}}'],
    ['a name twice at the top', '{"a":{},"a":2}'],
    ['65 levels', `{"a":${'['.repeat(64)}${']'.repeat(64)}}`],
    ['no object', '[{"a":1}]'],
    ['two values', '{"a":1}{"b":1}'],
    ['an open string', '{"a":"'],
    ['an open string that ends with a backslash', '{"a":"\\'],
    ['nothing', ''],
  ])('is parsed whole with %s', (_, text) => {
    expect(inOutline(Buffer.from(text))).toBeUndefined();
  });

  it('may have 64 levels', () => {
    const bytes = Buffer.from(`{"a":${'['.repeat(63)}${']'.repeat(63)}}`);
    expect(inOutline(bytes)).toEqual(whole(bytes));
  });
});

describe('the texts of an outline', () => {
  const long = 'é"\\\n'.repeat(OUTLINED_FROM_BYTES);
  const bytes = Buffer.from(
    JSON.stringify({ input: long, a: [{ text: long, b: long }, { content: 'short' }] }),
  );

  it('are placeholders below the outermost object, in the members for texts, if they are long', () => {
    const { outline, lacksTexts } = parseChatBody(bytes);
    const [first, second] = outline.a as { text: string; b: string; content: string }[];
    expect(lacksTexts).toBe(true);
    expect([outline.input, first?.b, second?.content]).toEqual([long, long, 'short']);
    expect(first?.text.length).toBeLessThan(100);
  });

  it('are read again when they are asked for', () => {
    const body = parseChatBody(bytes);
    expect(restored(body)).toEqual({ input: long, a: [{ text: long, b: long }, { content: 'short' }] });
    expect(body.member('a')).toEqual(body.value.a);
    expect(body.member('none')).toBeUndefined();
  });

  it('are not known if a string has a placeholder inside', () => {
    const body = parseChatBody(bytes);
    const [first] = body.outline.a as { text: string }[];
    expect(body.textOf(`${first?.text} `)).toBeUndefined();
    expect(body.textOf(JSON.stringify(first?.text))).toBeUndefined();
  });

  it('are not left out of a body that is too short or too long', () => {
    const short = Buffer.from(JSON.stringify({ a: { text: 'x'.repeat(OUTLINED_FROM_BYTES - 100) } }));
    const longest = Buffer.from(JSON.stringify({ a: { text: 'x'.repeat(OUTLINED_BYTES) } }));
    for (const each of [short, longest]) expect(parseChatBody(each).lacksTexts).toBe(false);
  });

  it('are in members by whose values no table judges a request', () => {
    for (const { inbound } of Object.values(DIALECTS)) {
      const judged = entriesOf(inbound.mirror?.members.lines ?? []).filter(
        ({ kind, name }) => TEXT_MEMBERS.has(name) && kind !== 'pass' && kind !== 'ours',
      );
      expect(judged).toEqual([]);
    }
  });
});
