/**
 * The scanner agrees with JSON.parse about every object, and an edit changes only the members that it
 * names.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Pieces } from '../call/pieces.ts';
import { exactly, writeJson } from '../dialects/exact-json.ts';
import { OUTLINED_FROM_BYTES } from '../limits.ts';
import { replaceInPieces, replaceMembers, scanMembers } from './json-members.ts';
import { textOf } from './json-scan.ts';

/** JSON text with unusual white space and needless escapes. */
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

/** A name that may contain escapes already. */
const quoted = (name: string): string => (name.startsWith('\\') ? `"${name}"` : JSON.stringify(name));

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
        const { members } = scanMembers(textOf(bytes));
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

  it('refuses a duplicate name, also one written with escapes', () => {
    for (const text of ['{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '{"a":{"a":1},"b":[],"a":0}']) {
      expect(() => scanMembers(textOf(Buffer.from(text)))).toThrow('comes twice');
    }
  });

  it('refuses changes of the same bytes', () => {
    const bytes = Buffer.from('{"a":{"b":1,"c":2},"d":3}');
    const { members } = scanMembers(textOf(bytes));
    const edits = new Map([['a', '{}']]);
    expect(() => replaceMembers(bytes, members, { edits, removals: [['a', 'b']] })).toThrow('overlap');
  });

  it('counts the members of all levels, whatever colons and braces stand in texts', () => {
    const count = (value: unknown): number => {
      if (typeof value !== 'object' || value === null) return 0;
      const inner = Object.values(value).reduce<number>((sum, member) => sum + count(member), 0);
      return inner + (Array.isArray(value) ? 0 : Object.keys(value).length);
    };
    fc.assert(
      fc.property(objects, spaces, (value, space) => {
        fc.pre(!JSON.stringify(value).includes('__proto__'));
        const bytes = Buffer.from(untidy(value, space));
        expect(scanMembers(textOf(bytes)).names).toBe(count(JSON.parse(bytes.toString())));
      }),
    );
  });

  it('finds every value that JSON.parse and JSON.stringify would change, and few other values', () => {
    const numbers = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
      fc.constantFrom(
        '-0',
        '0',
        '1.50',
        '1.5',
        '100',
        '1e2',
        '-0.0',
        '-0.5',
        '9007199254740993',
        '0.1',
        '-7',
      ),
      fc.tuple(fc.integer(), fc.nat(99)).map(([whole, part]) => `${whole}.${part}`),
    );
    const names = fc.constantFrom('a', '7', '07', '\\u0037', 'b"', '_', 'é');
    const values = fc.letrec<{ any: string }>((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        numbers,
        fc.string().map((text) => JSON.stringify(text)),
        fc.constantFrom('true', 'null', 'false'),
        fc.array(tie('any'), { maxLength: 4 }).map((items) => `[${items.join(' , ')}]`),
        fc
          .uniqueArray(fc.tuple(names, tie('any')), { maxLength: 4, selector: ([name]) => name })
          .map((members) => `{${members.map(([name, value]) => `${quoted(name)}: ${value}`).join(',')}}`),
      ),
    })).any;
    let exact = 0;
    fc.assert(
      fc.property(names, values, (name, value) => {
        const text = `{${quoted(name)}:${value}}`;
        const { isInexact } = scanMembers(textOf(Buffer.from(text)));
        if (isInexact) return;
        exact += 1;
        const parsed: unknown = JSON.parse(text);
        expect(exactly(text, parsed)).toEqual(parsed);
        expect(JSON.stringify(parsed).replaceAll(/\s/g, '')).toBe(
          writeJson(exactly(text, parsed)).replaceAll(/\s/g, ''),
        );
      }),
      { numRuns: 2_000 },
    );
    expect(exact).toBeGreaterThan(200);
  });

  it('accepts 64 levels of nesting and refuses 65', () => {
    const nested = (levels: number) => Buffer.from(`{"x":${'['.repeat(levels)}${']'.repeat(levels)}}`);
    expect(scanMembers(textOf(nested(63))).members).toHaveLength(1);
    expect(() => scanMembers(textOf(nested(64)))).toThrow('deeper');
  });
});

