/** Tests that folding closed leases keeps every rule of the ledger and every answer to a node. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { MikroORM } from '@mikro-orm/postgresql';
import { Client } from 'pg';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { createOrm } from '../database/orm.ts';
import { query, queryRow, sql } from '../database/sql.ts';
import { settle } from '../usage/settlement.service.ts';
import type { ReportAnswer, ReportedUsage } from '../usage/settlement.rules.ts';
import { checkNew } from './incremental-check.ts';
import { checkInvariants, INVARIANTS } from './invariants.ts';
import { closeLease } from './lease.end.ts';
import { FOLD_AFTER_DAYS, foldLeases } from './lease.fold.ts';
import { requestLease } from './lease.service.ts';
import type { Lease } from './lease.rows.ts';

const PRICE = 100n;

interface Node {
  nodeId: string;
  journalId: string;
}

let money: Money;
let owner: MikroORM;
let direct: Client;
beforeAll(async () => {
  money = await openMoney();
  owner = await createOrm(money.url, { asOwner: true, connectionsMax: 1 });
  direct = new Client({ connectionString: money.url });
  await direct.connect();
});
afterAll(async () => {
  expect(await checkInvariants(money.em())).toEqual([]);
  await direct.end();
  await owner.close(true);
  await money.close();
});

const report = (nodeId: string, ...records: ReportedUsage[]): Promise<ReportAnswer> =>
  settle(money.em(), { node: { ...SYSTEM_ACTOR, id: nodeId }, records });

const requested = (node: Node, walletId: string, requestNo: number): Promise<Lease> =>
  requestLease(money.em(), {
    ...{ ...node, walletId, keyId: null, requestNo, waiting: 0n },
    ...{ need: PRICE, want: 3n * PRICE },
  });

/** A lease that paid two of its three requests and was closed, and its records. */
async function closedLease(
  node: Node,
  walletId: string,
  no: number,
): Promise<{ lease: Lease; records: ReportedUsage[] }> {
  const lease = await requested(node, walletId, no);
  const records = [1, 2].map((at) =>
    reported({ ...node, walletId, seq: 2 * (no - 1) + at, leaseId: lease.id, cost: PRICE }),
  );
  await report(node.nodeId, ...records);
  const exact = { count: 2, sum: 2n * PRICE, actor: SYSTEM_ACTOR };
  await closeLease(money.em(), { ...node, leaseId: lease.id, ...exact });
  return { lease, records };
}

/** A wallet with gift and cash, its node, and closed leases that paid from both. */
async function setting(leases: number) {
  const [{ walletId }, node] = await Promise.all([
    money.wallet({ gift: 4n * PRICE, cash: 900n * PRICE }),
    money.node(),
  ]);
  const closed = [];
  for (let no = 1; no <= leases; no += 1) closed.push(await closedLease(node, walletId, no));
  return { walletId, node, closed };
}

/** Seals the ledger as it is, and moves the end of all closed leases of the wallet to before the limit. */
async function grownOld(walletId: string): Promise<void> {
  expect(await checkNew(money.em())).toEqual([]);
  await query(money.em(), sql`update check_candidate set noted_at = noted_at - interval '1 hour'`);
  expect(await checkNew(money.em())).toEqual([]);
  // The next candidate covers what was posted since the last one.
  await query(money.em(), sql`update check_candidate set noted_at = noted_at - interval '1 hour'`);
  expect(await checkNew(money.em())).toEqual([]);
  await query(
    owner.em.fork(),
    sql`update wallet_lease set ended_at = ended_at - ${FOLD_AFTER_DAYS + 1} * interval '1 day'
      where wallet_id = ${walletId} and state = 'CLOSED'`,
  );
}

interface Rows {
  leases: number;
  accounts: number;
  balances: number;
}

/** Numbers of rows of the wallet's leases. */
const rowsOf = (walletId: string): Promise<Rows> =>
  queryRow<Rows>(
    money.em(),
    sql`select (select count(*)::integer from wallet_lease where wallet_id = ${walletId}) as leases,
      (select count(*)::integer from ledger_account
        where wallet_id = ${walletId} and lease_id is not null) as accounts,
      (select count(*)::integer from check_balance b join ledger_account a on a.id = b.account_id
        where a.wallet_id = ${walletId} and a.lease_id is not null) as balances`,
  );

const foldOf = (walletId: string) =>
  query(
    money.em(),
    sql`select leases::integer, (granted_cash + granted_gift)::integer as granted,
      granted_gift::integer as gift,
      charge_count::integer as charges, charge_sum::integer as charged, released::integer,
      month = date_trunc('month', now() at time zone 'UTC') as present
    from ledger_lease_fold where wallet_id = ${walletId}`,
  );

const FOLDED_THREE = { leases: 3, granted: 900, gift: 500, charges: 6, charged: 600, released: 300 };

