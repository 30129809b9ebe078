/** Repetition of work that did not get its locks, beside a second client. */
import pg from 'pg';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createEmptyDatabase } from '../../test/database.ts';
import type { TestDatabase } from '../../test/database.ts';
import { retryOnLock } from './lock-retry.ts';

let database: TestDatabase;
let client: pg.Client;
let holder: pg.Client;
beforeEach(async () => {
  database = await createEmptyDatabase();
  client = new pg.Client({ connectionString: database.url });
  holder = new pg.Client({ connectionString: database.url });
  await client.connect();
  await holder.connect();
  await client.query(`set lock_timeout = '1s'`);
});
afterEach(async () => {
  await client.end();
  await holder.end();
  await database.drop();
});

interface Work {
  calls: number;
  run(): Promise<void>;
}

/** Work that first fails so many times with this code of PostgreSQL. */
function workAfter(failures: number, code: string): Work {
  const work: Work = {
    calls: 0,
    run: async () => {
      work.calls += 1;
      if (work.calls <= failures)
        throw new Error('migration', { cause: Object.assign(new Error(code), { code }) });
    },
  };
  return work;
}

it('work is repeated while a transaction, which is not ended, holds the lock of a vacuum', async () => {
  await holder.query('create table "Other Table" (id text)');
  await holder.query('begin');
  await holder.query('lock table "Other Table" in share update exclusive mode');
  const work = workAfter(1, '55P03');
  const query = vi.spyOn(client, 'query');
  await retryOnLock(client, work.run);
  const texts = query.mock.calls.map(([statement]) => JSON.stringify(statement));
  const asked = 'lock table only public."Other Table" in share update exclusive mode';
  expect(texts).toContain(JSON.stringify(asked));
  expect(work.calls).toBe(2);
  expect((await client.query('show lock_timeout')).rows).toEqual([{ lock_timeout: '1s' }]);
  expect((await holder.query('select from "Other Table"')).rowCount).toBe(0);
  await holder.query('commit');
});

it('work is repeated after a deadlock, and not after another error', async () => {
  const work = workAfter(1, '40P01');
  await retryOnLock(client, work.run);
  expect(work.calls).toBe(2);
  const other = workAfter(1, '23505');
  await expect(retryOnLock(client, other.run)).rejects.toThrow('migration');
  expect(other.calls).toBe(1);
});
