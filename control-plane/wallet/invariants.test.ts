/**
 * Tests that each ledger invariant finds its violations; the database's owner forges them with triggers off.
 */
import { IsolationLevel } from '@mikro-orm/core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { createOrm } from '../database/orm.ts';
import { query } from '../database/sql.ts';
import { settle } from '../usage/settlement.service.ts';
import { checkInvariants, INVARIANTS } from './invariants.ts';
import { closeLease } from './lease.end.ts';
import { requestLease } from './lease.service.ts';
import { clawBack } from './movements.ts';

const PRICE = 250_000n;

let money: Money;
let owner: MikroORM;
beforeAll(async () => {
  money = await openMoney();
  owner = await createOrm(money.url, { asOwner: true, connectionsMax: 1 });
  const [{ walletId }, node] = await Promise.all([money.wallet({ cash: 90n * PRICE }), money.node()]);
  const leases = [];
  for (const requestNo of [1, 2]) {
    const amounts = { need: PRICE, want: 5n * PRICE, waiting: 0n };
    leases.push(await requestLease(money.em(), { ...node, walletId, keyId: null, requestNo, ...amounts }));
  }
  const [closed, open] = leases;
  const { journalId, nodeId } = node;
  const records = [closed, closed, open].map((lease, at) =>
    reported({ journalId, seq: at + 1, leaseId: lease?.id ?? '', walletId, cost: PRICE }),
  );
  await settle(money.em(), { node: { ...SYSTEM_ACTOR, id: nodeId }, records });
  const count = { count: 2, sum: 2n * PRICE, actor: SYSTEM_ACTOR };
  await closeLease(money.em(), { ...node, leaseId: closed?.id ?? '', ...count });
  await clawBack(money.em(), {
    ...{ walletId, amount: 200n * PRICE, kind: 'DISPUTE_HOLD', reference: 'claw', description: 'Card' },
    actor: SYSTEM_ACTOR,
  });
});
afterAll(async () => {
  expect(await checkInvariants(money.em())).toEqual([]);
  await owner.close(true);
  await money.close();
});

/** Thrown to roll the forgery back. */
class Rollback extends Error {}

