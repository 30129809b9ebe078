/**
 * Tests of settlement while the usage log has no partition for now: the clock jumped, or the job did not run.
 */
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { query, sql } from '../database/sql.ts';
import { checkInvariants, INVARIANTS } from '../wallet/invariants.ts';
import { requestLease } from '../wallet/lease.service.ts';
import { walletById } from '../wallet/wallet.service.ts';
import { makePartitions } from './retention.service.ts';
import { settle } from './settlement.service.ts';
import type { ReportedUsage } from './settlement.rules.ts';

const PRICE = 100n;

let money: Money;
let owner: pg.Client;
beforeEach(async () => {
  money = await openMoney();
  owner = new pg.Client({ connectionString: money.url });
  await owner.connect();
});
afterEach(async () => {
  expect(await checkInvariants(money.em())).toEqual([]);
  await owner.end();
  await money.close();
});

interface Setting {
  walletId: string;
  nodeId: string;
  journalId: string;
  leaseId: string;
}

/** A wallet and a node that has a lease for ten requests. */
async function setting(): Promise<Setting> {
  const [{ walletId }, node] = await Promise.all([money.wallet({ cash: 100n * PRICE }), money.node()]);
  const request = { keyId: null, requestNo: 1, need: PRICE, waiting: 0n, want: 10n * PRICE };
  const { id: leaseId } = await requestLease(money.em(), { ...node, ...request, walletId });
  return { ...node, walletId, leaseId };
}

const settleAll = (of: Setting, records: ReportedUsage[]) =>
  settle(money.em(), { node: { ...SYSTEM_ACTOR, kind: 'NODE', id: of.nodeId }, records });

const charge = (of: Setting, seq: number, more: Partial<ReportedUsage> = {}): ReportedUsage =>
  reported({ ...of, seq, cost: PRICE, ...more });

const free = (of: Setting): ReportedUsage =>
  reported({ ...of, journalId: null, leaseId: null, seq: null, cost: 0n, status: 'FAILED' });

async function monthsThere(): Promise<string[]> {
  const rows = await query<{ name: string }>(
    money.em(),
    sql`select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'usage_entry'::regclass order by 1`,
  );
  return rows.map(({ name }) => name);
}

/** Removes all months, as if they had never been created. */
async function removeMonths(): Promise<void> {
  for (const name of await monthsThere()) await owner.query(`drop table ${name}`);
  await owner.query('delete from usage_partition');
}

/**
 * Drops all months like the database function, which refuses recent months: as if all clocks had been years
 * ahead for a while.
 */
async function dropAllMonths(): Promise<void> {
  const { rows } = await owner.query<{ name: string }>(
    'select name from usage_partition where dropped_at is null',
  );
  for (const { name } of rows) {
    await owner.query(`delete from usage_request r using ${name} u
      where r.request_id = u.request_id and u.cost = 0`);
    await owner.query(
      `update usage_partition p set dropped_at = clock_timestamp(), requests = u.requests,
        charges = u.charges, cost = u.cost
      from (select count(*) as requests, count(*) filter (where cost > 0) as charges,
        coalesce(sum(cost), 0) as cost from ${name}) u where p.name = $1`,
      [name],
    );
    await owner.query(`alter table usage_entry detach partition ${name}`);
    await owner.query(`drop table ${name}`);
  }
}

async function heldBy(of: Setting): Promise<bigint | undefined> {
  return (await walletById(money.em(), of.walletId))?.held;
}

