/**
 * Tests of the command for a restored database: new revisions, reclaimed leases, recorded gaps in journals.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { settle } from '../usage/settlement.service.ts';
import { acceptLost, main, prepareRestored } from './after-restore.ts';
import { checkInvariants } from './invariants.ts';
import { closeLease } from './lease.end.ts';
import { requestLease } from './lease.service.ts';
import { walletById } from './wallet.service.ts';

const PRICE = 100n;

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(async () => {
  expect(await checkInvariants(money.em())).toEqual([]);
  await money.close();
});

async function lease(holds: bigint) {
  const [{ walletId }, node] = await Promise.all([money.wallet({ cash: holds }), money.node()]);
  const request = { keyId: null, requestNo: 1, need: PRICE, want: PRICE, waiting: 0n };
  const { id } = await requestLease(money.em(), { ...node, walletId, ...request });
  return { ...node, walletId, leaseId: id };
}
type Leased = Awaited<ReturnType<typeof lease>>;

const report = ({ nodeId, ...of }: Leased, seq: number) =>
  settle(money.em(), {
    node: { ...SYSTEM_ACTOR, kind: 'NODE', id: nodeId },
    records: [reported({ ...of, seq, cost: PRICE })],
  });

const stateOf = async ({ leaseId }: Leased): Promise<string | undefined> =>
  (await queryOne<{ state: string }>(money.em(), sql`select state from wallet_lease where id = ${leaseId}`))
    ?.state;

const head = () =>
  queryOne<{ revision: number; pruned_to: number }>(
    money.em(),
    sql`select revision, pruned_to from config_head`,
  );

/** Process ids of the connections to the database. */
async function connections(): Promise<number[]> {
  const rows = await query<{ pid: number }>(
    money.em(),
    sql`select pid from pg_stat_activity where datname = current_database() order by pid`,
  );
  return rows.map(({ pid }) => pid);
}

describe('the command for a restored database', () => {
  it('runs only as a program of its own', () => {
    expect(process.exitCode).toBeUndefined();
  });

  it('skips all revisions that nodes may know, and reclaims open leases once', async () => {
    const [active, silent, closed] = [await lease(9n * PRICE), await lease(9n * PRICE), await lease(PRICE)];
    await query(money.em(), sql`update wallet_lease set state = 'ORPHANED' where id = ${silent.leaseId}`);
    await closeLease(money.em(), { ...closed, count: 0, sum: 0n, actor: SYSTEM_ACTOR });
    const before = (await head())?.revision ?? 0;
    expect(await prepareRestored(money.em())).toEqual({ revision: before + 1_000_000, leases: 2 });
    // A node that knows an older revision has to fetch a snapshot.
    expect(await head()).toEqual({ revision: before + 1_000_000, pruned_to: before + 1_000_000 });
    expect(await Promise.all([active, silent, closed].map(stateOf))).toEqual([
      'RECLAIMED',
      'RECLAIMED',
      'CLOSED',
    ]);
    for (const { walletId } of [active, silent])
      expect(await walletById(money.em(), walletId)).toMatchObject({ cash: 9n * PRICE, held: 0n });
    expect(await prepareRestored(money.em())).toEqual({ revision: before + 2_000_000, leases: 0 });
    // The wallet pays the charges that the node still reports.
    expect(await report(active, 1)).toMatchObject({ accepted: 1 });
    expect(await walletById(money.em(), active.walletId)).toMatchObject({ cash: 8n * PRICE });
  });

  it('records each lost charge once, and the ledger check accepts the gap', async () => {
    const of = await lease(9n * PRICE);
    await prepareRestored(money.em());
    await report(of, 4);
    const gap = { rule: 'I9', subject: of.journalId };
    expect(await checkInvariants(money.em())).toMatchObject([gap]);
    expect(await acceptLost(money.em())).toBe(3);
    expect(await acceptLost(money.em())).toBe(0);
    const alarms = await query(
      money.em(),
      sql`select left(id, 4) as id, kind, node_id, request_id, seq::integer as seq, reason
      from settlement_alarm where journal_id = ${of.journalId} and kind = 'REJECTED' order by seq`,
    );
    expect(alarms).toEqual(
      [1, 2, 3].map((seq) => ({
        ...{
          id: 'alm_',
          kind: 'REJECTED',
          node_id: of.nodeId,
          seq,
          request_id: `lost:${of.journalId}:${seq}`,
        },
        reason: 'lost with a database that was restored from a backup',
      })),
    );
  });

  it('prints its result, closes its connections, and fails without DATABASE_URL', async () => {
    const of = await lease(9n * PRICE);
    const lines: string[] = [];
    const run = (env: NodeJS.ProcessEnv, ...parameters: string[]): Promise<number> =>
      main(env, parameters, (line) => void lines.push(line));
    const before = await connections();
    expect(await run({})).toBe(1);
    expect(await run({ DATABASE_URL: money.url })).toBe(0);
    const revision = (await head())?.revision;
    await report(of, 2);
    expect(await run({ DATABASE_URL: money.url }, '--accept-lost')).toBe(0);
    expect(lines).toEqual([
      'DATABASE_URL is not set. Set it to the address of the restored PostgreSQL database.',
      `The configuration continues at revision ${revision}. 1 open leases were reclaimed.`,
      'Recorded 1 lost charges in settlement_alarm.',
    ]);
    const opened = async () => (await connections()).filter((pid) => !before.includes(pid));
    await expect.poll(opened).toEqual([]);
  });
});