/** The rules that find a violation after the forgery, which is rolled back. */
async function foundAfter(forgery: string): Promise<string[]> {
  const found: string[] = [];
  const forge = async (em: EntityManager): Promise<never> => {
    const run = (text: string) => query<{ detail: string }>(em, { text, values: [] });
    await run("set local session_replication_role = 'replica'");
    await run(forgery);
    for (const { rule, find } of INVARIANTS) if ((await run(find)).length > 0) found.push(rule);
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

/** SQL that drops constraints of the table: checks by default ('c'), or keys ('p', 'u'). */
const unguarded = (table: string, types = "'c'"): string => `
  do $$ declare c record; begin
    for c in select conname from pg_constraint where conrelid = '${table}'::regclass and contype in (${types})
    loop execute format('alter table ${table} drop constraint %I cascade', c.conname); end loop;
  end $$;`;
/** SQL that inserts a transaction with a single entry. */
const aPosting = (account: string, amount: number): string => `
  insert into ledger_transaction (id, kind, reference, digest, actor_kind, description)
    values ('forged', 'USAGE', 'forged', 'x', 'SYSTEM', 'x');
  insert into ledger_entry (id, transaction_id, kind, account_id, amount, balance_after)
    values ('forged', 'forged', 'USAGE', '${account}', ${amount}, 0);`;

describe('the ledger check', () => {
  it.each([
    ['I1', 'a transaction with a single entry', aPosting('funding', 5)],
    [
      'I1',
      'entries that sum to zero without a transaction',
      `insert into ledger_entry (id, transaction_id, kind, account_id, amount, balance_after)
        values ('one', 'missing', 'USAGE', 'funding', 5, 0), ('two', 'missing', 'USAGE', 'gift', -5, 0)`,
    ],
    [
      'I2',
      'a balance that differs from its entries',
      "update ledger_account set balance = balance + 1 where id = 'gift'",
    ],
    [
      'I2',
      'a balance of an account without entries',
      "update ledger_account set balance = 1 where id = 'writeoff'",
    ],
    [
      'I3',
      'a negative wallet',
      `${unguarded('ledger_account')} update ledger_account set balance = -1 where kind = 'WALLET'`,
    ],
    [
      'I3',
      'a negative lease',
      `${unguarded('ledger_account')} update ledger_account set balance = -1 where kind = 'LEASE'`,
    ],
    [
      'I3',
      'a positive receivable',
      `${unguarded('ledger_account')} update ledger_account set balance = 1 where kind = 'RECEIVABLE'`,
    ],
    [
      'I4',
      'a request charged twice',
      `${unguarded('usage_charge', "'p', 'u'")}
      insert into usage_charge select * from usage_charge where seq = 1`,
    ],
    [
      'I5',
      'a charge missing in the count of its lease',
      'update wallet_lease set charge_count = charge_count - 1',
    ],
    [
      'I5',
      'a lease whose sum differs from its charges',
      `${unguarded('wallet_lease')} update wallet_lease set charge_sum = charge_sum + 1`,
    ],
    [
      'I5',
      'a grant that exceeds charges, return and balance',
      'update wallet_lease set granted_gift = granted_gift + 1',
    ],
    [
      'I5',
      'a return without an entry',
      `${unguarded('wallet_lease')} update wallet_lease set released = released + 1`,
    ],
    ['I5', 'a closed lease with a balance', "update wallet_lease set state = 'CLOSED'"],
    [
      'I5',
      'a charge that its lease counts but did not pay',
      "update usage_charge set settlement = 'WALLET' where seq = 1",
    ],
    [
      'I6',
      'accounts that do not sum to zero',
      "update ledger_account set balance = balance + 1 where id = 'gift'",
    ],
    ['I7', 'a write-off without an alarm', aPosting('writeoff', -5)],
    ['I8', 'paid usage without a charge', 'delete from usage_charge where seq = 3'],
    ['I8', 'a charge without usage', 'delete from usage_entry where cost > 0'],
    ['I8', 'usage with a cost other than its charge', 'update usage_entry set cost = cost + 1'],
    ['I8', 'revenue without a charge', aPosting('revenue:1', 5)],
    [
      'I8',
      'a dropped month with wrong sums',
      `update usage_partition set dropped_at = now(), requests = 3, charges = 2, cost = 1
      where lower_at <= now() and upper_at > now()`,
    ],
    ['I9', 'a gap in a journal', 'update usage_charge set seq = 9 where seq = 3'],
    ['I10', 'an hourly sum that misses a request', 'update usage_hour set requests = requests - 1'],
    ['I10', 'an hourly sum with a wrong cost', 'update usage_hour set cost = cost + 1'],
    ['I10', 'missing hourly sums', 'delete from usage_hour'],
    [
      'I11',
      'a daily sum with a wrong cost',
      "update usage_wallet_span set cost = cost + 1 where width = 'DAY'",
    ],
    [
      'I11',
      'a weekly sum with wrong tokens',
      "update usage_wallet_span set output_tokens = 0 where width = 'WEEK'",
    ],
    ['I11', 'a missing daily sum', "delete from usage_wallet_span where width = 'DAY'"],
  ])('finds, by rule %s, %s', async (rule, _what, forgery) => {
    expect(await foundAfter(forgery)).toContain(rule);
  });

  it('gives each rule a unique name and a text of its guarantee', () => {
    expect(new Set(INVARIANTS.map(({ rule }) => rule)).size).toBe(INVARIANTS.length);
    for (const { promise } of INVARIANTS) expect(promise).toMatch(/^[a-z]+ .+ .+/);
  });

  it('reads all rules in one read-only snapshot', async () => {
    const em = money.em();
    const inner = em.fork();
    vi.spyOn(em, 'fork').mockReturnValue(inner);
    const begin = vi.spyOn(inner, 'transactional');
    expect(await checkInvariants(em)).toEqual([]);
    expect(begin.mock.calls.map(([, options]) => options)).toMatchObject([
      { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true },
    ]);
  });

  it('finds nothing in a correct ledger', async () => {
    expect(await foundAfter('select 1')).toEqual([]);
  });
});
