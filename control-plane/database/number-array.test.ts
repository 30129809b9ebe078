/** Arrays of numbers and times reach PostgreSQL with every item unchanged. */
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { bigintArray, integerArray, timeArray } from './number-array.ts';

let client: pg.Client;
beforeAll(async () => {
  client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
});
afterAll(() => client.end());

/** The items as PostgreSQL writes them. */
async function read(type: string, items: Buffer): Promise<unknown> {
  const { rows } = await client.query<{ items: unknown }>(`select $1::${type}[]::text[] as items`, [items]);
  return rows[0]?.items;
}

const textOf = (item: bigint | number | null): string | null => (item === null ? null : String(item));

test('PostgreSQL reads the numbers of 64 bits that were written', async () => {
  const edges = [0n, -1n, 2n ** 32n, -(2n ** 32n), 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)];
  const numbers = fc.oneof(
    fc.constantFrom(null, ...edges),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.maxSafeInteger(),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(numbers), async (items) => {
      expect(await read('bigint', bigintArray(items))).toEqual(items.map(textOf));
    }),
    { numRuns: 200 },
  );
});

test('PostgreSQL reads the numbers of 32 bits that were written', async () => {
  const numbers = fc.oneof(fc.constantFrom(null, 0, 2 ** 31 - 1, -(2 ** 31)), fc.integer());
  await fc.assert(
    fc.asyncProperty(fc.array(numbers), async (items) => {
      expect(await read('integer', integerArray(items))).toEqual(items.map(textOf));
    }),
    { numRuns: 100 },
  );
});

test('PostgreSQL reads the times that were written', async () => {
  const [min, max] = [new Date('0001-01-01T00:00:00.000Z'), new Date('9999-12-31T23:59:59.999Z')];
  const times = fc.date({ min, max, noInvalidDate: true });
  await client.query(`set timezone = 'UTC'`);
  await fc.assert(
    fc.asyncProperty(fc.array(times), async (items) => {
      const { rows } = await client.query<{ times: Date[] }>('select $1::timestamptz[] as times', [
        timeArray(items),
      ]);
      expect(rows[0]?.times).toEqual(items);
    }),
    { numRuns: 100 },
  );
});

test('a number beyond its type is refused', () => {
  expect(() => integerArray([2 ** 31])).toThrow(RangeError);
  expect(() => bigintArray([2n ** 63n])).toThrow(RangeError);
});

test.each([1.5, NaN, Infinity])('%d is refused, because it is no integer', (number) => {
  expect(() => integerArray([number])).toThrow(TypeError);
  expect(() => bigintArray([number])).toThrow(RangeError);
});
