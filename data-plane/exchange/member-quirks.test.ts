/** Quirks that concern members of the request. */
import fc from 'fast-check';
import { QUIRK_KINDS, quirkProblem } from '@gateway/shared/quirks';
import type { Quirk, QuirkKind } from '@gateway/shared/quirks';
import { describe, expect, it } from 'vitest';
import { quirkedBody } from './member-quirks.ts';

const row = (kind: QuirkKind, fields: Partial<Quirk> = {}): Quirk => ({
  ...{ kind, member: null, other: null, value: null, min: null, max: null },
  ...fields,
});
const apply = (body: object, ...quirks: Quirk[]) =>
  quirkedBody({ ...body }, { quirks, dialect: 'openai-chat', reasoning: undefined });

describe('quirkedBody', () => {
  it('drops a member at any depth and notes the loss', () => {
    const body = { keep: 1, generationConfig: { topK: 5, topP: 1 } };
    const { body: sent, lost } = apply(body, row('DROP', { member: 'generationConfig.topK' }));
    expect(sent).toEqual({ keep: 1, generationConfig: { topP: 1 } });
    expect(lost).toEqual([['generationConfig', 'topK']]);
    expect(body.generationConfig.topK).toBe(5);
  });

  it('renames a member without a loss', () => {
    const rename = row('RENAME', { member: 'max_completion_tokens', other: 'max_tokens' });
    expect(apply({ max_completion_tokens: 7 }, rename)).toMatchObject({ body: { max_tokens: 7 }, lost: [] });
    expect(apply({ max_completion_tokens: 7, max_tokens: 5 }, rename).body).toEqual({ max_tokens: 5 });
  });

  it('limits a number, and does not change absent numbers and other values', () => {
    const clamp = row('CLAMP', { member: 'temperature', min: 0.1, max: 1 });
    expect(apply({ temperature: 2 }, clamp)).toMatchObject({
      body: { temperature: 1 },
      lost: [['temperature']],
    });
    expect(apply({ temperature: 0 }, clamp).body).toEqual({ temperature: 0.1 });
    expect(apply({ temperature: 0.5 }, clamp).lost).toEqual([]);
    expect(apply({ other: 1 }, clamp).body).toEqual({ other: 1 });
    expect(apply({ temperature: 'hot' }, clamp).body).toEqual({ temperature: 'hot' });
  });

  it('writes values, always or only in place of another value', () => {
    const set = row('SET', { member: 'chat_template_kwargs.enable_thinking', value: 'false' });
    expect(apply({}, set).body).toEqual({ chat_template_kwargs: { enable_thinking: false } });
    const replace = row('REPLACE', { member: 'reasoning_effort', other: '"xhigh"', value: '"high"' });
    expect(apply({ reasoning_effort: 'xhigh' }, replace).body).toEqual({ reasoning_effort: 'high' });
    expect(apply({ reasoning_effort: 'low' }, replace)).toMatchObject({
      body: { reasoning_effort: 'low' },
      lost: [],
    });
  });

  it('switches reasoning on or off as the client asks', () => {
    const quirks = [
      row('REASONING_ON', { member: 'thinking', value: '{"type":"enabled"}' }),
      row('REASONING_OFF', { member: 'thinking', value: '{"type":"disabled"}' }),
    ];
    const ask = (reasoning: Parameters<typeof quirkedBody>[1]['reasoning']) =>
      quirkedBody({}, { quirks, dialect: 'openai-chat', reasoning }).body;
    expect(ask({ effort: 'high' })).toEqual({ thinking: { type: 'enabled' } });
    expect(ask({ effort: 'none' })).toEqual({ thinking: { type: 'disabled' } });
    expect(ask(undefined)).toEqual({});
  });

  it('forbids parallel tool calls in the words of each format', () => {
    const quirks = [row('NO_PARALLEL_TOOLS')];
    const ask = (dialect: Parameters<typeof quirkedBody>[1]['dialect'], body: object) =>
      quirkedBody({ ...body }, { quirks, dialect, reasoning: undefined });
    const tools = [{}];
    expect(ask('openai-chat', { tools }).body).toEqual({ tools, parallel_tool_calls: false });
    expect(ask('openai-chat', { tools, parallel_tool_calls: true }).lost).toEqual([['parallel_tool_calls']]);
    expect(ask('anthropic-messages', { tools }).body).toEqual({
      tools,
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    });
    expect(ask('openai-chat', {}).body).toEqual({});
  });

  it('never changes its input and never reaches a prototype, whatever the rows are', () => {
    const text = fc.oneof(
      fc.constantFrom('a', 'a.b', '__proto__.x', 'constructor.prototype', '1'),
      fc.string(),
    );
    const rows = fc.record({
      kind: fc.constantFrom(...QUIRK_KINDS),
      ...{ member: text, other: text, value: text },
      ...{ min: fc.constant(null), max: fc.option(fc.integer()) },
    });
    fc.assert(
      fc.property(
        fc.array(rows),
        fc.dictionary(fc.constantFrom('a', 'b', 'tools'), fc.jsonValue()),
        (all, body) => {
          const before = JSON.stringify(body);
          const quirks = all.filter((quirk) => quirkProblem(quirk) === undefined);
          const { body: sent, changed } = quirkedBody(body, {
            quirks,
            dialect: 'openai-chat',
            reasoning: {},
          });
          expect(JSON.stringify(body)).toBe(before);
          expect(Object.getPrototypeOf(sent)).toBe(Object.prototype);
          expect(Object.keys(Object.prototype)).toEqual([]);
          for (const name of Object.keys(sent).filter((one) => !changed.has(one)))
            expect(sent[name]).toBe(body[name]);
        },
      ),
    );
  });
});

describe('quirkProblem', () => {
  it.each([
    row('DROP', { member: 'model' }),
    row('DROP', { member: '' }),
    row('DROP', { member: 'a.b.c.d.e' }),
    row('DROP', { member: 'a.__proto__' }),
    row('SET', { member: 'store', value: 'true' }),
    row('SET', { member: 'generationConfig.candidateCount', value: '4' }),
    row('SET', { member: 'x', value: 'not json' }),
    row('SET', { member: 'x', value: '{"__proto__":{"y":1}}' }),
    row('SET', { member: 'x', value: `"${'y'.repeat(600)}"` }),
    row('RENAME', { member: 'a', other: 'messages' }),
    row('RENAME', { member: 'a.b', other: 'c' }),
    row('CLAMP', { member: 'temperature' }),
    row('CLAMP', { member: 'temperature', min: 2, max: 1 }),
    row('TOOL_NAMES', { value: '_', max: 3 }),
    row('TOOL_NAMES', { value: ']', max: 64 }),
    row('NO_SYSTEM', { other: 'assistant' }),
  ])('refuses %o', (quirk) => {
    expect(quirkProblem(quirk)).toMatch(/^(Enter|Choose|The gateway)/);
  });
});
