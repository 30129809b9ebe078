/** Settlement where the log has no part for now: the database's clock leapt, or the job was away for long. */
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../context.ts';
import { UserFailure } from '../errors.ts';
import { query, sql } from '../sql.ts';
import { checkInvariants, INVARIANTS } from '../wallet/invariants.ts';
import { requestLease } from '../wallet/lease.service.ts';
import { walletById } from '../wallet/wallet.service.ts';
import { makeMonths } from './retention.service.ts';
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

interface Place {
  walletId: string;
  nodeId: string;
  journalId: string;
  leaseId: string;
}

/** A wallet of which a node holds ten requests. */
async function place(): Promise<Place> {
  const [{ walletId }, node] = await Promise.all([money.wallet({ cash: 100n * PRICE }), money.node()]);
  const asked = { keyId: null, requestNo: 1, need: PRICE, waiting: 0n, want: 10n * PRICE };
  const { id: leaseId } = await requestLease(money.em(), { ...node, ...asked, walletId });
  return { ...node, walletId, leaseId };
}

const settleAt = (at: Place, records: ReportedUsage[]) =>
  settle(money.em(), { node: { ...SYSTEM_ACTOR, kind: 'NODE', id: at.nodeId }, records });

const charge = (at: Place, seq: number, more: Partial<ReportedUsage> = {}): ReportedUsage =>
  reported({ ...at, seq, cost: PRICE, ...more });

const free = (at: Place): ReportedUsage =>
  reported({ ...at, journalId: null, leaseId: null, seq: null, cost: 0n, status: 'FAILED' });

async function monthsThere(): Promise<string[]> {
  const rows = await query<{ name: string }>(
    money.em(),
    sql`select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'usage_entry'::regclass order by 1`,
  );
  return rows.map(({ name }) => name);
}

/** As if none of the months around now had ever been made. */
async function unmakeMonths(): Promise<void> {
  for (const name of await monthsThere()) await owner.query(`drop table ${name}`);
  await owner.query('delete from usage_partition');
}

/**
 * Drops all months as the owner's function does, which would not yet: as if the clocks of all had been years
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

async function heldBy(at: Place): Promise<bigint | undefined> {
  return (await walletById(money.em(), at.walletId))?.held;
}

describe('settlement in a month that was not made', () => {
  it('makes it and settles the whole batch, once', async () => {
    const at = await place();
    await unmakeMonths();
    const records = [charge(at, 1), charge(at, 2), free(at)];
    expect(await settleAt(at, records)).toEqual({ accepted: 3, duplicates: 0, rejected: [] });
    expect(await settleAt(at, records)).toEqual({ accepted: 0, duplicates: 3, rejected: [] });
    expect(await heldBy(at)).toBe(8n * PRICE);
  });

  it('settles batches of many nodes that find it missing at the same time', async () => {
    const places = await Promise.all([place(), place(), place(), place()]);
    await unmakeMonths();
    const answers = await Promise.all(places.map((at) => settleAt(at, [charge(at, 1), free(at)])));
    for (const answer of answers) expect(answer).toEqual({ accepted: 2, duplicates: 0, rejected: [] });
    expect(await Promise.all(places.map(heldBy))).toEqual(places.map(() => 9n * PRICE));
  });

  it('makes the months around now alone, however far away the clocks of nodes are', async () => {
    const at = await place();
    await unmakeMonths();
    const years = [-50, -2, 2, 9_000].map((count) => new Date(Date.now() + count * 365 * 86_400_000));
    const records = years.map((said, index) => charge(at, index + 1, { at: said }));
    expect(await settleAt(at, records)).toMatchObject({ accepted: 4, rejected: [] });
    const made = await monthsThere();
    expect(await makeMonths(money.em())).toBe(0);
    expect(await monthsThere()).toEqual(made);
    expect(await heldBy(at)).toBe(6n * PRICE);
  });

  it('makes it again, and again, where it was dropped, and charges nothing twice', async () => {
    const at = await place();
    const records = [charge(at, 1), charge(at, 2), free(at)];
    await settleAt(at, records);
    for (const seq of [3, 4]) {
      await dropAllMonths();
      expect(await checkInvariants(money.em())).toEqual([]);
      expect(await settleAt(at, [charge(at, seq), free(at)])).toMatchObject({ accepted: 2, rejected: [] });
      expect(await settleAt(at, records.slice(0, 2))).toMatchObject({ accepted: 0, duplicates: 2 });
      expect(await checkInvariants(money.em())).toEqual([]);
    }
    expect(await heldBy(at)).toBe(6n * PRICE);
  });

  it.each([
    ['I8', 'update usage_partition set cost = cost + 1, charges = charges + 1 where dropped_at is not null'],
    ['I10', 'update usage_hour set requests = requests + 1'],
  ])('keeps what it held before in the books: %s finds what is at odds with it', async (rule, forgery) => {
    const at = await place();
    await settleAt(at, [charge(at, 1), free(at)]);
    await dropAllMonths();
    await settleAt(at, [charge(at, 2), free(at)]);
    await owner.query('begin');
    await owner.query(forgery);
    const found = INVARIANTS.find((one) => one.rule === rule)?.find ?? '';
    expect((await owner.query(found)).rowCount).toBe(1);
    await owner.query('rollback');
  });

  it('blames no record where the month cannot be made, and settles when it is there again', async () => {
    const at = await place();
    const months = await monthsThere();
    const bounds = await owner.query<{ name: string; lower: string; upper: string }>(
      'select name, lower_at::text as lower, upper_at::text as upper from usage_partition',
    );
    for (const name of months) await owner.query(`alter table usage_entry detach partition ${name}`);
    const settled = settleAt(at, [charge(at, 1), free(at)]);
    await expect(settled).rejects.not.toBeInstanceOf(UserFailure);
    await expect(settled).rejects.toMatchObject({ code: '23514' });
    for (const { name, lower, upper } of bounds.rows)
      await owner.query(
        `alter table usage_entry attach partition ${name} for values from ('${lower}') to ('${upper}')`,
      );
    expect(await settleAt(at, [charge(at, 1), free(at)])).toMatchObject({ accepted: 2 });
    expect(await heldBy(at)).toBe(9n * PRICE);
  });

  it('still blames a record that breaks a rule of the log itself', async () => {
    const at = await place();
    await owner.query(`alter table usage_entry add constraint usage_entry_ip check (ip <> '192.0.2.66')`);
    const refused = settleAt(at, [charge(at, 1, { ip: '192.0.2.66' })]);
    await expect(refused).rejects.toMatchObject({ name: 'UserFailure', code: 'INVALID' });
  });
});
