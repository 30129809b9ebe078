/**
 * Tests of claiming requests: each is claimed once, also beside another transaction, and concurrent batches
 * with the same requests lock rows in one order and cannot deadlock.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { EntityManager } from '@mikro-orm/postgresql';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { reading } from '../database/statements.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { lockAccounts, lockedAccounts, walletAccount } from '../wallet/ledger.ts';
import type { ReportedUsage } from './settlement.rules.ts';
import { claimRequests } from './usage.rows.ts';

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(() => money.close());

/** Claims the requests and returns their times. */
async function claim(
  em: EntityManager,
  records: readonly ReportedUsage[],
  isRepetition = false,
): Promise<Map<string, string>> {
  const also = reading(sql`select 7 as seven`, ([row]: readonly { seven: number }[]) => row?.seven);
  const { times, result } = await claimRequests(em, records, { isRepetition, also });
  expect(result).toBe(7);
  return times;
}

/** SQL that inserts the id of a request, as settlement does first. */
const insertId = ({ requestId }: ReportedUsage) =>
  sql`insert into usage_request (request_id, at) values (${requestId}, clock_timestamp())`;

/** Free requests of one wallet, whose ids begin with that of the wallet. */
async function threeRecords(): Promise<[ReportedUsage, ReportedUsage, ReportedUsage]> {
  const { walletId } = await money.wallet({});
  const free = { journalId: null, leaseId: null, seq: null, cost: 0n, walletId };
  const record = (name: string) => reported({ ...free, requestId: `${walletId} ${name}` });
  return [record('a'), record('b'), record('c')];
}

/** Reads whether the connection of the transaction waits for a lock. */
async function waitsOf(em: EntityManager): Promise<() => Promise<{ is: boolean } | undefined>> {
  const self = await queryOne<{ pid: number }>(em, sql`select pg_backend_pid() as pid`);
  return () => queryOne(money.em(), sql`select cardinality(pg_blocking_pids(${self?.pid})) > 0 as is`);
}

it.each([
  [0, 1, 2],
  [2, 1, 0],
  [2, 0, 1],
  [0, 2, 1],
])(
  'claimRequests locks the requests of a batch by id, if they are reported as %i, %i, %i',
  async (...order) => {
    const records = await threeRecords();
    const [, held, last] = records;
    const [holder, batch, probe] = [money.em(), money.em(), money.em()];
    for (const em of [holder, batch, probe]) await em.begin();
    await query(holder, insertId(held));
    const waits = await waitsOf(batch);
    const claimed = claim(
      batch,
      order.flatMap((at) => records[at] ?? []),
    );
    await expect.poll(waits).toEqual({ is: true });
    // The request after the blocked one must not be locked yet; otherwise this insert would time out.
    await query(probe, sql`set local lock_timeout = '1s'`);
    const isFree = await query(probe, insertId(last)).then(
      () => true,
      () => false,
    );
    await probe.rollback();
    await holder.rollback();
    expect([isFree, [...(await claimed).keys()]]).toEqual([true, records.map(({ requestId }) => requestId)]);
    await batch.rollback();
  },
);

it.each([false, true])(
  'claimRequests claims only new requests, and its transaction goes on, if a repetition is known: %s',
  async (isKnown) => {
    const [first, repeated, last] = await threeRecords();
    await query(money.em(), insertId(repeated));
    const em = money.em();
    await em.begin();
    const claimed = await claim(em, [first, repeated, last], isKnown);
    await em.commit();
    expect([...claimed.keys()].toSorted()).toEqual([first.requestId, last.requestId]);
    const stored = await query(
      money.em(),
      sql`select request_id from usage_request where starts_with(request_id, ${first.walletId})`,
    );
    expect(stored).toHaveLength(3);
  },
);

it.each([false, true])(
  'claimRequests holds the locks of `also` after a repeated request, if a repetition is known: %s',
  async (isRepetition) => {
    const [first, repeated, last] = await threeRecords();
    await query(money.em(), insertId(repeated));
    const account = walletAccount(first.walletId, 'CASH');
    const [batch, other] = [money.em(), money.em()];
    for (const em of [batch, other]) await em.begin();
    const also = lockedAccounts([account]);
    const { times } = await claimRequests(batch, [first, repeated, last], { isRepetition, also });
    expect(times.size).toBe(2);
    await query(other, sql`set local lock_timeout = '1ms'`);
    await expect(lockAccounts(other, [account])).rejects.toMatchObject({ code: '55P03' });
    await other.rollback();
    await batch.rollback();
  },
);

it('claimRequests leaves out a request that another transaction commits while it waits', async () => {
  const records = await threeRecords();
  const [first, held, last] = records;
  const [holder, batch] = [money.em(), money.em()];
  for (const em of [holder, batch]) await em.begin();
  await query(holder, insertId(held));
  const waits = await waitsOf(batch);
  const claimed = claim(batch, records);
  await expect.poll(waits).toEqual({ is: true });
  await holder.commit();
  expect([...(await claimed).keys()].toSorted()).toEqual([first.requestId, last.requestId]);
  await batch.commit();
  const stored = await query(
    money.em(),
    sql`select request_id from usage_request where starts_with(request_id, ${first.walletId})`,
  );
  expect(stored).toHaveLength(3);
});

it('claimRequests throws other errors than a repetition unchanged', async () => {
  const records = await threeRecords();
  const [holder, batch] = [money.em(), money.em()];
  for (const em of [holder, batch]) await em.begin();
  await query(holder, insertId(records[1]));
  await query(batch, sql`set local lock_timeout = '1ms'`);
  await expect(claim(batch, records)).rejects.toMatchObject({ code: '55P03' });
  await batch.rollback();
  await holder.rollback();
});
