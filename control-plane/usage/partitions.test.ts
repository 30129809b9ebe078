/** Tests of the monthly partitions of the usage log: creating, dropping, and migrating an old log. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import pg from 'pg';
import type { MikroORM } from '@mikro-orm/postgresql';
import { ageLog } from '../../test/archive/old-log.ts';
import { createEmptyDatabase } from '../../test/database.ts';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { newId } from '../database/ids.ts';
import { migrations } from '../migrations/index.ts';
import { createOrm, migrate } from '../database/orm.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { checkInvariants } from '../wallet/invariants.ts';
import { requestLease } from '../wallet/lease.service.ts';
import { dropPartitions, makePartitions } from './retention.service.ts';
import { settle } from './settlement.service.ts';
import type { ReportedUsage } from './settlement.rules.ts';
import { usageOfRequest } from './usage.service.ts';

const PRICE = 100n;
/** The last migration before the log was partitioned by months. */
const BEFORE = '010-playground';

let money: Money;
let owner: MikroORM;
beforeAll(async () => {
  money = await openMoney();
  owner = await createOrm(money.url, { asOwner: true, connectionsMax: 1 });
});
afterAll(async () => {
  await owner.close(true);
  await money.close();
});

interface Setting {
  userId: string;
  walletId: string;
  nodeId: string;
  journalId: string;
  leaseId: string;
}

async function setting(): Promise<Setting> {
  const [wallet, node] = await Promise.all([money.wallet({ cash: 1000n * PRICE }), money.node()]);
  const lease = await requestLease(money.em(), {
    ...node,
    walletId: wallet.walletId,
    keyId: null,
    requestNo: 1,
    need: PRICE,
    waiting: 0n,
    want: 100n * PRICE,
  });
  return { ...wallet, ...node, leaseId: lease.id };
}

const settleAll = (of: Setting, records: ReportedUsage[]) =>
  settle(money.em(), { node: { ...SYSTEM_ACTOR, kind: 'NODE', id: of.nodeId }, records });

const charge = (of: Setting, seq: number): ReportedUsage =>
  reported({ journalId: of.journalId, leaseId: of.leaseId, walletId: of.walletId, seq, cost: PRICE });

const free = (of: Setting): ReportedUsage =>
  reported({ journalId: null, leaseId: null, seq: null, walletId: of.walletId, cost: 0n, status: 'FAILED' });

describe('the partitioned usage log', () => {
  it('charges a request id once although no unique index spans the months', async () => {
    const of = await setting();
    const records = [charge(of, 1), charge(of, 2), free(of)];
    const lastMonth = records.map((record) => ({ ...record, at: new Date(Date.now() - 40 * 3_600_000) }));
    expect(await settleAll(of, records)).toMatchObject({ accepted: 3 });
    expect(await settleAll(of, lastMonth)).toMatchObject({ accepted: 0, duplicates: 3, rejected: [] });
    const [count] = await query<{ count: number }>(
      money.em(),
      sql`select count(*)::integer as count from usage_entry where wallet_id = ${of.walletId}`,
    );
    expect(count?.count).toBe(3);
  });

  it('creates months ahead once, also when two processes do it at the same time', async () => {
    await Promise.all([makePartitions(money.em()), makePartitions(money.em())]);
    expect(await makePartitions(money.em())).toBe(0);
    const row = await queryOne<{ ahead: boolean }>(
      money.em(),
      sql`select max(upper_at) > now() + interval '90 days' as ahead from usage_partition`,
    );
    expect(row?.ahead).toBe(true);
  });

  it('changes the width of new partitions without a gap or an overlap, back and forth', async () => {
    const em = owner.em.fork();
    const make = (from: string, until: string, width: string) =>
      queryOne<{ made: number }>(
        em,
        sql`select usage_make_partitions(${from}::timestamptz, ${until}::timestamptz, ${width}) as made`,
      );
    expect(await make('2031-01-10Z', '2031-01-12Z', 'day')).toEqual({ made: 2 });
    expect(await make('2031-01-05Z', '2031-02-03Z', 'week')).toEqual({ made: 6 });
    expect(await make('2031-01-05Z', '2031-04-10Z', 'month')).toEqual({ made: 3 });
    expect(await make('2031-01-01Z', '2031-04-30Z', 'day')).toEqual({ made: 0 });
    const rows = await query<{ lower: string; upper: string }>(
      em,
      sql`select lower_at::date::text as lower, upper_at::date::text as upper from usage_partition
        where lower_at >= '2030-12-01Z' order by lower_at`,
    );
    expect(rows.slice(1).map(({ lower }) => lower)).toEqual(rows.slice(0, -1).map(({ upper }) => upper));
    expect([rows[0]?.lower, rows.at(-1)?.upper]).toEqual(['2030-12-30', '2031-05-01']);
    await expect(make('2032-01-01Z', '2032-01-02Z', 'hour')).rejects.toThrow('not a hour');
  });

  it('drops months after the retention time, and still charges nothing twice', async () => {
    const of = await setting();
    const records = [charge(of, 1), charge(of, 2), free(of)];
    await settleAll(of, records);
    await ageLog(owner);
    expect(await checkInvariants(money.em())).toEqual([]);
    expect(await dropPartitions(money.em(), null)).toEqual([]);
    expect(await dropPartitions(money.em(), 365)).toEqual([]);
    // Only the database's clock is far ahead.
    expect(await dropPartitions(money.em(), 30, new Date(Date.now() - 10 * 365 * 86_400_000))).toEqual([]);
    const dropped = await dropPartitions(money.em(), 30);
    expect(dropped.length).toBeGreaterThan(0);
    expect(await usageOfRequest(money.em(), records[0]?.requestId ?? '', of.userId)).toBeUndefined();
    expect(await checkInvariants(money.em())).toEqual([]);
    const again = await settleAll(of, records.slice(0, 2));
    expect(again).toEqual({ accepted: 0, duplicates: 2, rejected: [] });
    const [sums] = await query<{ cost: string }>(
      money.em(),
      sql`select sum(cost)::text as cost from usage_hour where wallet_id = ${of.walletId}`,
    );
    expect(sums?.cost).toBe((2n * PRICE).toString());
  });

  it('lets the runtime role neither drop recent months nor delete rows of any month', async () => {
    const of = await setting();
    await settleAll(of, [charge(of, 1)]);
    const future = sql`select usage_drop_partition(now() + interval '10 years') as name`;
    expect(await queryOne(money.em(), future)).toEqual({ name: null });
    const names = await query<{ name: string }>(
      money.em(),
      sql`select name from usage_partition where dropped_at is null`,
    );
    for (const name of ['usage_entry', ...names.map((row) => row.name)])
      await expect(money.em().execute(`delete from ${name}`)).rejects.toThrow(/refused|permission/);
  });
});

