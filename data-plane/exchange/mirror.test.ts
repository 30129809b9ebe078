/** Quirks of an upstream change a mirrored request in outline as they change the whole request. */
import type { ProtocolName } from '@gateway/shared/catalog';
import type { Quirk } from '@gateway/shared/quirks';
import { describe, expect, it } from 'vitest';
import { mirrored } from './mirror.ts';
import { outlinedBody, parseRequestBody } from './request-body.ts';
import type { RequestBody } from './request-body.ts';

const LONG = 'A long text: "é"\n'.repeat(200);
const REQUEST = {
  ...{ model: 'swift', max_tokens: 9, temperature: 3, seed: 7, stop: 'a', messages: [{ content: LONG }] },
  ...{ metadata: { text: LONG, deep: { output: LONG, a: 1 } }, reasoning: { text: LONG } },
  ...{ tools: [{ name: 'f' }], tool_choice: { type: 'auto', text: LONG }, parallel_tool_calls: true },
};
const BYTES = Buffer.from(JSON.stringify(REQUEST));

const quirk = (kind: Quirk['kind'], given: Partial<Quirk> = {}): Quirk => ({
  ...{ kind, member: null, other: null, value: null, min: null, max: null },
  ...given,
});
const QUIRKS: Quirk[] = [
  quirk('DROP', { member: 'seed' }),
  quirk('DROP', { member: 'metadata.deep.a' }),
  quirk('RENAME', { member: 'max_tokens', other: 'max_completion_tokens' }),
  quirk('RENAME', { member: 'metadata', other: 'labels' }),
  quirk('RENAME', { member: 'metadata', other: 'reasoning' }),
  quirk('CLAMP', { member: 'temperature', max: 1 }),
  quirk('SET', { member: 'tool_choice.type', value: '"any"' }),
  quirk('SET', { member: 'metadata.deep.b', value: '1' }),
  quirk('REPLACE', { member: 'stop', other: '"a"', value: '["a"]' }),
  quirk('REPLACE', { member: 'reasoning', other: JSON.stringify({ text: LONG }), value: 'null' }),
  quirk('REASONING_ON', { member: 'reasoning.effort', value: '"high"' }),
  quirk('NO_PARALLEL_TOOLS'),
];

function sent(body: RequestBody, dialect: ProtocolName, quirks: readonly Quirk[]) {
  const options = { model: 'vendor', streamed: false, tables: undefined, passUnknown: true };
  const { body: bytes, dropped } = mirrored(
    body,
    {},
    { ...{ ...options, dialect, quirks, reasoning: { effort: 'high' as const } } },
  );
  return { text: bytes.toString(), dropped };
}

/** The body in outline. Fails if its value is parsed whole. */
function outlined(): RequestBody {
  const body = outlinedBody(BYTES, {});
  if (!body?.lacksTexts) throw new Error('The body is not read in outline.');
  return Object.defineProperty(body, 'value', {
    get: () => {
      throw new Error('The body was parsed whole.');
    },
  });
}

describe.each(['openai-chat', 'anthropic-messages'] as const)('a mirrored request in %s', (dialect) => {
  it.each([...QUIRKS.map((one) => [one.kind, one.member, [one]] as const), ['all', null, QUIRKS] as const])(
    'is changed in outline as it is changed whole, and is not parsed whole: %s %s',
    (_, __, quirks) => {
      const expected = sent(parseRequestBody(BYTES), dialect, quirks);
      expect(sent(outlined(), dialect, quirks)).toEqual(expected);
      expect(expected.text).not.toBe(sent(parseRequestBody(BYTES), dialect, []).text);
    },
  );
});
