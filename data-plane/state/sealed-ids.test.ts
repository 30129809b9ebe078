/** Ids of stored objects: one spelling for each object, and no way to another customer's. */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SEALED_ID_CHARACTERS, SealedIds } from './sealed-ids.ts';
import type { StateKind, StoredObject } from './sealed-ids.ts';

const KEY = Buffer.alloc(32, 5);
const ids = new SealedIds(KEY);
const KINDS: readonly StateKind[] = ['response', 'conversation', 'cache'];
const PREFIX: Record<StateKind, string> = {
  response: 'resp_',
  conversation: 'conv_',
  cache: 'cachedContents/',
};
const OBJECT: StoredObject = {
  kind: 'response',
  providerId: 'prv_1',
  credentialId: 'crd_1',
  model: 'flagship',
  upstreamId: 'resp_68f0a1b2c3d4e5f60718293a4b5c6d7e8f9012345678',
};

const text = fc.string({ unit: 'binary', maxLength: 60 }).filter((each) => Buffer.byteLength(each) <= 255);
const object: fc.Arbitrary<StoredObject> = fc.record({
  kind: fc.constantFrom(...KINDS),
  providerId: text,
  credentialId: text,
  model: text,
  upstreamId: text,
});

/** Whether any wallet and kind of a sample opens the id. */
function opens(id: string, walletIds: readonly string[]): boolean {
  return KINDS.some((kind) => walletIds.some((walletId) => ids.open(id, kind, walletId) !== undefined));
}

describe('a sealed id', () => {
  it('opens to its object for its wallet and kind, on every node', () => {
    fc.assert(
      fc.property(object, text, (each, walletId) => {
        const wellFormed = Object.fromEntries(
          Object.entries(each).map(([name, value]) => [name, Buffer.from(value).toString('utf8')]),
        );
        const id = ids.seal(each, walletId);
        expect(id.startsWith(PREFIX[each.kind])).toBe(true);
        expect(id.length - PREFIX[each.kind].length).toBeLessThanOrEqual(SEALED_ID_CHARACTERS);
        expect(new SealedIds(Buffer.from(KEY)).open(id, each.kind, walletId)).toEqual(wellFormed);
      }),
    );
  });

  it('is the same for the same object, and another one for any other object or wallet', () => {
    const variants = [
      ids.seal(OBJECT, 'wallet-a'),
      ids.seal(OBJECT, 'wallet-b'),
      ids.seal({ ...OBJECT, credentialId: 'crd_2' }, 'wallet-a'),
      ids.seal({ ...OBJECT, providerId: 'prv_1crd_1', credentialId: '' }, 'wallet-a'),
      ids.seal({ ...OBJECT, kind: 'conversation' }, 'wallet-a').replace('conv_', 'resp_'),
    ];
    expect(new Set(variants).size).toBe(variants.length);
    expect(ids.seal({ ...OBJECT }, 'wallet-a')).toBe(variants[0]);
  });

  it('opens neither for another wallet nor as another kind', () => {
    fc.assert(
      fc.property(object, text, text, (each, own, other) => {
        const id = ids.seal(each, own);
        if (other !== own) expect(ids.open(id, each.kind, other)).toBeUndefined();
        for (const kind of KINDS) {
          if (kind === each.kind) continue;
          expect(ids.open(id, kind, own)).toBeUndefined();
          expect(ids.open(PREFIX[kind] + id.slice(PREFIX[each.kind].length), kind, own)).toBeUndefined();
        }
      }),
    );
  });

  it('does not open under another key', () => {
    const other = new SealedIds(Buffer.alloc(32, 6));
    expect(other.open(ids.seal(OBJECT, 'wallet-a'), 'response', 'wallet-a')).toBeUndefined();
  });

  it('holds no readable text of the object', () => {
    const id = ids.seal(OBJECT, 'wallet-a');
    const bytes = Buffer.from(id.slice('resp_'.length), 'base64url').toString('latin1');
    for (const part of [OBJECT.providerId, OBJECT.credentialId, OBJECT.model, OBJECT.upstreamId, 'wallet-a'])
      expect(id + bytes).not.toContain(part);
  });

  it('is not made if a text of the object has more than 255 bytes', () => {
    expect(() => ids.seal({ ...OBJECT, upstreamId: 'x'.repeat(256) }, 'wallet-a')).toThrow(RangeError);
    const long = ids.seal({ ...OBJECT, upstreamId: 'x'.repeat(255) }, 'wallet-a');
    expect(ids.open(long, 'response', 'wallet-a')?.upstreamId).toHaveLength(255);
  });
});

describe('10,000 made-up ids', () => {
  const wallets = ['', 'wallet-a', 'wallet-b'];
  const known = [ids.seal(OBJECT, 'wallet-a'), ids.seal({ ...OBJECT, kind: 'cache' }, 'wallet-b')];

  /** Every id that differs from a valid one in one character, in length, or in the order of its parts. */
  function* crafted(): Generator<string> {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (const id of known) {
      for (let at = id.search(/[_/]/) + 1; at < id.length; at += 1) {
        for (const letter of [alphabet[at % 64], alphabet[(at * 7 + 3) % 64], 'A', '_'])
          if (letter !== undefined && letter !== id[at]) yield id.slice(0, at) + letter + id.slice(at + 1);
        yield id.slice(0, at);
        yield `${id}${id.slice(at)}`;
        yield id.slice(0, at) + id.slice(at + 1);
      }
      yield* [
        `${id}=`,
        `${id}==`,
        `${id} `,
        ` ${id}`,
        `${id}\0`,
        `${id}%00`,
        id.toUpperCase(),
        id.toLowerCase(),
      ];
    }
    const [first = '', second = ''] = known;
    for (let at = 6; at < 60; at += 1) yield first.slice(0, at) + second.slice(at + 10);
    yield* ['', 'resp_', 'conv_', 'cachedContents/', OBJECT.upstreamId, 'resp_'.repeat(1_000)];
  }

  it('are all refused, for every wallet and kind', () => {
    const made = [...crafted()];
    while (made.length < 10_000) {
      const prefix = Object.values(PREFIX)[made.length % 3] ?? '';
      made.push(prefix + randomBytes(1 + (made.length % 300)).toString('base64url'));
    }
    expect(made.length).toBeGreaterThanOrEqual(10_000);
    expect(made.filter((id) => !known.includes(id) && opens(id, wallets))).toEqual([]);
    expect(opens(known[0] ?? '', wallets)).toBe(true);
  });
});
