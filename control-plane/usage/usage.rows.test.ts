/** Tests that concurrent batches with the same requests lock rows in one order and cannot deadlock. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import type { ReportedUsage } from './settlement.rules.ts';
import { claimRequests } from './usage.rows.ts';

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(() => money.close());

/** SQL that inserts the id of a request, as settlement does first. */
const insertId = ({ requestId }: ReportedUsage) =>
  sql`insert into usage_request (request_id, at) values (${requestId}, clock_timestamp())`;

it.each([
  [0, 1, 2],
  [2, 1, 0],
  [2, 0, 1],
  [0, 2, 1],
])(
  'claimRequests locks the requests of a batch by id, if they are reported as %i, %i, %i',
  async (...order) => {
    const { walletId } = await money.wallet({});
    const records = ['a', 'b', 'c'].map((name) =>
      reported({
        ...{ journalId: null, leaseId: null, seq: null, cost: 0n, walletId },
        requestId: `${walletId} ${name}`,
      }),
    );
    const [, held, last] = records as [ReportedUsage, ReportedUsage, ReportedUsage];
    const [holder, batch, probe] = [money.em(), money.em(), money.em()];
    for (const em of [holder, batch, probe]) await em.begin();
    await query(holder, insertId(held));
    const self = await queryOne<{ pid: number }>(batch, sql`select pg_backend_pid() as pid`);
    const claimed = claimRequests(
      batch,
      order.flatMap((at) => records[at] ?? []),
    );
    const waits = () =>
      queryOne<{ is: boolean }>(
        money.em(),
        sql`select cardinality(pg_blocking_pids(${self?.pid})) > 0 as is`,
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
    const { walletId } = await money.wallet({});
    const free = { journalId: null, leaseId: null, seq: null, cost: 0n, walletId };
    const [first, repeated, last] = ['a', 'b', 'c'].map((name) =>
      reported({ ...free, requestId: `${walletId} ${name}` }),
    ) as [ReportedUsage, ReportedUsage, ReportedUsage];
    await query(money.em(), insertId(repeated));
    const em = money.em();
    await em.begin();
    const claimed = await claimRequests(em, [first, repeated, last], isKnown);
    await em.commit();
    expect([...claimed.keys()].toSorted()).toEqual([first.requestId, last.requestId]);
    const stored = await query(
      money.em(),
      sql`select request_id from usage_request where starts_with(request_id, ${walletId})`,
    );
    expect(stored).toHaveLength(3);
  },
);
