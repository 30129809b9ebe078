/**
 * Tests that the incremental ledger check finds every forgery of rows it has not checked yet, and that the
 * digests show every forgery of sealed rows. The database's owner forges rows with triggers off.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { createOrm } from '../database/orm.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { settle } from '../usage/settlement.service.ts';
import { checkNew, violationsOfNew } from './incremental-check.ts';
import { checkInvariants, violationsOfAll } from './invariants.ts';
import { requestLease } from './lease.service.ts';
import { sumUpUsageDays } from './usage-days.ts';

const PRICE = 100n;
const OLD_DAYS = 6;

let money: Money;
let owner: MikroORM;
let node: { nodeId: string; journalId: string };
let lease: { walletId: string; leaseId: string };
let seq = 0;

beforeAll(async () => {
  money = await openMoney();
  owner = await createOrm(money.url, { asOwner: true, connectionsMax: 1 });
  const [{ walletId }, added] = await Promise.all([money.wallet({ cash: 9_000n * PRICE }), money.node()]);
  node = added;
  const amounts = { need: PRICE, want: 900n * PRICE, waiting: 0n };
  const { id } = await requestLease(money.em(), { ...node, walletId, keyId: null, requestNo: 1, ...amounts });
  lease = { walletId, leaseId: id };
  await addOldRow();
  await charge(2);
  await passDay();
  await charge(1);
  await passDay();
  await sumUpUsageDays(money.em());
  await check();
  await checkLater();
  await charge(3);
});
afterAll(async () => {
  await owner.close(true);
  await money.close();
});

/** Settles charges, each in a batch of its own. */
async function charge(count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    seq += 1;
    const { journalId, nodeId } = node;
    const records = [reported({ journalId, seq, ...lease, cost: PRICE })];
    await settle(money.em(), { node: { ...SYSTEM_ACTOR, id: nodeId }, records });
  }
}

/** Adds a free request of a day that gets no more rows. */
async function addOldRow(): Promise<void> {
  const at = sql`clock_timestamp() - ${OLD_DAYS} * interval '1 day'`;
  const em = owner.em.fork();
  await query(em, sql`select usage_make_partitions(${at}, clock_timestamp())`);
  await query(em, sql`insert into usage_request (request_id, at) values ('old', ${at})`);
  await query(
    em,
    sql`insert into usage_entry (request_id, id, at, node_id, key_id, wallet_id, billing_group, source,
        model_name, family, base_price, ratio, cost, status, outcome, http_status, streamed, latency_ms)
      select 'old', 'use_old', at, ${node.nodeId}, 'key_old', ${lease.walletId}, 'default', 'API_KEY',
        'swift', 'chat_completions', 0, '1', 0, 'FAILED', 'UPSTREAM_FAILED', 502, false, 1
      from usage_request where request_id = 'old'`,
  );
}

/** Moves all entries of the ledger one day back. */
async function passDay(): Promise<void> {
  await owner.em.fork().transactional(async (em: EntityManager) => {
    await query(em, sql`set local session_replication_role = 'replica'`);
    await query(em, sql`update ledger_entry set at = at - interval '1 day'`);
  });
}

async function check(): Promise<void> {
  expect(await checkNew(money.em())).toEqual([]);
}

/** Checks after the time that a range needs to be sealed. */
async function checkLater(): Promise<void> {
  await query(money.em(), sql`update check_candidate set noted_at = noted_at - interval '1 hour'`);
  await check();
}

/** Thrown to roll the forgery back. */
class Rollback extends Error {}

/** The rules with violations after the forgery, by the incremental and by the full check. */
async function foundAfter(forgery: string): Promise<{ incremental: string[]; full: string[] }> {
  const found: { incremental: string[]; full: string[] } = { incremental: [], full: [] };
  const forge = async (em: EntityManager): Promise<never> => {
    const run = (text: string) => query(em, { text, values: [] });
    await run("set local session_replication_role = 'replica'");
    await run(forgery);
    found.incremental = (await violationsOfNew(em)).map(({ rule }) => rule);
    found.full = (await violationsOfAll(em)).map(({ rule }) => rule);
    throw new Rollback();
  };
  await owner.em
    .fork()
    .transactional(forge)
    .catch((error: unknown) => {
      if (!(error instanceof Rollback)) throw error;
    });
  return found;
}