describe('an edit', () => {
  const names = ['model', 'store', 'stream_options'];

  it('replaces, appends and removes exactly the members that it names', () => {
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
        const after = JSON.parse(
          replaceMembers(bytes, scanMembers(textOf(bytes)).members, { edits: texts }).toString(),
        );
        const expected = new Map(Object.entries(before));
        for (const [name, text] of texts) {
          if (text === undefined) expected.delete(name);
          else expected.set(name, JSON.parse(text));
        }
        expect(new Map(Object.entries(after))).toEqual(expected);
      }),
    );
  });

  it('keeps every byte outside the replaced value', () => {
    const text = ' {\n "x" : 1e2 , "model":\t"swift" ,"emoji":"\\ud83d\\ude00 😀" }\n';
    const bytes = Buffer.from(text);
    const edited = replaceMembers(bytes, scanMembers(textOf(bytes)).members, {
      edits: new Map([['model', '"other"']]),
    });
    expect(edited.toString()).toBe(text.replace('"swift"', '"other"'));
  });

  it('gives the same bytes in pieces as in one buffer', () => {
    const edits = fc.dictionary(fc.constantFrom(...names), fc.option(fc.jsonValue(), { nil: undefined }));
    const removals = fc.constantFrom([], [['a']], [['a', 1]]);
    const lengths = fc.array(fc.nat(OUTLINED_FROM_BYTES), { maxLength: 6 });
    fc.assert(
      fc.property(edits, removals, lengths, (changes, removed, given) => {
        const value = { a: [1, 2], model: 'm', long: 'x'.repeat(OUTLINED_FROM_BYTES), store: true, z: 'é' };
        const bytes = Buffer.from(JSON.stringify(value));
        const { members } = scanMembers(textOf(bytes));
        let from = 0;
        const cut = given.map((length) => bytes.subarray(from, (from += length)));
        const texts = new Map(
          Object.entries(changes).map(([name, change]): [string, string | undefined] => [
            name,
            change === undefined ? undefined : JSON.stringify(change),
          ]),
        );
        const options = { edits: texts, removals: removed };
        const pieces = new Pieces([...cut, bytes.subarray(from)]);
        const edited = replaceInPieces(pieces, members, options);
        expect(edited).toBeInstanceOf(Pieces);
        expect(edited.toString()).toBe(replaceMembers(bytes, members, options).toString());
        expect(pieces.whole().equals(bytes)).toBe(true);
      }),
    );
  });

  it('writes long members in memory of their own, and short ones in at most 4 kB', () => {
    const bytes = Buffer.from(JSON.stringify({ long: 'x'.repeat(OUTLINED_FROM_BYTES), tools: [] }));
    const edits = new Map([['tools', JSON.stringify(['y'.repeat(6_000)])]]);
    const edited = replaceInPieces(new Pieces([bytes]), scanMembers(textOf(bytes)).members, { edits });
    const written = [...(edited as Pieces)].filter(({ buffer }) => buffer !== bytes.buffer);
    expect(written.some(({ length }) => length > 6_000)).toBe(true);
    for (const { buffer, length } of written)
      expect(buffer.byteLength).toBeLessThanOrEqual(Math.max(4_096, 2 * length));
  });

  it('removes members and items on any level, and nothing else', () => {
    const steps = fc.array(
      fc.array(fc.oneof(fc.nat(3), fc.constantFrom('a', 'b', 'c')), { maxLength: 4, minLength: 1 }),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(1, 'a,b}', null),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('tree')),
      ),
    }));
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('a', 'b', 'c'), tree),
        steps,
        spaces,
        (value, removals, space) => {
          const bytes = Buffer.from(untidy(value, space));
          const before: unknown = JSON.parse(bytes.toString());
          const present = removals.filter((path) => find(before, path) !== undefined);
          const sent = replaceMembers(bytes, scanMembers(textOf(bytes)).members, {
            edits: new Map(),
            removals: present,
          });
          expect(JSON.parse(sent.toString())).toEqual(without(before, present));
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('keeps the white space around what it removes', () => {
    const text = ' {"a" : [ {"x":1 , "y" : 2} , 3 ,\n 4 ] ,"b":1} ';
    const edited = (...removals: (string | number)[][]) =>
      String(
        replaceMembers(Buffer.from(text), scanMembers(textOf(Buffer.from(text))).members, {
          edits: new Map(),
          removals,
        }),
      );
    expect(edited(['a', 0, 'y'])).toBe(text.replace(' , "y" : 2', ''));
    expect(edited(['a', 0, 'x'])).toBe(text.replace('"x":1 , ', ''));
    expect(edited(['a', 1], ['a', 2])).toBe(text.replace(' , 3 ,\n 4', ''));
    expect(edited(['a', 0, 'x'], ['a', 0], ['b'])).toBe(' {"a" : [ 3 ,\n 4 ]} ');
  });
});

/** The value at these steps. */
function find(value: unknown, steps: readonly (string | number)[]): unknown {
  return steps.reduce<unknown>((at, step) => {
    const isList = Array.isArray(at);
    if (typeof at !== 'object' || at === null || isList !== (typeof step === 'number')) return undefined;
    return Object.getOwnPropertyDescriptor(at, step)?.value;
  }, value);
}

/** The value without what is at these steps. */
function without(value: unknown, removals: readonly (readonly (string | number)[])[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    const own = removals.filter(([step]) => String(step) === name).map((steps) => steps.slice(1));
    return own.some((steps) => steps.length === 0) ? [] : [[name, without(member, own)]];
  });
  return Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries);
}
