/** Tests of the command that fills a database with generated data. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp } from '../control/app.ts';
import type { TestApp } from '../control/app.ts';
import { query, sql } from '../../control-plane/database/sql.ts';
import { checkInvariants } from '../../control-plane/wallet/invariants.ts';
import { seedDatabase } from './seed.ts';

describe('a seeded database', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp();
  });
  afterAll(() => test.close());

  const seed = () =>
    seedDatabase(test.settings.databaseUrl, { users: 20, keys: 60, usage: 2000 }, () => undefined);

  it('keeps every invariant of the ledger, also when it is seeded again', async () => {
    await seed();
    await seed();
    expect(await checkInvariants(test.orm.em.fork())).toEqual([]);
    const [counts] = await query(
      test.orm.em.fork(),
      sql`select (select count(*) from usage_entry)::integer as usage,
        (select count(*) from api_key)::integer as keys,
        (select count(*) from config_log where kind = 'API_KEY')::integer as records`,
    );
    expect(counts).toEqual({ usage: 4000, keys: 120, records: 120 });
    const admin = await test.admin();
    const answer = await admin.send(
      '{ admin { users(first: 5) { totalCount nodes { wallet { balance } } } } }',
    );
    expect(answer.errors).toEqual([]);
  });

  it('cannot be one with real users', async () => {
    const other = await startTestApp();
    await other.user('somebody@example.org');
    await expect(
      seedDatabase(other.settings.databaseUrl, { users: 1, keys: 1, usage: 0 }, () => undefined),
    ).rejects.toThrow(/real users/);
    await other.close();
  });
});