/** The result of `read` while the transaction of the ledger has another description. */
async function forgedDigests<Read>(id: string, read: (em: EntityManager) => Promise<Read>): Promise<Read> {
  let forged: Read | undefined;
  const forge = async (em: EntityManager): Promise<never> => {
    await query(em, sql`set local session_replication_role = 'replica'`);
    await query(em, sql`update ledger_transaction set description = 'forged' where id = ${id}`);
    forged = await read(em);
    throw new Rollback();
  };
  await owner.em
    .fork()
    .transactional(forge)
    .catch((error: unknown) => {
      if (!(error instanceof Rollback)) throw error;
    });
  if (forged === undefined) throw new Error('The forgery failed.');
  return forged;
}

const SEALED = '(select upper_seq from check_segment)';
const CHANGES: readonly [table: string, change: string][] = [
  ['ledger_entry', 'amount = amount + 1'],
  ['ledger_entry', 'balance_after = balance_after + 1'],
  ['ledger_entry', "at = at + interval '1 microsecond'"],
  ['ledger_transaction', "description = description || '.'"],
  ['usage_charge', 'amount = amount + 1'],
  ['usage_charge', "settlement = 'WALLET'"],
];

/** The rows of a table that belong to ledger entries of one side of the end of the sealed range. */
const rowsOf = (table: string, side: '<=' | '>'): string => {
  const transactions = `select transaction_id from ledger_entry
    where kind = 'USAGE' and seq ${side} ${SEALED}`;
  const column = table === 'ledger_transaction' ? 'id' : 'transaction_id';
  return `${column} in (${transactions})`;
};

