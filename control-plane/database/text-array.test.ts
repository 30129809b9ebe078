/** Arrays of texts reach PostgreSQL with every item unchanged. */
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { textArray } from './text-array.ts';

let client: pg.Client;
beforeAll(async () => {
  client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
});
afterAll(() => client.end());

const read = async (items: (string | null)[]): Promise<unknown> => {
  const { rows } = await client.query<{ items: unknown }>('select $1::text[] as items', [textArray(items)]);
  return rows[0]?.items;
};

test('PostgreSQL reads the texts that were written', async () => {
  const texts = fc.oneof(
    fc.constantFrom(null, '', 'NULL', '"', '{', ',', ' a ', 'é', '😀'),
    fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(texts), async (items) => {
      expect(await read(items)).toEqual(items);
    }),
    { numRuns: 200 },
  );
});

test('PostgreSQL refuses a text with NUL as it does in the text format', async () => {
  await expect(read(['a\0b'])).rejects.toMatchObject({ code: '22021' });
});
