/** Keys in rows of bytes behave like a map of objects, and earlier tables never change. */
import { hash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KeyRecord } from '@gateway/shared/records';
import { keyOf } from '../../test/ledger/records.ts';
import { KeyTable } from './key-table.ts';

const digestOf = (number: number): string => number.toString(16).padStart(8, '0').repeat(8);
const name = (number: number): string => `key_${number}_ü`;

/** Keys whose digests are as different as their ids and versions. */
const records = fc
  .record({
    number: fc.nat(400),
    version: fc.nat(3),
    walletId: fc.constantFrom('wallet_a', 'wallet_b'),
    group: fc.constantFrom('default' as const, 'vip' as const),
    enabled: fc.boolean(),
    disabledReason: fc.option(fc.constantFrom('OWNER', 'ADMIN')),
    previous: fc.option(fc.nat(3)),
    previousUntil: fc.option(fc.nat()),
    poolId: fc.option(fc.string()),
    allowedModels: fc.option(fc.array(fc.string(), { maxLength: 3 })),
    allowedIps: fc.array(fc.constantFrom('10.0.0.0/8', '::1/128'), { maxLength: 2 }),
    expiresAt: fc.option(fc.nat()),
    hasSpendLimit: fc.boolean(),
    hidden: fc.boolean(),
  })
  .map(({ number, version, previous, walletId, ...rest }) => {
    const previousDigest = previous === null ? null : digestOf(number * 10 + 5 + previous);
    return keyOf(walletId, {
      ...rest,
      id: name(number),
      digest: digestOf(number * 10 + version),
      previousDigest,
    });
  });
const batches = fc.array(
  fc.array(fc.oneof({ weight: 3, arbitrary: records }, fc.nat(400).map(name)), { maxLength: 120 }),
  { maxLength: 8 },
);

/** The table after a batch, and the same change of a map. A text is the id of a key that is removed. */
function changed(table: KeyTable, model: Model, batch: readonly (KeyRecord | string)[]): KeyTable {
  const draft = table.edit();
  for (const [at, each] of batch.entries()) {
    const id = typeof each === 'string' ? each : each.id;
    const known = model.get(id)?.revision;
    if (typeof each === 'string') {
      expect(draft.remove(id)).toBe(known);
      model.delete(id);
    } else {
      expect(draft.set({ revision: at, record: each })).toBe(known);
      model.set(id, { revision: at, record: each });
    }
  }
  return draft.finish();
}
type Model = Map<string, { revision: number; record: KeyRecord }>;

function expectEqual(table: KeyTable, model: Model): void {
  expect(table.size).toBe(model.size);
  const found = new Map([...table.values()].map((each) => [each.record.id, each]));
  expect(found).toEqual(model);
  for (const [id, { revision, record }] of model) {
    expect(table.get(id)).toEqual({ revision, record });
    expect(table.byDigest(record.digest)).toEqual(record);
    if (record.previousDigest) expect(table.byPreviousDigest(record.previousDigest)).toEqual(record);
  }
  for (let number = 0; number < 400; number += 37) {
    const isKnown = [...model.values()].some(({ record }) => record.digest === digestOf(number));
    expect(table.byDigest(digestOf(number)) !== undefined).toBe(isKnown);
    if (!model.has(name(number))) expect(table.get(name(number))).toBe(undefined);
  }
}

test('a table of keys behaves like a map, and earlier tables never change', () => {
  fc.assert(
    fc.property(batches, (all) => {
      const model: Model = new Map();
      let table = KeyTable.EMPTY;
      const states: { table: KeyTable; model: Model }[] = [];
      for (const batch of all) {
        table = changed(table, model, batch);
        states.push({ table, model: new Map(model) });
      }
      for (const state of states) expectEqual(state.table, state.model);
    }),
    { numRuns: 30 },
  );
});

test('the changes since an earlier table are those of a map, whether or not both share rows', () => {
  fc.assert(
    fc.property(batches, batches, (first, second) => {
      const model: Model = new Map();
      let table = KeyTable.EMPTY;
      for (const batch of first) table = changed(table, model, batch);
      const [earlier, before] = [table, new Map(model)];
      for (const batch of second) table = changed(table, model, batch);
      const wanted = new Map(
        [...before].flatMap(([id, old]) => {
          const present = model.get(id);
          return JSON.stringify(present) === JSON.stringify(old)
            ? []
            : [[id, { before: old.record, after: present?.record }] as const];
        }),
      );
      const rebuilt = KeyTable.EMPTY.edit();
      for (const each of model.values()) rebuilt.set(each);
      for (const next of [table, rebuilt.finish()]) {
        const found = [...next.changedSince(earlier)];
        expect(new Map(found.map((each) => [each.before?.id, each]))).toEqual(wanted);
        expect(found.length).toBe(wanted.size);
      }
    }),
    { numRuns: 30 },
  );
});

test('keys that are replaced again and again take the room of three at most', () => {
  const keys = Array.from({ length: 10_000 }, (_, number) =>
    keyOf('wallet_a', { id: name(number), digest: hash('sha256', name(number)) }),
  );
  let table = KeyTable.EMPTY;
  for (let revision = 1; revision <= 12; revision += 1) {
    const draft = table.edit();
    for (const record of keys) draft.set({ revision, record });
    table = draft.finish();
  }
  expect(table.size).toBe(keys.length);
  expect(table.get(name(9_999))).toEqual({ revision: 12, record: keys[9_999] });
  expect(table.bytes).toBeLessThan(3 * 200 * keys.length + (8 << 20));
});

test('a key that is longer than a block of rows is kept among others', () => {
  const long = keyOf('wallet_a', {
    id: 'long',
    digest: digestOf(1),
    allowedModels: Array.from({ length: 10_000 }, (_, at) => `${at}`.padStart(300, 'm')),
  });
  const draft = KeyTable.EMPTY.edit();
  const others = ['a', 'b', 'c', 'd'].map((id, at) => keyOf('wallet_a', { id, digest: digestOf(at + 2) }));
  for (const record of [others[0], long, others[1], { ...long, id: 'longer' }, others[2], others[3]])
    if (record) draft.set({ revision: 1, record });
  const table = draft.finish();
  expect(table.get('long')?.record).toEqual(long);
  expect(table.get('longer')?.record).toEqual({ ...long, id: 'longer' });
  for (const record of others) expect(table.byDigest(record.digest)).toEqual(record);
});

test('a key that is looked up twice is the same object', () => {
  const draft = KeyTable.EMPTY.edit();
  draft.set({ revision: 1, record: keyOf('wallet_a', { id: 'a', digest: digestOf(1) }) });
  const table = draft.finish();
  expect(table.byDigest(digestOf(1))).toBe(table.byDigest(digestOf(1)));
  const next = table.edit();
  next.set({ revision: 2, record: keyOf('wallet_a', { id: 'b', digest: digestOf(2) }) });
  expect(next.finish().byDigest(digestOf(1))).toBe(table.byDigest(digestOf(1)));
});
