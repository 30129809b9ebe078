/** Arrays reach PostgreSQL with every item unchanged. */
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { parameterOf } from './array-literal.ts';

let client: pg.Client;
beforeAll(async () => {
  client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
});
afterAll(() => client.end());

const read = async (items: unknown[], type: string): Promise<unknown> => {
  const { rows } = await client.query<{ items: unknown }>(`select $1::${type}[] as items`, [
    parameterOf(items),
  ]);
  return rows[0]?.items;
};

test('PostgreSQL reads the items that were written', async () => {
  const texts = fc.oneof(
    fc.constantFrom(null, '', 'NULL', '"', '\\', '{', '}', ',', ' a ', '\n', "'", 'é', '😀', '\\"'),
    fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(texts), async (items) => {
      expect(await read(items, 'text')).toEqual(items);
    }),
    { numRuns: 200 },
  );
  const numbers = [0, -1, 2 ** 31 - 1, null];
  expect(await read(numbers, 'integer')).toEqual(numbers);
  expect(await read([true, false, null], 'boolean')).toEqual([true, false, null]);
});

test('other values are left to the driver', async () => {
  const day = new Date('2026-11-27T12:00:00Z');
  for (const value of [[day], [['a']], [Buffer.from('a')], 'a', 1, null])
    expect(parameterOf(value)).toBe(value);
  expect(await read([day], 'timestamptz')).toEqual([day]);
});
