/** Names that are found without a parser are replaced as a parser would do it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withHeadNames } from './head-names.ts';
import { replaceMembers, scanMembers } from './json-members.ts';
import { textOf } from './json-scan.ts';

const TEXTS = new Map([
  ['id', 'own'],
  ['model', 'swift "é"'],
]);

/** The result of the scanner of requests. */
function scanned(bytes: Buffer): string {
  const { members } = scanMembers(textOf(bytes));
  const edits = new Map<string, string>();
  for (const { name } of members) {
    const text = TEXTS.get(name);
    if (text !== undefined) edits.set(name, JSON.stringify(text));
  }
  return replaceMembers(bytes, members, { edits }).toString();
}

/** The result without a scan; undefined if it is left to the scanner. */
function quicklyNamed(bytes: Buffer): string | undefined {
  const text = withHeadNames(textOf(bytes), TEXTS);
  return text === undefined ? undefined : Buffer.from(text, 'latin1').toString();
}

const scalars = fc.oneof(
  fc.constantFrom('id', 'model', 'vendor', 'a{b', 'a[b', 'a"b', 'a\\', 'é', '', 'a:b', '"model":"x"'),
  fc.constantFrom(1, null, true),
);
const values = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 2 }, scalars, fc.array(tie('value'), { maxLength: 2 }), tie('object')),
  object: fc.dictionary(fc.constantFrom('id', 'model', 'object', 'choices', 'a"model'), tie('value'), {
    maxKeys: 4,
  }),
}));
const spaces = fc.constantFrom(undefined, 1, '\t');

describe('names at the head of an answer', () => {
  it('are replaced like those that the scanner finds, or left to it', () => {
    fc.assert(
      fc.property(values.object, spaces, (value, space) => {
        const bytes = Buffer.from(JSON.stringify(value, null, space));
        const quick = quicklyNamed(bytes);
        if (quick !== undefined) expect(quick).toBe(scanned(bytes));
      }),
      { numRuns: 2_000 },
    );
  });

  it('are found in the answers of usual upstreams', () => {
    const rest = '"object":"chat.completion","choices":[{"message":{"content":"say \\"model\\" {}"}}]}';
    expect(quicklyNamed(Buffer.from(`{"id": "x","model" :"vendor",${rest}`))).toBe(
      `{"id": "own","model" :"swift \\"é\\"",${rest}`,
    );
    expect(quicklyNamed(Buffer.from('{"model":"vendor"}'))).toBe('{"model":"swift \\"é\\""}');
  });

  it.each([
    ['a name comes twice', '{"model":"a","x":{"model":"b"}}'],
    ['a name stands behind a nested value', '{"x":{},"model":"a"}'],
    ['a name is spelled with an escape', String.raw`{"model":"a","mod\u0065l":"b"}`],
    ['a value ends with an escape', String.raw`{"model":"a\""}`],
    ['a value is no text', '{"model":null}'],
    ['another name ends with it after a quote', String.raw`{"a\"model":"x"}`],
    ['the name is a value', '{"object":"model"}'],
    ['there is white space before the object', ' {"model":"a"}'],
  ])('are left to the scanner if %s', (_, text) => {
    expect(quicklyNamed(Buffer.from(text))).toBeUndefined();
  });
});
