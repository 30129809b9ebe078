/**
 * Pending migrations of the ledger and the usage log: they give way to transactions of traffic, whatever
 * these lock first, and replace the indexes of all partitions.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrate } from '../control-plane/database/orm.ts';
import { migrations } from '../control-plane/migrations/index.ts';
import { createEmptyDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';
import { withPostgres } from './with-postgres.ts';

const UNTIL_MS = 20_000;
/** Time for a server of its own, two upgrades, and the vacuum that begins between them. */
const VACUUM_TEST_MS = 240_000;
const VACUUM_BEGINS_MS = 60_000;
const POLL_MS = 20;
/** The tables that the transaction which waits for a lock has locked against writers. */
const HELD = `select array(select h.relation::regclass || ' ' || h.mode from pg_locks h
    where h.pid = w.pid and h.granted and h.locktype = 'relation'
      and h.mode in ('ShareLock', 'ShareRowExclusiveLock', 'AccessExclusiveLock')) as held
  from pg_locks w join pg_database d on d.oid = w.database
  where not w.granted and w.locktype = 'relation' and d.datname = current_database() limit 1`;
const ACCOUNT = 'select from ledger_account for no key update';
const LEASE = 'select from wallet_lease for no key update';

let database: TestDatabase;
let traffic: pg.Client;
let watcher: pg.Client;
beforeEach(async () => {
  database = await createEmptyDatabase();
  traffic = new pg.Client({ connectionString: database.url });
  watcher = new pg.Client({ connectionString: database.url });
  await traffic.connect();
  await watcher.connect();
});
afterEach(async () => {
  await traffic.end();
  await watcher.end();
  await database.drop();
});

/** The locks of the migration when it waits for a further one. */
async function heldWhileWaiting(): Promise<string[]> {
  const end = Date.now() + UNTIL_MS;
  while (Date.now() < end) {
    const { rows } = await watcher.query<{ held: string[] }>(HELD);
    if (rows[0]) return rows[0].held;
    await sleep(POLL_MS);
  }
  throw new Error('The migration did not wait for a lock.');
}

const before = (name: string) =>
  migrations.slice(
    0,
    migrations.findIndex((one) => one.name === name),
  );

/** Migrates from before the named migration, beside a transaction that runs two statements. */
async function migrateBeside(name: string, first: string, second: string): Promise<string[]> {
  await migrate(database.url, before(name));
  await traffic.query('begin');
  await traffic.query(first);
  const migrated = migrate(database.url);
  const held = await heldWhileWaiting();
  await traffic.query(second);
  await traffic.query('commit');
  await migrated;
  return held;
}

describe.each([
  '085-latency',
  '087-wallet-history',
  '089-folded-leases',
  '053-shared-sums',
  '063-lean-settlement',
  '064-short-checks',
])('an upgrade from before %s', (name) => {
  it('waits for a grant, which locks accounts first, before it works, and both end', async () => {
    const held = await migrateBeside(name, ACCOUNT, 'update wallet_lease set released = released');
    expect(held).toEqual(['wallet_lease AccessExclusiveLock']);
  });

  it('waits for a report, which locks a lease first, without a lock, and both end', async () => {
    expect(await migrateBeside(name, LEASE, ACCOUNT)).toEqual([]);
  });
});

describe('an upgrade from before 091-extra-requests to before 053-shared-sums', () => {
  it('ends while a transaction writes to the tables of the ledger', async () => {
    await migrate(database.url, before('091-extra-requests'));
    await traffic.query('begin');
    const tables = 'wallet_lease, ledger_account, ledger_entry, usage_entry, wallet, node_journal';
    await traffic.query(`lock table ${tables} in row exclusive mode`);
    await migrate(database.url, before('053-shared-sums'));
    await traffic.query('commit');
  });
});