/** The error of a fold whose connection ends while it waits for the rows that `locking` has locked. */
async function killedWhileWaiting(locking: string, walletId: string): Promise<string> {
  const folding = new Client({ connectionString: money.url });
  folding.on('error', () => undefined);
  await folding.connect();
  await direct.query('begin');
  try {
    await direct.query(locking, [walletId]);
    const outcome = folding
      .query("select ledger_fold_leases(now() - interval '30 days', 500)")
      .then(({ rows }) => `folded ${JSON.stringify(rows)}`, String);
    // Within the transaction of `direct`, the list of connections would not change.
    const waited = vi.waitFor(async () => {
      const rows = await query(
        owner.em.fork(),
        sql`select pg_terminate_backend(pid) from pg_stat_activity
          where wait_event_type = 'Lock' and query like '%ledger_fold_leases%'
            and datname = current_database()`,
      );
      expect(rows).toHaveLength(1);
    }, 10_000);
    return await Promise.race([outcome, waited.then(() => outcome)]);
  } finally {
    await direct.query('rollback');
    // PostgreSQL reports the end of a connection before it releases the locks.
    await vi.waitFor(async () => {
      const { rows } = await direct.query(
        "select from pg_locks where locktype = 'advisory' and objid = 7205118",
      );
      expect(rows).toEqual([]);
    }, 5_000);
  }
}

