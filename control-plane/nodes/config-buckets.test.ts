/** Buckets of entries behave like a map, and their parts do not change. */
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ConfigEntry } from '@gateway/shared/node-api';
import { account } from '../../test/feed-node.ts';
import { Buckets } from './config-buckets.ts';
import type { LiveRow } from './config-buckets.ts';
import { ConfigPart, idOf } from './config-parts.ts';

const LIMIT = 4;

function row(number: number, revision: number): LiveRow {
  const key = `account_${number}`;
  return { kind: 'ACCOUNT', key, revision, payload: account(key) };
}

async function entriesOf(parts: readonly ConfigPart[]): Promise<ConfigEntry[]> {
  const packed = await Promise.all(parts.map((part) => part.packed()));
  return packed.flatMap(
    (text) => JSON.parse(gunzipSync(Buffer.from(text, 'base64')).toString()) as ConfigEntry[],
  );
}

const sorted = (entries: Iterable<ConfigEntry>): ConfigEntry[] =>
  [...entries].sort((one, other) => one.key.localeCompare(other.key));

it('buckets have the entries of a map, in few parts, and earlier snapshots do not change', async () => {
  const step = fc.record({ number: fc.nat(40), isRemoved: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { maxLength: 60 }), { maxLength: 5 }), async (batches) => {
      const buckets = new Buckets(LIMIT);
      const model = new Map<string, LiveRow>();
      const snapshots: { parts: ConfigPart[]; wanted: LiveRow[] }[] = [];
      let revision = 0;
      for (const batch of batches) {
        for (const { number, isRemoved } of batch) {
          revision += 1;
          const next = row(number, revision);
          if (isRemoved) buckets.delete(idOf(next));
          else buckets.set(next);
          if (isRemoved) model.delete(idOf(next));
          else model.set(idOf(next), next);
        }
        const parts = buckets.parts();
        expect(parts.length).toBeLessThanOrEqual((2 * model.size) / LIMIT + 2);
        snapshots.push({ parts, wanted: [...model.values()] });
      }
      for (const { parts, wanted } of snapshots)
        expect(sorted(await entriesOf(parts))).toEqual(sorted(wanted));
      for (const [id, { revision: known }] of model) expect(buckets.revisionOf(id)).toBe(known);
    }),
    { numRuns: 50 },
  );
});

it('a part has the same entries before and after it is encoded, and without some of them', async () => {
  const [one, two, three] = [row(1, 1), row(2, 1), row(3, 1)];
  const part = ConfigPart.of([one, two]);
  const rest = part.without(new Set([idOf(one)]));
  const joined = ConfigPart.joined([rest, ConfigPart.of([three])]);
  const before = await joined.entries();
  await Promise.all([part.packed(), rest.packed(), joined.packed()]);
  expect([before, await joined.entries()]).toEqual([
    [two, three],
    [two, three],
  ]);
  expect(await part.entries()).toEqual([one, two]);
});
