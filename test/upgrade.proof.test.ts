/**
 * A newer control plane changes the schema while older ones serve: traffic goes on, is settled, and nothing
 * is lost; old data stays what it was.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LLMock } from '@copilotkit/aimock';
import { Migration } from '@mikro-orm/migrations';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '../control-plane/migrations/index.ts';
import { createOrm, migrate } from '../control-plane/database/orm.ts';
import { checkInvariants } from '../control-plane/wallet/invariants.ts';
import type { Violation } from '../control-plane/wallet/invariants.ts';
import { createEmptyDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';
import { addCustomer, addUpstream, startHouse } from './house.ts';
import type { House } from './house.ts';
import { compare, traffic } from './house/traffic.ts';

/** The schema before the usage log had months and pools existed. */
const FIRST_SCHEMA = '010-playground';
const UNTIL_MS = 20_000;

/** A change that a later release may make to the tables that traffic writes. */
class Later extends Migration {
  override up(): void {
    this.addSql('lock table usage_entry in access exclusive mode');
    this.addSql('alter table usage_entry add column later_note text');
    this.addSql('alter table usage_charge add column later_note text');
    this.addSql('alter table ledger_account add column later_note text');
    this.addSql('create table later_runs (at timestamptz not null default now())');
    this.addSql('insert into later_runs default values');
  }
}
const LATER = [...migrations, { name: '999-later', class: Later }];

let database: TestDatabase;
let house: House | undefined;
const mock = new LLMock({ host: '127.0.0.1', port: 0, logLevel: 'silent', latency: 5, chunkSize: 20 });

beforeAll(async () => {
  mock.on({ predicate: () => true }, { content: 'word '.repeat(60) });
  await mock.start();
});

afterEach(async () => {
  await house?.stop();
  await database.drop();
});

afterAll(() => mock.stop());

async function open(): Promise<House> {
  house = await startHouse({ databaseUrl: database.url });
  await addUpstream(house, { baseUrl: `${mock.url}/v1`, models: ['budget'] });
  return house;
}

async function violations(): Promise<Violation[]> {
  const orm = await createOrm(database.url, { connectionsMax: 1 });
  const found = await checkInvariants(orm.em.fork());
  await orm.close(true);
  return found;
}

async function number(text: string): Promise<number> {
  const result = await house?.database.query<{ number: number }>(`select (${text})::integer as number`);
  return result?.rows[0]?.number ?? 0;
}

async function until(condition: () => Promise<boolean>, what: string): Promise<void> {
  const end = Date.now() + UNTIL_MS;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`Not in time: ${what}.`);
    await sleep(50);
  }
}

const charges = (): Promise<number> => number('select count(*) from usage_charge');
const waitingLocks = (): Promise<number> =>
  number(`select count(*) from pg_locks where not granted and relation = 'usage_entry'::regclass`);

describe('a newer control plane starts while an older one serves', () => {
  it('changes the schema once, and lets traffic continue while a long query reads', async () => {
    database = await createEmptyDatabase();
    const { url } = await open();
    const customer = await addCustomer(house as House, '100');
    const load = traffic(url, customer);
    await load.ended(50);
    const reader = new pg.Client({ connectionString: database.url });
    await reader.connect();
    await reader.query('begin');
    await reader.query('select count(*) from usage_entry');
    const migrated = Promise.all([migrate(database.url, LATER), migrate(database.url, LATER)]);
    await until(async () => (await waitingLocks()) > 0, 'the migration waits for the reader');
    const before = await charges();
    await until(async () => (await charges()) > before + 50, 'traffic is settled although the reader stays');
    expect(await number(`select count(*) from mikro_orm_migrations where name = '999-later'`)).toBe(0);
    await reader.query('commit');
    await reader.end();
    await migrated;
    expect(await number('select count(*) from later_runs')).toBe(1);
    const seen = load.seen.filter((item) => item.ended).length;
    await load.ended(seen + 50);
    await load.stop();
    await compare(house as House, { customer, seen: load.seen, cutAtMost: 0 });
    expect(load.seen.filter(({ ended }) => !ended)).toEqual([]);
    expect(await violations()).toEqual([]);
  }, 90_000);
});

