/** The history of a wallet: usage by day, on a ledger whose entries are moved to earlier days. */
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openMoney } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { createOrm } from '../database/orm.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { entriesPage } from './entries.service.ts';
import type { EntryView } from './entries.service.ts';
import { entriesOfDay, historyPage } from './history.service.ts';
import type { HistoryLine } from './history.service.ts';
import { creditCash, debitGift, payFromCash } from './movements.ts';
import { sumUpUsageDays } from './usage-days.ts';

const DOLLAR = 1_000_000n;
const ALL = 100;
const DAY_MS = 24 * 60 * 60 * 1000;

let money: Money;
let owner: MikroORM;
let walletId: string;
let number = 0;
beforeAll(async () => {
  money = await openMoney();
  owner = await createOrm(money.url, { connectionsMax: 1, asOwner: true });
});
afterAll(async () => {
  await owner.close(true);
  await money.close();
});
beforeEach(async () => {
  await query(money.em(), sql`delete from wallet_usage_day`);
  await query(money.em(), sql`delete from wallet_usage_range`);
  await query(money.em(), sql`update wallet_usage_seal set day = null, next_seq = 0`);
  ({ walletId } = await money.wallet({ cash: 50n * DOLLAR, gift: 2n * DOLLAR }));
});

const movement = (amount: bigint, kind: 'USAGE' | 'TOP_UP_CARD') => ({
  ...{ walletId, amount, kind, actor: SYSTEM_ACTOR, description: 'test' },
  reference: `history:${(number += 1)}`,
});
const useCash = (amount: bigint) => payFromCash(money.em(), movement(amount, 'USAGE'));
const useGift = (amount: bigint) => debitGift(money.em(), movement(amount, 'USAGE'));
const topUp = (amount: bigint) => creditCash(money.em(), movement(amount, 'TOP_UP_CARD'));

/** Moves all entries this many days back. */
async function passDays(days: number): Promise<void> {
  await owner.em.fork().transactional(async (em: EntityManager) => {
    await query(em, sql`set local session_replication_role = 'replica'`);
    await query(em, sql`update ledger_entry set at = at - ${days} * interval '1 day'`);
  });
}

/** Three days of usage from both buckets, with a top-up between the requests of the second day. */
async function threeDays(): Promise<void> {
  for (const amount of [1n, 2n, 3n]) await useGift(amount);
  await useCash(10n);
  await passDays(2);
  await useCash(20n);
  await topUp(DOLLAR);
  await useCash(30n);
  await passDays(1);
  await useCash(40n);
}

const history = (page: Partial<Parameters<typeof historyPage>[2]> = {}) =>
  historyPage(money.em(), { walletId, kinds: null }, { limit: ALL, ...page });
const dayOf = (line: HistoryLine | undefined) => line?.usage?.day ?? new Date(0);
/** The lines without what only tells entries apart. */
const inShort = (lines: readonly HistoryLine[]) =>
  lines.map(({ entry, usage }) =>
    entry
      ? [entry.kind, entry.bucket, entry.amount, entry.balanceAfter]
      : ['DAY', usage?.bucket, usage?.amount, usage?.balanceAfter, usage?.entryCount],
  );

