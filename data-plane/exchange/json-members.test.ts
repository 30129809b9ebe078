/** The scanner agrees with JSON.parse about every object, and an edit changes nothing but what it names. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { replaceMembers, scanMembers } from './json-members.ts';

/** JSON text with spaces in odd places and escapes where none are needed. */
function untidy(value: unknown, space: string): string {
  if (Array.isArray(value))
    return `[${space}${value.map((item) => untidy(item, space)).join(`${space},${space}`)}${space}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${escaped(name)}${space}:${space}${untidy(member, space)}`,
  );
  return `${space}{${space}${members.join(`${space},${space}`)}${space}}${space}`;
}

function escaped(name: string): string {
  const code = name.charCodeAt(0).toString(16).padStart(4, '0');
  return name.length > 0 && name.length % 2 === 0
    ? `"\\u${code}${JSON.stringify(name.slice(1)).slice(1)}`
    : JSON.stringify(name);
}

const objects = fc.dictionary(
  fc.string({ unit: 'binary' }).filter((name) => name !== '__proto__'),
  fc.jsonValue({ maxDepth: 5 }),
);
const spaces = fc.constantFrom('', ' ', '\n', ' \t\r\n ');

describe('the scanner', () => {
  it('finds the names and values that JSON.parse finds', () => {
    fc.assert(
      fc.property(objects, spaces, (value, space) => {
        fc.pre(!JSON.stringify(value).includes('__proto__'));
        const bytes = Buffer.from(untidy(value, space));
        const parsed: Record<string, unknown> = JSON.parse(bytes.toString());
        const members = scanMembers(bytes);
        const found = members.map(({ name, valueStart, valueEnd }) => [
          name,
          JSON.parse(bytes.toString('utf8', valueStart, valueEnd)),
        ]);
        expect(new Map(found.map(([name, member]) => [name, member]))).toEqual(
          new Map(Object.entries(parsed)),
        );
      }),
    );
  });

  it('refuses a name that comes twice, however it is written', () => {
    for (const text of ['{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '{"a":{"a":1},"b":[],"a":0}']) {
      expect(() => scanMembers(Buffer.from(text))).toThrow('comes twice');
    }
    expect(scanMembers(Buffer.from('{"a":{"b":1},"b":{"a":1}}'))).toHaveLength(2);
  });

  it('refuses what is nested too deep, and takes what is just not', () => {
    const nested = (levels: number) => Buffer.from(`{"x":${'['.repeat(levels)}${']'.repeat(levels)}}`);
    expect(scanMembers(nested(63))).toHaveLength(1);
    expect(() => scanMembers(nested(64))).toThrow('deeper');
  });
});

describe('an edit', () => {
  const names = ['model', 'store', 'stream_options'];

  it('replaces, appends and leaves out exactly the members that it names', () => {
    const edits = fc.dictionary(fc.constantFrom(...names), fc.option(fc.jsonValue(), { nil: undefined }));
    const bodies = fc
      .tuple(objects, fc.dictionary(fc.constantFrom(...names), fc.jsonValue()))
      .map(([other, own]) => ({ ...own, ...other }));
    fc.assert(
      fc.property(bodies, edits, spaces, (value, changes, space) => {
        fc.pre(!JSON.stringify([value, changes]).includes('__proto__'));
        const bytes = Buffer.from(untidy(value, space));
        const before: Record<string, unknown> = JSON.parse(bytes.toString());
        const texts = new Map(
          Object.entries(changes).map(([name, change]) => [
            name,
            change === undefined ? undefined : JSON.stringify(change),
          ]),
        );
        const after = JSON.parse(replaceMembers(bytes, scanMembers(bytes), texts).toString());
        const expected = new Map(Object.entries(before));
        for (const [name, text] of texts) {
          if (text === undefined) expected.delete(name);
          else expected.set(name, JSON.parse(text));
        }
        expect(new Map(Object.entries(after))).toEqual(expected);
      }),
    );
  });

  it('keeps every byte outside the value that it replaces', () => {
    const text = ' {\n "x" : 1e2 , "model":\t"swift" ,"emoji":"\\ud83d\\ude00 😀" }\n';
    const bytes = Buffer.from(text);
    const edited = replaceMembers(bytes, scanMembers(bytes), new Map([['model', '"other"']]));
    expect(edited.toString()).toBe(text.replace('"swift"', '"other"'));
  });
});