describe('the migration of a log that is in use', () => {
  it('keeps every row and charge, and waits for a settlement in progress', async () => {
    const database = await createEmptyDatabase();
    const owner = new pg.Client({ connectionString: database.url });
    await owner.connect();
    try {
      await migrateUntil(database.url, BEFORE);
      const requests = await fillOldLog(owner);
      const settling = new pg.Client({ connectionString: database.url });
      await settling.connect();
      await settling.query('begin');
      await insertOld(settling, { requestId: 'req_late', at: new Date() });
      const migrated = migrate(database.url);
      await settling.query('commit');
      await settling.end();
      await migrated;
      const { rows } = await owner.query<{ request_id: string }>('select request_id from usage_entry');
      expect(rows.map((row) => row.request_id).toSorted()).toEqual([...requests, 'req_late'].toSorted());
      const { rows: sums } = await owner.query(
        `select (select sum(cost) from usage_hour) = (select sum(cost) from usage_entry) as same,
          (select count(*) from usage_request)::integer as ids`,
      );
      expect(sums[0]).toEqual({ same: true, ids: requests.length + 1 });
      const orm = await createOrm(database.url);
      expect(await checkInvariants(orm.em.fork())).toEqual([]);
      await orm.close(true);
    } finally {
      await owner.end();
      await database.drop();
    }
  });
});

async function migrateUntil(url: string, name: string): Promise<void> {
  const orm = await createOrm(url, { asOwner: true, connectionsMax: 1 });
  expect(migrations.map((one) => one.name)).toContain(name);
  await orm.migrator.up({ to: name });
  await orm.close(true);
}

/** Inserts free requests over four months, which migrate into the oldest partition. */
async function fillOldLog(client: pg.Client): Promise<string[]> {
  await client.query(`insert into users (id, email) values ('usr_1', 'one@example.com')`);
  await client.query(`insert into wallet (id, user_id) values ('wal_1', 'usr_1')`);
  const requests = Array.from({ length: 40 }, (_, at) => `req_${at}`);
  for (const [index, requestId] of requests.entries())
    await insertOld(client, { requestId, at: new Date(Date.now() - index * 3 * 86_400_000) });
  return requests;
}

async function insertOld(
  client: pg.Client,
  { requestId, at }: { requestId: string; at: Date },
): Promise<void> {
  await client.query(
    `insert into usage_entry (request_id, id, at, node_id, key_id, wallet_id, billing_group, source,
      model_name, family, base_price, ratio, cost, status, outcome, http_status, streamed, latency_ms)
    values ($1, $2, $3, 'nod_1', 'key_1', 'wal_1', 'default', 'API_KEY', 'swift', 'chat_completions', 0, '1',
      0, 'FAILED', 'REFUSED', 400, false, 1)`,
    [requestId, newId('use'), at],
  );
}