describe('folding closed leases', () => {
  it('replaces leases and accounts by one row for each wallet and month, and keeps every rule', async () => {
    const { walletId } = await setting(3);
    const open = await setting(0);
    await requested(open.node, open.walletId, 1);
    await grownOld(walletId);
    expect(await foldLeases(money.em(), { batchLeases: 2 })).toBe(3);
    expect(await foldOf(walletId)).toEqual([{ ...FOLDED_THREE, present: true }]);
    expect(await rowsOf(walletId)).toEqual({ leases: 0, accounts: 0, balances: 0 });
    expect((await rowsOf(open.walletId)).leases).toBe(1);
    expect(await checkInvariants(money.em())).toEqual([]);
    expect(await checkNew(money.em())).toEqual([]);
    expect(await foldLeases(money.em())).toBe(0);
  });

  it('answers repeated reports of folded leases as duplicates, and rejects other charges', async () => {
    const { walletId, node, closed } = await setting(2);
    await grownOld(walletId);
    expect(await foldLeases(money.em())).toBe(2);
    const [first] = closed;
    const [record] = first?.records ?? [];
    if (!first || !record) throw new Error('There is no record.');
    const none = { accepted: 0, duplicates: 0, rejected: [] };
    expect(await report(node.nodeId, ...first.records)).toEqual({ ...none, duplicates: 2 });
    const late = reported({ ...node, walletId, seq: 5, leaseId: first.lease.id, cost: PRICE });
    for (const wrong of [late, { ...record, seq: 6 }, { ...record, basePrice: 1n, cost: 1n }])
      expect(await report(node.nodeId, wrong)).toEqual({ ...none, rejected: [wrong.requestId] });
    const other = await money.node();
    const foreign = await report(other.nodeId, record);
    expect(foreign).toEqual({ ...none, rejected: [record.requestId] });
    // Two of the rejected records have numbers of their own, which leave no gap.
    expect(await checkInvariants(money.em())).toEqual([]);
  });

  it('answers reports in the same way while it runs', async () => {
    const { walletId, node, closed } = await setting(12);
    await grownOld(walletId);
    const [answers, folded] = await Promise.all([
      Promise.all(closed.map(({ records }) => report(node.nodeId, ...records))),
      Promise.all(Array.from({ length: 4 }, () => foldLeases(money.em(), { batchLeases: 1 }))),
    ]);
    const duplicates = { accepted: 0, duplicates: 2, rejected: [] };
    expect(answers).toEqual(closed.map(() => duplicates));
    const rest = await foldLeases(money.em());
    expect(folded.reduce((sum, count) => sum + count, rest)).toBe(12);
    expect(await checkInvariants(money.em())).toEqual([]);
  });

  it('gives no second lease for the number of a folded one, nor for one before it', async () => {
    const { walletId, node, closed } = await setting(1);
    const other = await money.wallet({ cash: 90n * PRICE });
    await grownOld(walletId);
    expect(await foldLeases(money.em())).toBe(1);
    const again = { code: 'CONFLICT' };
    await expect(requested(node, walletId, 1)).rejects.toMatchObject(again);
    await expect(requested(node, other.walletId, 0)).rejects.toMatchObject(again);
    expect((await requested(node, walletId, 2)).granted).toBe(3n * PRICE);
    const close = { ...node, leaseId: closed[0]?.lease.id ?? '', count: 2, sum: 200n, actor: SYSTEM_ACTOR };
    // A node takes this as the end of the lease.
    await expect(closeLease(money.em(), close)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('keeps leases that are young, not sealed, reclaimed, or different from the ledger', async () => {
    const young = await setting(1);
    await grownOld('none');
    expect(await foldLeases(money.em())).toBe(0);
    const { walletId, node } = await setting(2);
    await query(
      owner.em.fork(),
      sql`update wallet_lease set ended_at = ended_at - interval '99 days' where wallet_id = ${walletId}`,
    );
    expect(await foldLeases(money.em())).toBe(0);
    await grownOld(walletId);
    await query(
      owner.em.fork(),
      sql`update wallet_lease set state = 'RECLAIMED' where wallet_id = ${walletId} and request_no = 1`,
    );
    const count = (change: 1 | -1) =>
      query(
        owner.em.fork(),
        sql`update wallet_lease set charge_count = charge_count + ${change}
          where journal_id = ${node.journalId} and request_no = 2`,
      );
    await count(1);
    expect(await foldLeases(money.em())).toBe(0);
    await count(-1);
    expect(await foldLeases(money.em(), { here: new Date(Date.now() - 9e9) })).toBe(0);
    expect(await foldLeases(money.em())).toBe(1);
    expect((await rowsOf(walletId)).leases).toBe(1);
    expect((await rowsOf(young.walletId)).leases).toBe(1);
  });

  it('is done by no other way of deleting leases and accounts', async () => {
    const { walletId } = await setting(1);
    await requested(await money.node(), walletId, 9);
    const em = owner.em.fork();
    for (const deletion of [
      sql`delete from wallet_lease where wallet_id = ${walletId}`,
      sql`delete from ledger_account where wallet_id = ${walletId}`,
      sql`delete from ledger_account a using wallet_lease l where l.id = a.lease_id and l.state = 'ACTIVE'`,
      sql`truncate wallet_lease cascade`,
    ])
      await expect(query(em, deletion)).rejects.toThrow(/refused/);
    const asService = query(money.em(), sql`delete from ledger_account where wallet_id = ${walletId}`);
    await expect(asService).rejects.toThrow(/permission denied/);
    const text = 'insert into ledger_entry (id, transaction_id, kind, account_id, amount, balance_after)';
    const entry = `${text} select 'x', id, 'USAGE', 'lease:none:CASH', 1, 0 from ledger_transaction limit 1`;
    await expect(query(em, { text: entry, values: [] })).rejects.toMatchObject({ code: '23503' });
  });

  it.each([
    ['fold', 'update ledger_lease_fold set leases = leases where wallet_id = $1'],
    [
      'number',
      `update ledger_journal_fold set request_no = request_no
        where journal_id in (select journal_id from wallet_lease where wallet_id = $1)`,
    ],
    [
      'balance',
      `update check_balance set balance = balance where account_id in
        (select id from ledger_account where wallet_id = $1 and lease_id is not null)`,
    ],
    ['account', 'update ledger_account set balance = balance where wallet_id = $1 and lease_id is not null'],
  ])('leaves all or nothing if it is killed while it waits for the %s', async (_step, locking) => {
    const { walletId, node } = await setting(3);
    await grownOld(walletId);
    // Rows that the fold changes exist before it, so that each of its statements can be made to wait.
    await direct.query(
      `insert into ledger_lease_fold values ($1, date_trunc('month', now() at time zone 'UTC'),
        0, 0, 0, 0, 0, 0)`,
      [walletId],
    );
    await direct.query('insert into ledger_journal_fold values ($1, 0)', [node.journalId]);
    await direct.query(
      `insert into check_balance select id, 0 from ledger_account
        where wallet_id = $1 and lease_id is not null on conflict do nothing`,
      [walletId],
    );
    const before = await rowsOf(walletId);
    expect(await killedWhileWaiting(locking, walletId)).toMatch(/terminat/);
    expect(await rowsOf(walletId)).toEqual(before);
    expect(await foldOf(walletId)).toMatchObject([{ leases: 0 }]);
    expect(await foldLeases(money.em())).toBe(3);
    expect(await foldOf(walletId)).toMatchObject([FOLDED_THREE]);
    expect(await checkInvariants(money.em())).toEqual([]);
  });

  it.each([
    ['I2', 'an entry of an account that is gone', "delete from ledger_account where kind = 'REVENUE'"],
    ['I5', 'a lost folded lease', 'update ledger_lease_fold set leases = leases - 1'],
    [
      'I5',
      'a changed folded sum',
      'update ledger_lease_fold set charge_sum = charge_sum - 1, released = released + 1',
    ],
    ['I5', 'a missing fold', 'delete from ledger_lease_fold'],
    ['I5', 'a changed charge of a folded lease', 'update usage_charge set amount = amount + 1'],
    ['I5', 'a charge without lease', "update usage_charge set lease_id = 'none'"],
    [
      'I5',
      'a lease that was deleted without its accounts',
      "delete from wallet_lease where state = 'RECLAIMED'",
    ],
  ])('leaves the ledger check able to find, by rule %s, %s', async (rule, _what, forgery) => {
    const em = owner.em.fork();
    const found: string[] = [];
    await em.begin();
    try {
      await query(em, sql`set local session_replication_role = 'replica'`);
      await query(em, { text: forgery, values: [] });
      for (const { rule: name, find } of INVARIANTS)
        if ((await query(em, { text: find, values: [] })).length > 0) found.push(name);
    } finally {
      await em.rollback();
    }
    expect(found).toContain(rule);
  });
});