describe('settlement in a missing month', () => {
  it('creates the month and settles the whole batch once', async () => {
    const of = await setting();
    await removeMonths();
    const records = [charge(of, 1), charge(of, 2), free(of)];
    expect(await settleAll(of, records)).toEqual({ accepted: 3, duplicates: 0, rejected: [] });
    expect(await settleAll(of, records)).toEqual({ accepted: 0, duplicates: 3, rejected: [] });
    expect(await heldBy(of)).toBe(8n * PRICE);
  });

  it('settles concurrent batches of several nodes', async () => {
    const all = await Promise.all([setting(), setting(), setting(), setting()]);
    await removeMonths();
    const answers = await Promise.all(all.map((of) => settleAll(of, [charge(of, 1), free(of)])));
    for (const answer of answers) expect(answer).toEqual({ accepted: 2, duplicates: 0, rejected: [] });
    expect(await Promise.all(all.map(heldBy))).toEqual(all.map(() => 9n * PRICE));
  });

  it('creates only the months around the present, regardless of times that nodes report', async () => {
    const of = await setting();
    await removeMonths();
    const years = [-50, -2, 2, 9_000].map((count) => new Date(Date.now() + count * 365 * 86_400_000));
    const records = years.map((time, index) => charge(of, index + 1, { at: time }));
    expect(await settleAll(of, records)).toMatchObject({ accepted: 4, rejected: [] });
    const made = await monthsThere();
    expect(await makePartitions(money.em())).toBe(0);
    expect(await monthsThere()).toEqual(made);
    expect(await heldBy(of)).toBe(6n * PRICE);
  });

  it('creates a dropped month again, also several times, and charges nothing twice', async () => {
    const of = await setting();
    const records = [charge(of, 1), charge(of, 2), free(of)];
    await settleAll(of, records);
    for (const seq of [3, 4]) {
      await dropAllMonths();
      expect(await checkInvariants(money.em())).toEqual([]);
      expect(await settleAll(of, [charge(of, seq), free(of)])).toMatchObject({ accepted: 2, rejected: [] });
      expect(await settleAll(of, records.slice(0, 2))).toMatchObject({ accepted: 0, duplicates: 2 });
      expect(await checkInvariants(money.em())).toEqual([]);
    }
    expect(await heldBy(of)).toBe(6n * PRICE);
  });

  it.each([
    ['I8', 'update usage_partition set cost = cost + 1, charges = charges + 1 where dropped_at is not null'],
    ['I10', 'update usage_hour set requests = requests + 1'],
  ])('keeps the totals of the dropped month: rule %s finds a wrong total', async (rule, forgery) => {
    const of = await setting();
    await settleAll(of, [charge(of, 1), free(of)]);
    await dropAllMonths();
    await settleAll(of, [charge(of, 2), free(of)]);
    await owner.query('begin');
    await owner.query(forgery);
    const found = INVARIANTS.find((one) => one.rule === rule)?.find ?? '';
    expect((await owner.query(found)).rowCount).toBe(1);
    await owner.query('rollback');
  });

  it('rejects no record if the month cannot be created, and settles once it exists', async () => {
    const of = await setting();
    const months = await monthsThere();
    const bounds = await owner.query<{ name: string; lower: string; upper: string }>(
      'select name, lower_at::text as lower, upper_at::text as upper from usage_partition',
    );
    for (const name of months) await owner.query(`alter table usage_entry detach partition ${name}`);
    const settled = settleAll(of, [charge(of, 1), free(of)]);
    await expect(settled).rejects.not.toBeInstanceOf(UserFailure);
    await expect(settled).rejects.toMatchObject({ code: '23514' });
    for (const { name, lower, upper } of bounds.rows)
      await owner.query(
        `alter table usage_entry attach partition ${name} for values from ('${lower}') to ('${upper}')`,
      );
    expect(await settleAll(of, [charge(of, 1), free(of)])).toMatchObject({ accepted: 2 });
    expect(await heldBy(of)).toBe(9n * PRICE);
  });

  it('throws INVALID for a record that violates a named constraint of the log', async () => {
    const of = await setting();
    await owner.query(`alter table usage_entry add constraint usage_entry_ip check (ip <> '192.0.2.66')`);
    const refused = settleAll(of, [charge(of, 1, { ip: '192.0.2.66' })]);
    await expect(refused).rejects.toMatchObject({ name: 'UserFailure', code: 'INVALID' });
  });
});
