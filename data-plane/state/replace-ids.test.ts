/** Ids in the bytes of answers: replaced where they name an object, and nowhere else. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPlainId, replaceIds } from './replace-ids.ts';

const UPSTREAM = 'resp_0a1b2c';
const CLIENT = 'resp_SealedForTheWallet';
const NAMES = new Map([[UPSTREAM, CLIENT]]);

const replaced = (text: string): string => replaceIds(Buffer.from(text), NAMES).toString('utf8');

describe('an id of the upstream', () => {
  it('is replaced in each member that names a stored object, with any white space', () => {
    const text =
      '{"response" : {"id" :\n"resp_0a1b2c", "previous_response_id":"resp_0a1b2c"},' +
      '"conversation":"resp_0a1b2c","response_id":"resp_0a1b2c"}';
    expect(replaced(text)).toBe(text.replaceAll(UPSTREAM, CLIENT));
  });

  it('stays in texts, in other members, in names, and as a part of another id', () => {
    for (const text of [
      '{"text":"resp_0a1b2c"}',
      String.raw`{"text":"say \"id\":\"resp_0a1b2c\""}`,
      '{"resp_0a1b2c":1}',
      '{"id":"resp_0a1b2c3"}',
      '{"my_id":"resp_0a1b2c"}',
      '["resp_0a1b2c"]',
    ])
      expect(replaced(text)).toBe(text);
  });

  it('is replaced in any JSON value exactly where a recursive search finds it', () => {
    const names = fc.constantFrom('id', 'response_id', 'previous_response_id', 'conversation', 'text', 'x');
    const looksLikeIt = fc.constant(`"id":"${UPSTREAM}"`);
    const leaf = fc.oneof(fc.constant(UPSTREAM), fc.string(), looksLikeIt, fc.integer());
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: 'small' }, leaf, tie('object'), fc.array(tie('value'), { maxLength: 3 })),
      object: fc.dictionary(names, tie('value'), { maxKeys: 4 }),
    }));
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 2), (each, space) => {
        const text = JSON.stringify(each, undefined, space);
        const isNamed = (name: string): boolean => name !== 'text' && name !== 'x' && name !== '';
        const walked: unknown = JSON.parse(text, (name, member: unknown) =>
          member === UPSTREAM && isNamed(name) && !/^\d+$/.test(name) ? CLIENT : member,
        );
        expect(JSON.parse(replaced(text))).toEqual(walked);
      }),
    );
  });
});

describe('the shape of an id that can be sealed', () => {
  it('is short and printable, and no path segment such as `..`', () => {
    for (const id of ['resp_0a1b', 'conv-1', 'a.b', 'x'.repeat(255)]) expect(isPlainId(id)).toBe(true);
    for (const id of ['', '.', '..', 'a/b', 'a b', 'a"b', 'ä', 'a%2f', 'x'.repeat(256), 7, undefined, null])
      expect(isPlainId(id)).toBe(false);
  });
});
