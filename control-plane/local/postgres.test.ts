import { expect, test } from 'vitest';
import pg from 'pg';
import { createTestDatabase } from '../../test/database.ts';

test('a test database is fresh and its own', async () => {
  const database = await createTestDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ name: string }>('select current_database() as name');
  expect(database.url).toContain(rows[0]?.name);
  await client.end();
  await database.drop();
});
