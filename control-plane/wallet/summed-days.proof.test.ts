/** The summed days of wallets equal the ledger after random batches of charges on many days. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { createOrm } from '../database/orm.ts';
import { query, queryRow, sql } from '../database/sql.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { CheckedDays } from '../migrations/092-checked-days.ts';
import { settle } from '../usage/settlement.service.ts';
import { checkInvariants } from './invariants.ts';
import { requestLease } from './lease.service.ts';
import { creditCash } from './movements.ts';
import { brokenUsageDays } from './summed-days.ts';
import { sumUpUsageDays } from './usage-days.ts';

const BATCHES = 60;
/** Leaves time for a busy machine. */
const FOR_BATCHES_MS = 120_000;
const WALLETS = 3;
const CASH = 9_000_000n;
const GIFT = 500n;

let money: Money;
let owner: MikroORM;
let node: { nodeId: string; journalId: string };
const leases: { walletId: string; leaseId: string }[] = [];
let seq = 0;

beforeAll(async () => {
  money = await openMoney();
  owner = await createOrm(money.url, { asOwner: true, connectionsMax: 1 });
  node = await money.node();
  for (let at = 0; at < WALLETS; at += 1) {
    const { walletId } = await money.wallet({ cash: CASH, gift: GIFT });
    const amounts = { need: 1n, want: CASH, waiting: CASH };
    const request = { ...node, walletId, keyId: null, requestNo: at + 1, ...amounts };
    leases.push({ walletId, leaseId: (await requestLease(money.em(), request)).id });
  }
});
afterAll(async () => {
  expect(await checkInvariants(money.em())).toEqual([]);
  await owner.close(true);
  await money.close();
});

/** Moves all entries of the ledger, and the days that are summed, one day back. */
async function passDay(): Promise<void> {
  await owner.em.fork().transactional(async (em: EntityManager) => {
    await query(em, sql`set local session_replication_role = 'replica'`);
    await query(em, sql`update ledger_entry set at = at - interval '1 day'`);
    // Two steps, so that no row gets the day of another one in between.
    for (const days of [-10_001, 10_000])
      await query(em, sql`update wallet_usage_day set day = day + ${days}::integer`);
    await query(em, sql`update wallet_usage_range set day = day - 1`);
  });
}

async function charge(costs: readonly { wallet: number; cost: number }[]): Promise<void> {
  const records = costs.map(({ wallet, cost }) => {
    seq += 1;
    const { walletId = '', leaseId = '' } = leases[wallet] ?? {};
    return reported({ journalId: node.journalId, seq, walletId, leaseId, cost: BigInt(cost) });
  });
  await settle(money.em(), { node: { ...SYSTEM_ACTOR, kind: 'NODE', id: node.nodeId }, records });
}

const batch = fc.record({
  costs: fc.array(fc.record({ wallet: fc.nat(WALLETS - 1), cost: fc.integer({ min: 1, max: 99 }) }), {
    minLength: 1,
    maxLength: 5,
  }),
  topUp: fc.option(fc.nat(WALLETS - 1), { nil: undefined }),
  isNextDay: fc.boolean(),
  isSummed: fc.boolean(),
});

it(
  'the summed days of wallets equal the ledger after random batches, days and runs of the job',
  async () => {
    await fc.assert(
      fc.asyncProperty(batch, async ({ costs, topUp, isNextDay, isSummed }) => {
        await charge(costs);
        if (topUp !== undefined)
          await creditCash(money.em(), {
            ...{
              walletId: leases[topUp]?.walletId ?? '',
              amount: 7n,
              kind: 'TOP_UP_CARD',
              actor: SYSTEM_ACTOR,
            },
            ...{ reference: `top-up:${seq}`, description: 'test' },
          });
        if (isNextDay) await passDay();
        if (isSummed) await sumUpUsageDays(money.em());
        expect(await query(money.em(), brokenUsageDays())).toEqual([]);
      }),
      { numRuns: BATCHES, endOnFailure: true },
    );
    const { days } = await queryRow<{ days: number }>(
      money.em(),
      sql`select count(*)::integer as days from wallet_usage_range`,
    );
    expect(days).toBeGreaterThan(1);
  },
  FOR_BATCHES_MS,
);