describe('a database of the first schema', () => {
  it('keeps its money and its charges, and is served', async () => {
    database = await createEmptyDatabase();
    await migrateUntil(FIRST_SCHEMA);
    await fillFirstSchema();
    expect(await firstBalances()).toEqual(['wallet:wal_1:CASH 4970000', 'wallet:wal_1:GIFT 0']);
    const { url } = await open();
    const customer = await addCustomer(house as House, '10');
    const load = traffic(url, customer);
    await load.ended(30);
    await load.stop();
    await compare(house as House, { customer, seen: load.seen, cutAtMost: 0 });
    expect(await firstBalances()).toEqual(['wallet:wal_1:CASH 4970000', 'wallet:wal_1:GIFT 0']);
    expect(await number(`select amount from usage_charge where request_id = 'req_1'`)).toBe(30_000);
    expect(await number(`select sum(cost) from usage_hour where wallet_id = 'wal_1'`)).toBe(30_000);
    expect(await violations()).toEqual([]);
  }, 90_000);
});

async function migrateUntil(name: string): Promise<void> {
  const last = migrations.findIndex((one) => one.name === name);
  expect(last).toBeGreaterThan(0);
  await migrate(database.url, migrations.slice(0, last + 1));
}

/** A wallet of five dollars, and one request of it that was charged through a lease, as it then stood. */
async function fillFirstSchema(): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const post = (name: string, kind: string, from: string, to: string, amount: number): Promise<unknown> =>
    client.query(
      `select ledger_post(p_id => $1, p_kind => $2, p_reference => $1, p_actor_kind => 'SYSTEM',
        p_actor_id => null, p_description => 'test', p_reverses => null, p_input => $1, p_accounts => $3,
        p_amounts => $4, p_entries => $5)`,
      [name, kind, [from, to], [-amount, amount], [`${name}_a`, `${name}_b`]],
    );
  await client.query(`insert into users (id, email) values ('usr_1', 'first@example.com')`);
  await client.query(`insert into wallet (id, user_id) values ('wal_1', 'usr_1')`);
  await client.query(`select ledger_open_wallet('wal_1')`);
  await post('ltx_1', 'ADJUSTMENT', 'funding', 'wallet:wal_1:CASH', 5_000_000);
  await client.query(`insert into data_plane_node (id, name, token_digest, last_seen_at)
    values ('nod_1', 'first', 'none', now() - interval '40 days')`);
  await client.query(`insert into node_journal (id, node_id) values ('jnl_1', 'nod_1')`);
  await client.query(FIRST_LEASE);
  await client.query(`select ledger_open_lease('wal_1', 'lea_1')`);
  await post('ltx_2', 'LEASE_GRANT', 'wallet:wal_1:CASH', 'lease:lea_1:CASH', 30_000);
  await client.query(FIRST_USAGE);
  await post('ltx_3', 'USAGE', 'lease:lea_1:CASH', 'revenue:0', 30_000);
  await client.query(`insert into usage_charge (request_id, lease_id, journal_id, seq, amount, settlement,
    transaction_id) values ('req_1', 'lea_1', 'jnl_1', 1, 30000, 'LEASE', 'ltx_3')`);
  await client.end();
}

const FIRST_LEASE = `insert into wallet_lease (id, wallet_id, node_id, journal_id, request_no, granted_cash,
    granted_gift, charge_count, charge_sum, state, ended_at)
  values ('lea_1', 'wal_1', 'nod_1', 'jnl_1', 1, 30000, 0, 1, 30000, 'CLOSED', now())`;
const FIRST_USAGE = `insert into usage_entry (request_id, id, at, node_id, key_id, wallet_id, billing_group,
    source, model_name, family, base_price, ratio, cost, status, outcome, http_status, streamed, latency_ms)
  values ('req_1', 'use_1', now() - interval '40 days', 'nod_1', 'key_1', 'wal_1', 'default', 'API_KEY',
    'budget', 'chat_completions', 30000, '1', 30000, 'SUCCEEDED', 'COMPLETED', 200, false, 1)`;

async function firstBalances(): Promise<string[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ line: string }>(
    `select id || ' ' || balance as line from ledger_account where wallet_id = 'wal_1' and kind = 'WALLET'
      order by id`,
  );
  await client.end();
  return rows.map(({ line }) => line);
}
