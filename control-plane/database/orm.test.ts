/** Migration, runtime role and connection pool on a real database. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ADMIN_SHUTDOWN, createEmptyDatabase } from '../../test/database.ts';
import { UserSchema } from '../accounts/account.entity.ts';
import { newId } from './ids.ts';
import { createOrm, migrate } from './orm.ts';

type Orm = Awaited<ReturnType<typeof createOrm>>;

describe('the database', () => {
  let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
  let orm: Orm;
  beforeAll(async () => {
    database = await createEmptyDatabase();
    await Promise.all([migrate(database.url), migrate(database.url), migrate(database.url)]);
    orm = await createOrm(database.url);
  });
  afterAll(async () => {
    await orm.close(true);
    await database.drop();
  });

  it('is migrated once when several processes start together', async () => {
    const rows = await orm.em
      .fork()
      .execute<{ name: string }[]>('select name from mikro_orm_migrations order by id');
    const names = rows.map((row) => row.name);
    expect(names).toEqual([...new Set(names)]);
    expect(names[0]).toBe('001-accounts');
  });

  it('is used under the runtime role', async () => {
    expect(await orm.em.fork().execute('select current_user as role')).toEqual([{ role: 'gateway_runtime' }]);
  });

  it.each([false, true])('writes times in UTC in any time zone, as owner: %s', async (asOwner) => {
    const zoned = await createEmptyDatabase();
    const name = new URL(zoned.url).pathname.slice(1);
    const owner = await createOrm(zoned.url, { asOwner: true });
    await owner.em.fork().execute(`alter database ${name} set timezone = 'Asia/Kathmandu'`);
    await owner.close(true);
    const other = await createOrm(zoned.url, { asOwner });
    const rows = await other.em.fork()
      .execute(`select '2026-01-01T00:00Z'::timestamptz::text as at, reset_val as zone from pg_settings
        where name = 'TimeZone'`);
    await other.close(true);
    await zoned.drop();
    expect(rows).toEqual([{ at: '2026-01-01 00:00:00+00', zone: 'Asia/Kathmandu' }]);
  });

  it.each([
    [
      'it refuses connections',
      'postgres://me:hunter2@127.0.0.1:1/gateway',
      /127\.0\.0\.1:1\/gateway: .*ECONNREFUSED/,
    ],
    ['its host is unknown', 'postgres://me:hunter2@nowhere.invalid/gateway', /nowhere\.invalid\/gateway: /],
    ['its address is malformed', 'postgres://me:hunter2@[nowhere/gateway', /is not a valid address/],
  ])('is named by its variable, without its password, if %s', async (_name, url, expected) => {
    const error = await migrate(url).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    const message = error instanceof Error ? error.message : '';
    expect(message).toMatch(/^DATABASE_URL[^\n]*$/);
    expect(message).toMatch(expected);
    expect(message).not.toContain('hunter2');
  });

  it("is named by its variable, with PostgreSQL's message, if it does not exist", async () => {
    const address = new URL(database.url);
    address.pathname = '/nowhere';
    await expect(migrate(address.href)).rejects.toThrow(/^DATABASE_URL: .*"nowhere" does not exist/);
  });

  it('stores and finds rows', async () => {
    const em = orm.em.fork();
    em.create(UserSchema, { id: newId('usr'), email: 'a@example.com', allowedGroups: ['default'] });
    await em.flush();
    const found = await orm.em.fork().findOneOrFail(UserSchema, { email: 'a@example.com' });
    expect(found.allowedGroups).toEqual(['default']);
    expect(found.role).toBe('USER');
    expect(found.createdAt).toBeInstanceOf(Date);
  });

  it('closes although a statement waits for its connection', async () => {
    for (let turns = 0; turns < 60; turns += 1) {
      const closing = await createOrm(database.url);
      await closing.em.fork().execute('select 1');
      const statements = [1, 2, 3].map(() => closing.em.fork().execute('select 1'));
      // A statement whose connection did not come may fail, or not end.
      void Promise.allSettled(statements);
      // Each round closes at another moment of the new connections.
      for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      await closing.close(true);
    }
  });

  it('accepts new connections after others died in transactions', async () => {
    const owner = await createOrm(database.url, { asOwner: true });
    onTestFinished(() => owner.close(true));
    // The runtime role may not end a connection.
    await owner.em.fork().execute(`create function die() returns boolean language sql security definer
      as 'select pg_terminate_backend(pg_backend_pid())'`);
    onTestFinished(async () => {
      await owner.em.fork().execute('drop function die');
    });
    const small = await createOrm(database.url, { connectionsMax: 2 });
    onTestFinished(() => small.close(true));
    const ended = new Set<number>();
    const died = Array.from({ length: 5 }, () =>
      small.em.fork().transactional(async (em) => {
        const [row] = await em.execute<{ pid: number }[]>('select pg_backend_pid() as pid');
        if (row) ended.add(row.pid);
        await em.execute('select die()');
      }),
    );
    const killed = { status: 'rejected', reason: { code: ADMIN_SHUTDOWN } };
    expect(await Promise.allSettled(died)).toMatchObject(died.map(() => killed));
    expect(ended.size).toBe(died.length);
    expect(await small.em.fork().execute('select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('denies the runtime role changes of the audit log and of the list of migrations', async () => {
    const em = orm.em.fork();
    for (const statement of [
      'delete from audit_event',
      'update audit_event set action = $$x$$',
      'truncate audit_event',
      'delete from mikro_orm_migrations',
    ])
      await expect(em.execute(statement)).rejects.toThrow(/permission denied|append-only/);
  });
});