describe('the history of a wallet', () => {
  it('has a line for each day and bucket of usage, and for each other entry, with its balance', async () => {
    await threeDays();
    expect(inShort(await history())).toEqual([
      ['DAY', 'CASH', -40n, 51n * DOLLAR - 100n, 1],
      ['DAY', 'CASH', -50n, 51n * DOLLAR - 60n, 2],
      ['TOP_UP_CARD', 'CASH', DOLLAR, 51n * DOLLAR - 30n],
      ['DAY', 'CASH', -10n, 50n * DOLLAR - 10n, 1],
      ['DAY', 'GIFT', -6n, 2n * DOLLAR - 6n, 3],
      ['GIFT_ADMIN', 'GIFT', 2n * DOLLAR, 2n * DOLLAR],
      ['ADJUSTMENT', 'CASH', 50n * DOLLAR, 50n * DOLLAR],
    ]);
  });

  it('is the same after two control planes have summed the ended days up', async () => {
    await threeDays();
    const [lines, entries] = [await history(), await pageOf()];
    await passDays(1);
    // An old entry of a later day ends the last day.
    await topUp(1n);
    await passDays(1);
    await Promise.all([sumUpUsageDays(money.em()), sumUpUsageDays(money.em())]);
    const summed = await queryOne<{ count: number }>(
      money.em(),
      sql`select count(*)::integer from wallet_usage_day where wallet_id = ${walletId}`,
    );
    expect(summed).toEqual({ count: 4 });
    expect(inShort((await history()).slice(1))).toEqual(inShort(lines));
    const amounts = (list: readonly EntryView[]) => list.map(({ seq, balanceAfter }) => [seq, balanceAfter]);
    expect(amounts((await pageOf()).slice(1))).toEqual(amounts(entries));
  });

  it('keeps a day open until an entry of a later day is ten minutes old', async () => {
    await useCash(5n);
    await sumUpUsageDays(money.em());
    await passDays(1);
    await useCash(6n);
    await sumUpUsageDays(money.em());
    const summed = () =>
      query(money.em(), sql`select amount::text from wallet_usage_day where wallet_id = ${walletId}`);
    expect(await summed()).toEqual([]);
    await passDays(1);
    await sumUpUsageDays(money.em());
    expect(await summed()).toEqual([{ amount: '-5' }]);
    await useCash(7n);
    expect(inShort(await history()).slice(0, 3)).toEqual([
      ['DAY', 'CASH', -7n, 50n * DOLLAR - 18n, 1],
      ['DAY', 'CASH', -6n, 50n * DOLLAR - 11n, 1],
      ['DAY', 'CASH', -5n, 50n * DOLLAR - 5n, 1],
    ]);
  });

  it('is read in pages in both directions, each line once', async () => {
    await threeDays();
    await sumUpUsageDays(money.em());
    const lines = await history();
    const down: HistoryLine[] = [];
    for (let from: number[] | undefined; ;) {
      const page = await history({ limit: 2, ...(from && { from }) });
      if (page.length === 0) break;
      down.push(...page);
      from = [page.at(-1)?.seq ?? 0];
    }
    expect(down).toEqual(lines);
    const up = await history({ from: [lines[4]?.seq ?? 0], backward: true, limit: 3 });
    expect(up.toReversed()).toEqual(lines.slice(1, 4));
  });

  it('shows only entries of the chosen kinds', async () => {
    await threeDays();
    const kindsOf = async (kinds: ('USAGE' | 'TOP_UP_CARD')[]) =>
      inShort(await historyPage(money.em(), { walletId, kinds }, { limit: ALL })).map(([kind]) => kind);
    expect(await kindsOf(['TOP_UP_CARD'])).toEqual(['TOP_UP_CARD']);
    expect(await kindsOf(['USAGE'])).toEqual(['DAY', 'DAY', 'DAY', 'DAY']);
  });
});

describe('the entries of a day of usage', () => {
  it.each(['before', 'after'])('add up to its sum %s the day is summed up', async (when) => {
    await threeDays();
    if (when === 'after') await sumUpUsageDays(money.em());
    for (const line of (await history()).filter(({ usage }) => usage !== null)) {
      const bucket = line.usage?.bucket ?? 'CASH';
      const conditions = await entriesOfDay(money.em(), { walletId, day: dayOf(line), bucket });
      const entries = conditions ? await entriesPage(money.em(), conditions, { limit: ALL }) : [];
      expect(entries).toHaveLength(line.usage?.entryCount ?? 0);
      expect(entries.reduce((sum, { amount }) => sum + amount, 0n)).toBe(line.usage?.amount);
      expect(entries[0]).toMatchObject({ seq: line.seq, balanceAfter: line.usage?.balanceAfter, bucket });
    }
  });

  it('are none on a day without usage', async () => {
    await useCash(1n);
    await passDays(3);
    await useCash(1n);
    await passDays(1);
    await sumUpUsageDays(money.em());
    const at = (days: number) => new Date(Date.now() - days * DAY_MS);
    expect(await entriesOfDay(money.em(), { walletId, day: at(5), bucket: 'CASH' })).toBeUndefined();
    const between = await entriesOfDay(money.em(), { walletId, day: at(3), bucket: 'CASH' });
    expect(between && (await entriesPage(money.em(), between, { limit: ALL }))).toEqual([]);
  });
});

function pageOf(): Promise<EntryView[]> {
  return entriesPage(money.em(), { walletId }, { limit: ALL });
}
