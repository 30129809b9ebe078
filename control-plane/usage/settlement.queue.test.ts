/** Reports that wait at the same time are settled in one transaction, and each gets its own answer. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { MikroORM } from '@mikro-orm/postgresql';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { createOrm } from '../database/orm.ts';
import { query, queryRow, sql } from '../database/sql.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { checkInvariants } from '../wallet/invariants.ts';
import { requestLease } from '../wallet/lease.service.ts';
import type { Report } from './admission.service.ts';
import type { ReportAnswer, ReportedUsage } from './settlement.rules.ts';
import {
  GATHER_MS,
  GROUP_RECORDS_MAX,
  GROUP_REPORTS_MAX,
  GROUPS_AT_ONCE,
  NEXT_REPORT_MS,
  nextGroup,
  NODE_REPORTS_MAX,
  SettlementQueue,
} from './settlement.queue.ts';

const PRICE = 100n;
const SETTLED = { accepted: 1, duplicates: 0, rejected: [] };

let money: Money;
/** Has one connection. */
let narrow: MikroORM;
beforeAll(async () => {
  money = await openMoney();
  narrow = await createOrm(money.url, { connectionsMax: 1 });
});
afterAll(async () => {
  await narrow.close(true);
  expect(await checkInvariants(money.em())).toEqual([]);
  await money.close();
});

interface Payer {
  nodeId: string;
  journalId: string;
  walletId: string;
  leaseId: string;
}

/** A node with a lease of a wallet. */
async function openPayer(): Promise<Payer> {
  const { walletId } = await money.wallet({ cash: 10n * PRICE });
  const node = await money.node();
  const amounts = { need: PRICE, want: 5n * PRICE, waiting: 5n * PRICE };
  const lease = await requestLease(money.em(), { ...node, walletId, keyId: null, requestNo: 1, ...amounts });
  return { ...node, walletId, leaseId: lease.id };
}

const charge = ({ walletId, journalId, leaseId }: Payer, seq: number): ReportedUsage =>
  reported({ walletId, journalId, leaseId, seq, cost: PRICE });

const reportOf = (nodeId: string, records: ReportedUsage[]): Report => ({
  node: { ...SYSTEM_ACTOR, kind: 'NODE', id: nodeId },
  records,
});

/** A queue with a report that is being settled until `release` is called. */
interface Occupied {
  queue: SettlementQueue;
  payer: Payer;
  release(): Promise<void>;
}

/**
 * A queue whose later reports gather beside a running settlement. By default its clock stands still: with a
 * clock that moves, reports that come late on a busy machine would not wait for each other. The settlement
 * waits for a connection, because a wait for a lock would end after some seconds.
 */
async function occupy(now = () => 0): Promise<Occupied> {
  const payer = await openPayer();
  const em = narrow.em.fork();
  await em.begin();
  onTestFinished(() => (em.isInTransaction() ? em.rollback() : undefined));
  let settlements = 0;
  const queue = new SettlementQueue(() => {
    settlements += 1;
    return settlements === 1 ? narrow.em.fork() : money.em();
  }, now);
  const running = queue.settle(reportOf(payer.nodeId, [charge(payer, 1)]));
  return {
    queue,
    payer,
    release: async () => {
      await em.commit();
      expect(await running).toEqual(SETTLED);
    },
  };
}

/** Number of transactions in which the requests were stored. */
async function transactionsOf(records: readonly ReportedUsage[]): Promise<number> {
  const ids = records.map(({ requestId }) => requestId);
  const { count } = await queryRow<{ count: string }>(
    money.em(),
    sql`select count(distinct xmin::text) as count from usage_request where request_id = any(${ids}::text[])`,
  );
  return Number(count);
}

