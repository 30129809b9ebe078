/** The rows of the usage log: batches that hold the same requests wait for each other, and never both. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { query, queryOne, sql } from '../sql.ts';
import type { ReportedUsage } from './settlement.rules.ts';
import { insertUsage } from './usage.rows.ts';

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(() => money.close());

/** Takes the name of a request, as who settles it does first. */
const taken = ({ requestId }: ReportedUsage) =>
  sql`insert into usage_request (request_id, at) values (${requestId}, clock_timestamp())`;

it.each([
  [0, 1, 2],
  [2, 1, 0],
  [2, 0, 1],
  [0, 2, 1],
])('takes the requests of a batch in one order, though they are told as %i, %i, %i', async (...told) => {
  const [{ walletId }, { nodeId }] = await Promise.all([money.wallet({}), money.node()]);
  const records = ['a', 'b', 'c'].map((name) =>
    reported({
      ...{ journalId: null, leaseId: null, seq: null, cost: 0n, walletId },
      requestId: `${walletId} ${name}`,
    }),
  );
  const [, held, last] = records as [ReportedUsage, ReportedUsage, ReportedUsage];
  const [holder, batch, probe] = [money.em(), money.em(), money.em()];
  for (const em of [holder, batch, probe]) await em.begin();
  await query(holder, taken(held));
  const self = await queryOne<{ pid: number }>(batch, sql`select pg_backend_pid() as pid`);
  const inserted = insertUsage(
    batch,
    nodeId,
    told.flatMap((at) => records[at] ?? []),
  );
  const waits = () =>
    queryOne<{ is: boolean }>(money.em(), sql`select cardinality(pg_blocking_pids(${self?.pid})) > 0 as is`);
  await expect.poll(waits).toEqual({ is: true });
  // What comes after the one that it waits for is not taken yet: else this would wait, in vain.
  await query(probe, sql`set local lock_timeout = '1s'`);
  const isFree = await query(probe, taken(last)).then(
    () => true,
    () => false,
  );
  await probe.rollback();
  await holder.rollback();
  expect([isFree, await inserted]).toEqual([true, new Set(records.map(({ requestId }) => requestId))]);
  await batch.rollback();
});