describe('the incremental ledger check', () => {
  it('seals checked rows that can no longer grow, and continues after them', async () => {
    const state = await queryOne<{ ranges: number; days: number; journal: number; all: boolean }>(
      money.em(),
      sql`select (select count(*)::integer from check_segment) as ranges,
        (select count(*)::integer from check_day where requests = 1) as days,
        (select seq::integer from check_journal) as journal,
        (select sum(balance) = 0 and bool_and(b.balance = (select sum(amount) from ledger_entry e
          where e.account_id = b.account_id and seq <= (select upper_seq from check_segment)))
          from check_balance b) as all`,
    );
    expect(state).toEqual({ ranges: 1, days: 1, journal: 3, all: true });
    expect(await foundAfter('select 1')).toEqual({ incremental: [], full: [] });
  });

  it.each(CHANGES)('finds a changed row of %s by digest (%s)', async (table, change) => {
    const { incremental, full } = await foundAfter(
      `update ${table} set ${change} where ${rowsOf(table, '<=')}`,
    );
    expect(incremental).toContain('I12');
    expect(full).toContain('I12');
  });

  it.each(['ledger_entry', 'ledger_transaction', 'usage_charge'])(
    'finds missing and added sealed rows of %s',
    async (table) => {
      const rows = rowsOf(table, '<=');
      expect((await foundAfter(`delete from ${table} where ${rows}`)).full).toContain('I12');
      const copy = `create temp table copied on commit drop as select * from ${table} where ${rows} limit 1;`;
      const change = {
        ledger_entry: "id = 'added', seq = 0",
        ledger_transaction: "id = 'added', reference = 'added'",
        usage_charge: "request_id = 'added', seq = 999",
      }[table];
      const add = `${copy} update copied set ${change}; insert into ${table} overriding system value
        select * from copied`;
      expect((await foundAfter(add)).full).not.toEqual([]);
    },
  );

  it.each([
    ['an amount', `update ledger_entry set amount = amount + 1 where ${rowsOf('ledger_entry', '>')}`],
    [
      'a missing entry',
      `delete from ledger_entry where ${rowsOf('ledger_entry', '>')} and bucket is not null`,
    ],
    ['a charge', `update usage_charge set amount = amount + 1 where ${rowsOf('usage_charge', '>')}`],
    ['a missing charge', `delete from usage_charge where ${rowsOf('usage_charge', '>')}`],
    ['a journal position', 'update usage_charge set seq = 99 where seq = 6'],
    ['a cost', 'update usage_entry set cost = cost + 1 where cost > 0'],
    ['a missing usage row', 'delete from usage_entry where cost > 0'],
    ['a balance', "update ledger_account set balance = balance + 1 where kind = 'LEASE'"],
    ['a lease', 'update wallet_lease set charge_count = charge_count + 1'],
    ['an hourly sum', "update usage_hour set requests = requests + 1 where status = 'SUCCEEDED'"],
    ['a daily sum', "update usage_wallet_span set cost = cost + 1 where width = 'DAY'"],
  ])('finds %s that changed after the sealed range, as the full check does', async (_what, forgery) => {
    const { incremental, full } = await foundAfter(forgery);
    expect(full).not.toEqual([]);
    expect(incremental).not.toEqual([]);
    expect(full.filter((rule) => rule !== 'I12')).toEqual(expect.arrayContaining(incremental));
  });

  it.each([
    ['a changed row', "update usage_entry set latency_ms = 2 where request_id = 'old'"],
    ['a missing row', "delete from usage_entry where request_id = 'old'"],
    ['a changed hourly sum', "update usage_hour set requests = 2 where key_id = 'key_old'"],
  ])('finds %s of a sealed day of the usage log', async (_what, forgery) => {
    const { incremental, full } = await foundAfter(forgery);
    expect([incremental.includes('I13'), full.includes('I13')]).toEqual([true, true]);
  });

  it.each([
    ['a sum', 'update wallet_usage_day set amount = amount + 1'],
    ['a number of entries', 'update wallet_usage_day set entries = entries + 1'],
    ['a balance', 'update wallet_usage_day set balance_after = balance_after + 1'],
    ['a missing row', 'delete from wallet_usage_day'],
    ['a row of another wallet', "update wallet_usage_day set wallet_id = 'wal_other'"],
    ['a row of another day', 'update wallet_usage_day set day = day + 1'],
    ['a row with another last entry', 'update wallet_usage_day set last_seq = last_seq + 1'],
    ['a row beyond the summed days', 'update wallet_usage_seal set next_seq = 1'],
    ['a gap between days', 'update wallet_usage_range set lower_seq = lower_seq + 1'],
    ['an entry of a summed day', "update ledger_entry set amount = amount + 1 where kind = 'USAGE'"],
  ])('finds %s that differs from the ledger, in summed days of wallets', async (_what, forgery) => {
    const { incremental, full } = await foundAfter(forgery);
    expect([incremental.includes('I14'), full.includes('I14')]).toEqual([true, true]);
  });

  it('notes which summed days it has compared, so that all are compared in turn', async () => {
    const days = await query<{ all: boolean }>(
      money.em(),
      sql`select bool_and(compared_at is not null) as all from wallet_usage_range`,
    );
    expect(days).toEqual([{ all: true }]);
  });

  it('counts a transaction whose entries are in two ranges in the first one alone', async () => {
    const row = await queryOne<{ id: string; first: string; last: string }>(
      money.em(),
      sql`select transaction_id as id, min(seq)::text as first, max(seq)::text as last from ledger_entry
        group by transaction_id having count(*) > 1 limit 1`,
    );
    const { id = '', first = '0', last = '0' } = row ?? {};
    const digests = (em: EntityManager) =>
      queryOne<{ before: string; after: string }>(
        em,
        sql`select (check_segment_digest(${first}::bigint - 1, ${first}::bigint)).digest as before,
          (check_segment_digest(${first}::bigint, ${last}::bigint)).digest as after`,
      );
    const [known, forged] = [await digests(money.em()), await forgedDigests(id, digests)];
    expect(forged?.before).not.toBe(known?.before);
    expect(forged?.after).toBe(known?.after);
  });

  it('seals nothing while a rule is broken', async () => {
    await query(owner.em.fork(), sql`update wallet_lease set charge_count = charge_count + 1`);
    await query(money.em(), sql`update check_candidate set noted_at = noted_at - interval '1 hour'`);
    expect(await checkNew(money.em())).toMatchObject([{ rule: 'I5' }]);
    await query(owner.em.fork(), sql`update wallet_lease set charge_count = charge_count - 1`);
    const ranges = () => query(money.em(), sql`select from check_segment`);
    expect(await ranges()).toHaveLength(1);
    await checkLater();
    await checkLater();
    expect(await ranges()).toHaveLength(2);
    expect(await checkInvariants(money.em())).toEqual([]);
  });
});