describe('reports that wait', () => {
  it('are settled in one transaction, with one ledger transaction for each node', async () => {
    const { queue, release } = await occupy();
    const payers = await Promise.all([openPayer(), openPayer(), openPayer()]);
    const records = payers.map((payer) => charge(payer, 1));
    const answers = payers.map(({ nodeId }, at) => queue.settle(reportOf(nodeId, records.slice(at, at + 1))));
    await release();
    expect(await Promise.all(answers)).toEqual(payers.map(() => SETTLED));
    expect(await transactionsOf(records)).toBe(1);
    const posted = await query(
      money.em(),
      sql`select actor_id from ledger_transaction where kind = 'USAGE'
        and actor_id = any(${payers.map(({ nodeId }) => nodeId)}::text[])`,
    );
    expect(posted).toHaveLength(payers.length);
  });

  it('do not fail because of another report, and that one gets its own error', async () => {
    const { queue, release } = await occupy();
    const [one, faulty, other] = [await openPayer(), await openPayer(), await openPayer()];
    const records = [
      charge(one, 1),
      { ...charge(faulty, 1), errorCode: null, group: '\0' as never },
      charge(other, 1),
    ];
    const answers = [one, faulty, other].map(({ nodeId }, at) =>
      queue.settle(reportOf(nodeId, records.slice(at, at + 1))),
    );
    const results = Promise.allSettled(answers);
    await release();
    expect(await results).toMatchObject([
      { status: 'fulfilled', value: SETTLED },
      { status: 'rejected', reason: { code: 'INVALID' } },
      { status: 'fulfilled', value: SETTLED },
    ]);
    expect(await transactionsOf(records)).toBe(2);
    await queue.settle(reportOf(faulty.nodeId, [charge(faulty, 1)]));
  });

  it('are settled while another node repeats a report that waits for a lock', async () => {
    const queue = new SettlementQueue(money.em);
    const [stuck, other] = [await openPayer(), await openPayer()];
    const em = money.em();
    await em.begin();
    await query(em, sql`select from wallet_lease where id = ${stuck.leaseId} for update`);
    const report = reportOf(stuck.nodeId, [charge(stuck, 1)]);
    const repeated = Array.from({ length: GROUPS_AT_ONCE + 1 }, () => queue.settle(report));
    expect(await queue.settle(reportOf(other.nodeId, [charge(other, 1)]))).toEqual(SETTLED);
    await em.commit();
    const accepted = (await Promise.all(repeated)).map((answer) => answer.accepted);
    expect(accepted).toEqual([1, ...Array.from({ length: GROUPS_AT_ONCE }, () => 0)]);
  });

  it('leave a group in which one waits for a lock', async () => {
    const { queue, release } = await occupy();
    const [stuck, other] = [await openPayer(), await openPayer()];
    const em = money.em();
    await em.begin();
    await query(em, sql`select from wallet_lease where id = ${stuck.leaseId} for update`);
    const waits = queue.settle(reportOf(stuck.nodeId, [charge(stuck, 1)]));
    const settled = queue.settle(reportOf(other.nodeId, [charge(other, 1)]));
    await release();
    expect(await settled).toEqual(SETTLED);
    await em.commit();
    expect(await waits).toEqual(SETTLED);
  });

  it('of other nodes are settled when as many as there are transactions wait for one lock', async () => {
    const queue = new SettlementQueue(money.em);
    const stuck = await Promise.all(Array.from({ length: GROUPS_AT_ONCE }, openPayer));
    const other = await openPayer();
    const em = money.em();
    await em.begin();
    const leases = stuck.map(({ leaseId }) => leaseId);
    await query(em, sql`select from wallet_lease where id = any(${leases}::text[]) for update`);
    const reports = stuck.map((payer) => reportOf(payer.nodeId, [charge(payer, 1)]));
    const failed = Promise.allSettled(reports.map((report) => queue.settle(report)));
    expect(await queue.settle(reportOf(other.nodeId, [charge(other, 1)]))).toEqual(SETTLED);
    // lock_not_available and no user error: the node keeps the report and sends it again.
    const refused = { status: 'rejected', reason: { code: '55P03' } };
    expect(await failed).toMatchObject(stuck.map(() => refused));
    await em.commit();
    expect(await Promise.all(reports.map((report) => queue.settle(report)))).toEqual(
      stuck.map(() => SETTLED),
    );
  });

  it('do not gather beside a settlement that has run for longer than they would gather', async () => {
    let now = 0;
    const { queue, release } = await occupy(() => now);
    now = GATHER_MS;
    const payers = [await openPayer(), await openPayer()];
    const records = payers.map((payer) => charge(payer, 1));
    const answers = payers.map(({ nodeId }, at) => queue.settle(reportOf(nodeId, records.slice(at, at + 1))));
    expect(await Promise.all(answers)).toEqual(payers.map(() => SETTLED));
    // The first one started at once; the second one gathered until it ended.
    expect(await transactionsOf(records)).toBe(2);
    await release();
  });

  it('of one node do not count as records that can join the next transaction', async () => {
    const { queue, release } = await occupy();
    const [many, other] = [await openPayer(), await openPayer()];
    const free = { walletId: many.walletId, journalId: null, leaseId: null, seq: null, cost: 0n };
    const half = () => Array.from({ length: GROUP_RECORDS_MAX / 2 }, () => reported(free));
    const [first, last] = [half(), [charge(other, 1)]];
    const answers = [
      queue.settle(reportOf(many.nodeId, first)),
      queue.settle(reportOf(many.nodeId, half())),
      queue.settle(reportOf(other.nodeId, last)),
    ];
    await release();
    expect((await Promise.all(answers)).map(({ accepted }) => accepted)).toEqual([500, 500, 1]);
    expect(await transactionsOf([...first, ...last])).toBe(1);
  });

  it('that are enough for a transaction wait for the next report only a moment', async () => {
    let now = 0;
    const { queue, release } = await occupy(() => now);
    const [one, two, last, late] = await Promise.all([openPayer(), openPayer(), openPayer(), openPayer()]);
    const enough = (of: Payer) => {
      const free = { walletId: of.walletId, journalId: null, leaseId: null, seq: null, cost: 0n };
      return reportOf(
        of.nodeId,
        Array.from({ length: GROUP_RECORDS_MAX * 0.4 }, () => reported(free)),
      );
    };
    const reports = [enough(one), enough(two), reportOf(last.nodeId, [charge(last, 1)])];
    const answers = reports.map((report) => queue.settle(report));
    now = NEXT_REPORT_MS;
    await Promise.all(answers);
    expect(await transactionsOf(reports.flatMap(({ records }) => records))).toBe(1);
    const alone = queue.settle(reportOf(late.nodeId, [charge(late, 1)]));
    await release();
    expect(await alone).toEqual(SETTLED);
  });

  it('do not wait for further reports if as many as a transaction may have wait', async () => {
    const { queue, release, payer } = await occupy();
    const free = { walletId: payer.walletId, journalId: null, leaseId: null, seq: null, cost: 0n };
    const nodes = await Promise.all(Array.from({ length: GROUP_REPORTS_MAX }, () => money.node()));
    const records = nodes.map(() => reported(free));
    const answers = nodes.map(({ nodeId }, at) => queue.settle(reportOf(nodeId, records.slice(at, at + 1))));
    expect(await Promise.all(answers)).toEqual(nodes.map(() => SETTLED));
    expect(await transactionsOf(records)).toBe(1);
    await release();
  });

  it('get the refusals and duplicates that each of them would get alone', async () => {
    const { queue, release } = await occupy();
    const [one, thief] = [await openPayer(), await openPayer()];
    const first = charge(one, 1);
    await new SettlementQueue(money.em).settle(reportOf(one.nodeId, [first]));
    const stolen = { ...charge(one, 2), journalId: thief.journalId, seq: 2 };
    const answers = [
      queue.settle(reportOf(one.nodeId, [first, charge(one, 2)])),
      queue.settle(reportOf(thief.nodeId, [stolen, charge(thief, 1)])),
    ];
    await release();
    expect(await Promise.all(answers)).toEqual([
      { accepted: 1, duplicates: 1, rejected: [] },
      { accepted: 1, duplicates: 0, rejected: [stolen.requestId] },
    ]);
  });

  it('of other nodes are settled while a settlement waits for a lock', async () => {
    const queue = new SettlementQueue(money.em);
    const [stuck, one, other] = [await openPayer(), await openPayer(), await openPayer()];
    const em = money.em();
    await em.begin();
    await query(em, sql`select from wallet_lease where id = ${stuck.leaseId} for update`);
    const waits = queue.settle(reportOf(stuck.nodeId, [charge(stuck, 1)]));
    const few = [one, other].map((payer) => queue.settle(reportOf(payer.nodeId, [charge(payer, 1)])));
    expect(await Promise.all(few)).toEqual([SETTLED, SETTLED]);
    await em.commit();
    expect(await waits).toEqual(SETTLED);
  });

  it('are refused above a number of one node, whose earlier reports are settled', async () => {
    const queue = new SettlementQueue(money.em);
    const [stuck, other] = [await openPayer(), await openPayer()];
    const em = money.em();
    await em.begin();
    await query(em, sql`select from wallet_lease where id = ${stuck.leaseId} for update`);
    const report = reportOf(stuck.nodeId, [charge(stuck, 1)]);
    // The first is under way and does not wait any more.
    const accepted = Array.from({ length: NODE_REPORTS_MAX + 1 }, () => queue.settle(report));
    await expect(queue.settle(report)).rejects.toMatchObject({ extensions: { code: 'RATE_LIMITED' } });
    expect(await queue.settle(reportOf(other.nodeId, [charge(other, 1)]))).toEqual(SETTLED);
    await em.commit();
    const sum = (await Promise.all(accepted)).reduce((total, answer) => total + answer.accepted, 0);
    expect(sum).toBe(1);
    expect(await queue.settle(report)).toMatchObject({ accepted: 0, duplicates: 1 });
  });

  it('are refused at once above the maximum number of records', async () => {
    const { queue, release, payer } = await occupy();
    const records = Array.from({ length: 501 }, () => charge(payer, 2));
    await expect(queue.settle(reportOf('nod_x', records))).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    await release();
  });

  it('of one node, or with the same request, are settled one after the other', async () => {
    const { queue, release } = await occupy();
    const [one, other] = [await openPayer(), await openPayer()];
    const record = charge(one, 1);
    const answers: Promise<ReportAnswer>[] = [
      queue.settle(reportOf(one.nodeId, [record])),
      queue.settle(reportOf(one.nodeId, [record])),
      queue.settle(reportOf(other.nodeId, [{ ...charge(other, 1), requestId: record.requestId }])),
    ];
    await release();
    const settled = (await Promise.all(answers)).reduce((sum, { accepted }) => sum + accepted, 0);
    expect(settled).toBe(1);
    const { count } = await queryRow<{ count: string }>(
      money.em(),
      sql`select count(*) as count from usage_charge where request_id = ${record.requestId}`,
    );
    expect(count).toBe('1');
  });
});