/** A server with an automatic vacuum that takes minutes, of one month of the usage log. Returns its table. */
async function startVacuum(server: pg.Client): Promise<string> {
  await server.query('begin');
  // Without the references of entries.
  await server.query('set local session_replication_role = replica');
  await server.query(entriesOf('now()', 'generate_series(1, 20000)'));
  const { rows } = await server.query<{ name: string }>(
    'select tableoid::regclass::text as name from usage_entry limit 1',
  );
  const name = rows[0]?.name ?? '';
  await server.query(`alter table ${name} set (autovacuum_vacuum_insert_threshold = 1,
    autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_cost_delay = 100,
    autovacuum_vacuum_cost_limit = 1)`);
  await server.query('commit');
  await server.query(`alter system set autovacuum_naptime = '1s'`);
  await server.query('select pg_reload_conf()');
  await expect
    .poll(async () => (await server.query(VACUUMED, [name])).rowCount, {
      timeout: VACUUM_BEGINS_MS,
      interval: POLL_MS,
    })
    .toBe(1);
  // No second vacuum starts after the first one was ended.
  await server.query('alter system reset autovacuum_naptime');
  await server.query('select pg_reload_conf()');
  return name;
}
const VACUUMED = 'select from pg_stat_progress_vacuum where relid = $1::regclass';

describe('an upgrade during an automatic vacuum of a large table', () => {
  it('ends the vacuum', { timeout: VACUUM_TEST_MS }, async () => {
    await withPostgres('vacuum', async (url) => {
      await migrate(url, before('063-lean-settlement'));
      const server = new pg.Client({ connectionString: url });
      await server.connect();
      try {
        const name = await startVacuum(server);
        await migrate(url);
        const { rows } = await server.query(
          'select autovacuum_count::integer as completed from pg_stat_all_tables where relid = $1::regclass',
          [name],
        );
        expect(rows).toEqual([{ completed: 0 }]);
      } finally {
        await server.end();
      }
    });
  });
});

describe('the migration of the key of the usage log', () => {
  it('changes all partitions, and keeps their rows and the indexes of the ledger', async () => {
    await migrate(database.url, before('063-lean-settlement'));
    await traffic.query(`insert into users (id, email) values ('usr_1', 'one@example.com')`);
    await traffic.query(`insert into wallet (id, user_id) values ('wal_1', 'usr_1')`);
    await traffic.query(entriesOf(`now() + number * interval '31 days'`, 'generate_series(0, 1)'));
    const ledger = await indexesOf('ledger_entry');
    await migrate(database.url);
    expect(await indexesOf('ledger_entry')).toEqual(ledger);
    const { rows } = await traffic.query<{ name: string; rows: number }>(
      `select tableoid::regclass::text as name, count(*)::integer as rows from usage_entry group by 1`,
    );
    expect(rows.map((row) => row.rows)).toEqual([1, 1]);
    const log = await indexesOf('usage_entry');
    expect(log).toContain('unique (at, request_id)');
    for (const { name } of rows) expect(await indexesOf(name)).toEqual(log);
  });
});

/** Writes an entry of the usage log for each of these numbers, with a time that may depend on `number`. */
const entriesOf = (at: string, numbers: string): string => `
  insert into usage_entry (request_id, id, at, node_id, key_id, wallet_id, billing_group, source, model_name,
    family, base_price, ratio, cost, status, outcome, http_status, streamed, latency_ms)
  select 'req_' || number, 'use_' || number, ${at}, 'nod_1', 'key_1', 'wal_1', 'default', 'API_KEY', 'swift',
    'chat_completions', 0, '1', 0, 'FAILED', 'REFUSED', 400, false, 1
  from ${numbers} number`;

/** The indexes of a table, without the names that differ between partitions. */
async function indexesOf(table: string): Promise<string[]> {
  const { rows } = await traffic.query<{ text: string }>(
    `select case when indisunique then 'unique ' else '' end || regexp_replace(pg_get_indexdef(indexrelid),
      '^.* USING btree ', '') as text from pg_index where indrelid = $1::regclass order by 1`,
    [table],
  );
  return rows.map(({ text }) => text);
}