it('days that a control plane of the release before has summed are compared with the next day', async () => {
  await query(
    money.em(),
    sql`delete from wallet_usage_range where lower_seq = (select max(lower_seq) from wallet_usage_range)`,
  );
  expect(await query(money.em(), brokenUsageDays())).toEqual([]);
  for (let days = 0; days < 2; days += 1) {
    await charge([{ wallet: 0, cost: 5 }]);
    await passDay();
  }
  await sumUpUsageDays(money.em());
  expect(await query(money.em(), brokenUsageDays())).toEqual([]);
  const change = (by: number) =>
    query(
      owner.em.fork(),
      sql`update wallet_usage_day set amount = amount + ${by} where (wallet_id, bucket, last_seq) in
        (select wallet_id, bucket, last_seq from wallet_usage_day order by last_seq desc offset 3 limit 1)`,
    );
  await change(1);
  expect(await query(money.em(), brokenUsageDays())).toHaveLength(1);
  await change(-1);
});

/** Thrown to roll the migration back. */
class Rollback extends Error {}

interface Range {
  day: string;
  lower: number;
  upper: number;
}

/** The ranges that migration 092 creates after a statement, with the violations of all ranges. */
async function rangesOfMigration(before: string): Promise<{ ranges: Range[]; violations: unknown[] }> {
  const found: { ranges: Range[]; violations: unknown[] } = { ranges: [], violations: [] };
  const migration = new CheckedDays(owner.em.getDriver(), owner.config);
  migration.up();
  const run = async (em: EntityManager): Promise<never> => {
    await query(em, sql`drop table wallet_usage_range`);
    await query(em, sql`drop index wallet_usage_day_last`);
    await query(em, { text: before, values: [] });
    for (const text of migration.getQueries()) await query(em, { text: `${text as string}`, values: [] });
    found.ranges = await query(
      em,
      sql`select day::text, lower_seq::integer as lower, upper_seq::integer as upper
        from wallet_usage_range order by lower_seq`,
    );
    found.violations = await query(em, brokenUsageDays());
    throw new Rollback();
  };
  await owner.em
    .fork()
    .transactional(run)
    .catch((error: unknown) => {
      if (!(error instanceof Rollback)) throw error;
    });
  return found;
}

describe('the migration of a database with summed days', () => {
  it('creates one range for each day, which equals the ledger', async () => {
    const days = await query<{ day: string }>(
      money.em(),
      sql`select distinct day::text from wallet_usage_day order by day`,
    );
    const { ranges, violations } = await rangesOfMigration('select 1');
    expect(ranges.map(({ day }) => ({ day }))).toEqual(days);
    expect(ranges.length).toBeGreaterThan(1);
    expect(violations).toEqual([]);
  });

  it('creates ranges up to the end of the summed days, without gaps', async () => {
    const { end } = await queryRow<{ end: number }>(
      money.em(),
      sql`select next_seq::integer as end from wallet_usage_seal`,
    );
    const { ranges } = await rangesOfMigration('select 1');
    expect(ranges.map(({ lower }) => lower)).toEqual([0, ...ranges.slice(0, -1).map(({ upper }) => upper)]);
    expect(ranges.at(-1)?.upper).toBe(end);
  });

  it('creates one range for days that overlap because the clock was set back', async () => {
    const { ranges, violations } = await rangesOfMigration(`delete from wallet_usage_day;
      update wallet_usage_seal set next_seq = 100;
      insert into wallet_usage_day values ('a', 'CASH', '2020-01-01', 3, 9, 1, 1, 1),
        ('a', 'CASH', '2020-01-02', 30, 39, 1, 1, 1), ('b', 'CASH', '2020-01-03', 20, 29, 1, 1, 1),
        ('b', 'CASH', '2020-01-04', 35, 36, 1, 1, 1), ('a', 'CASH', '2020-01-05', 50, 59, 1, 1, 1)`);
    expect(ranges).toEqual([
      { day: '2020-01-01', lower: 0, upper: 20 },
      { day: '2020-01-04', lower: 20, upper: 50 },
      { day: '2020-01-05', lower: 50, upper: 100 },
    ]);
    expect(JSON.stringify(violations)).not.toContain('begins with');
  });

  it('creates no range without summed days', async () => {
    expect((await rangesOfMigration('delete from wallet_usage_day')).ranges).toEqual([]);
  });
});