describe('the next group', () => {
  const item = (nodeId: string, records: ReportedUsage[]) => ({
    report: reportOf(nodeId, records),
    alone: false,
  });
  const someRecords = (count: number): ReportedUsage[] =>
    Array.from({ length: count }, () =>
      reported({ walletId: 'wal', journalId: null, leaseId: null, seq: null, cost: 0n }),
    );

  it('has reports of different nodes with different requests, and keeps the order of the others', () => {
    const shared = someRecords(1);
    const [a, again, b, same, c] = [
      item('a', shared),
      item('a', []),
      item('b', someRecords(1)),
      item('c', shared),
      item('c', someRecords(1)),
    ];
    expect(nextGroup([a, again, b, same, c])).toEqual({ group: [a, b], others: [again, same, c] });
  });

  it('has a limited number of records', () => {
    const half = (nodeId: string) => item(nodeId, someRecords(GROUP_RECORDS_MAX / 2));
    const [a, b, c] = [half('a'), half('b'), half('c')];
    expect(nextGroup([a, b, c])).toEqual({ group: [a, b], others: [c] });
  });

  it('has a limited number of reports', () => {
    const items = Array.from({ length: GROUP_REPORTS_MAX + 1 }, (_, at) => item(`n${at}`, someRecords(1)));
    expect(nextGroup(items).group).toEqual(items.slice(0, GROUP_REPORTS_MAX));
  });

  it('has no report of a node whose report is being settled', () => {
    const [a, b] = [item('a', someRecords(1)), item('b', someRecords(1))];
    expect(nextGroup([a, b], new Set(['a']))).toEqual({ group: [b], others: [a] });
    expect(nextGroup([a], new Set(['a']))).toEqual({ group: [], others: [a] });
  });

  it('has no other report if its first one failed together with others', () => {
    const [b, c] = [item('b', someRecords(1)), item('c', someRecords(1))];
    const failed = { ...item('a', someRecords(1)), alone: true };
    expect(nextGroup([failed, b, c])).toEqual({ group: [failed], others: [b, c] });
    expect(nextGroup([b, failed, c])).toEqual({ group: [b, c], others: [failed] });
  });
});
