/** Tests of the ledger's guarantees, of adjustments and frozen wallets, and of the command that checks it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMoney } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { createOrm } from '../database/orm.ts';
import { query, sql } from '../database/sql.ts';
import { main } from './check-ledger.ts';
import { checkInvariants, INVARIANTS } from './invariants.ts';
import { FUNDING, post, walletAccount } from './ledger.ts';
import { clawBack, creditCash, payFromCash } from './movements.ts';
import { adjust, walletById } from './wallet.service.ts';

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(async () => {
  await money.close();
});

const actor = { ...SYSTEM_ACTOR, id: 'usr_admin' };

describe('the ledger', () => {
  it('posts a transaction once when it is posted several times', async () => {
    const { walletId } = await money.wallet({});
    const posting = {
      kind: 'TOP_UP_CARD' as const,
      reference: `once:${walletId}`,
      actor: SYSTEM_ACTOR,
      description: 'Top-up',
      lines: [
        { account: FUNDING, amount: -500n },
        { account: walletAccount(walletId, 'CASH'), amount: 500n },
      ],
    };
    const results = await Promise.all(Array.from({ length: 10 }, () => post(money.em(), posting)));
    expect(results.filter((result) => result.outcome === 'POSTED')).toHaveLength(1);
    expect(new Set(results.map((result) => result.transactionId)).size).toBe(1);
    expect((await walletById(money.em(), walletId))?.cash).toBe(500n);
    const other = { ...posting, lines: posting.lines.map((line) => ({ ...line, amount: line.amount * 2n })) };
    expect((await post(money.em(), other)).outcome).toBe('MISMATCH');
  });

  it('writes nothing when a debit exceeds the balance', async () => {
    const { walletId } = await money.wallet({ cash: 100n });
    const movement = { walletId, actor, description: 'Pool', kind: 'POOL_PURCHASE' as const };
    expect(
      (await payFromCash(money.em(), { ...movement, amount: 101n, reference: `pool:${walletId}` })).outcome,
    ).toBe('INSUFFICIENT');
    expect(
      (await payFromCash(money.em(), { ...movement, amount: 100n, reference: `pool:${walletId}` })).outcome,
    ).toBe('POSTED');
    expect(await walletById(money.em(), walletId)).toMatchObject({ cash: 0n, gift: 0n, held: 0n });
  });

  it('accepts exactly 7 of 50 concurrent purchases if the balance pays for exactly 7', async () => {
    const { walletId } = await money.wallet({ cash: 7n * 250_000n });
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, number) =>
        payFromCash(money.em(), {
          walletId,
          actor,
          description: 'Pool',
          kind: 'POOL_PURCHASE',
          amount: 250_000n,
          reference: `race:${walletId}:${number}`,
        }),
      ),
    );
    expect(results.filter((result) => result.outcome === 'POSTED')).toHaveLength(7);
    expect((await walletById(money.em(), walletId))?.cash).toBe(0n);
  });

  it('refuses lines that do not sum to zero, in the service and in the database', async () => {
    const { walletId } = await money.wallet({});
    const lines = [
      { account: FUNDING, amount: -5n },
      { account: walletAccount(walletId, 'CASH'), amount: 6n },
    ];
    await expect(
      post(money.em(), { kind: 'ADJUSTMENT', reference: `skew:${walletId}`, actor, description: 'x', lines }),
    ).rejects.toThrow('sum to zero');
    await expect(
      query(
        money.em(),
        sql`select * from ledger_post('txn_skew', 'ADJUSTMENT', 'skew', 'SYSTEM', null, 'x', null, 'x',
      ${lines.map((line) => line.account)}::text[], ${lines.map((line) => String(line.amount))}::bigint[],
      ${['led_skew1', 'led_skew2']}::text[])`,
      ),
    ).rejects.toThrow('does not sum to zero');
  });

  it('refuses unbalanced entries of a transaction that is posted, also from the owner', async () => {
    const { walletId } = await money.wallet({ cash: 1n });
    const orm = await createOrm(money.url, { asOwner: true, connectionsMax: 1 });
    const entries = (amounts: string[]) => sql`
      insert into ledger_entry (id, transaction_id, kind, account_id, amount, balance_after)
      select 'led_more' || number, t.id, 'ADJUSTMENT', account, amount, 1
      from unnest(${[FUNDING, walletAccount(walletId, 'CASH')]}::text[], ${amounts}::bigint[])
        with ordinality as r (account, amount, number)
      join ledger_transaction t on t.reference = ${`cash:${walletId}`}`;
    const em = orm.em.fork();
    try {
      for (const amounts of [
        ['-1', '2'],
        ['5', '5'],
      ])
        await expect(query(em, entries(amounts))).rejects.toThrow('does not sum to zero');
      await em.begin();
      expect(await query(em, entries(['-7', '7']))).toEqual([]);
      await em.rollback();
    } finally {
      await orm.close(true);
    }
  });

  it('refuses an entry of a transaction or account that does not exist, also from the owner', async () => {
    const { walletId } = await money.wallet({ cash: 1n });
    const orm = await createOrm(money.url, { asOwner: true, connectionsMax: 1 });
    const account = walletAccount(walletId, 'CASH');
    try {
      for (const [transactions, accounts] of [
        [['txn_none'], [account]],
        [
          ['txn_none', 'known'],
          [account, account],
        ],
        [['known'], ['wallet:none:CASH']],
      ]) {
        const entry = sql`
          insert into ledger_entry (id, transaction_id, kind, account_id, amount, balance_after)
          select 'led_' || number, case transaction when 'known'
            then (select min(id) from ledger_transaction) else transaction end, 'ADJUSTMENT', account, 1, 1
          from unnest(${transactions}::text[], ${accounts}::text[]) with ordinality
            as r (transaction, account, number)`;
        await expect(query(orm.em.fork(), entry)).rejects.toMatchObject({ code: '23503' });
      }
    } finally {
      await orm.close(true);
    }
  });

  it.each(['gateway_runtime', 'owner'])(
    'refuses UPDATE, DELETE and TRUNCATE of append-only tables to the role %s',
    async (role) => {
      await money.wallet({ cash: 1n });
      const orm = await createOrm(money.url, { asOwner: role === 'owner', connectionsMax: 1 });
      try {
        for (const table of [
          'ledger_entry',
          'ledger_transaction',
          'usage_charge',
          'usage_entry',
          'settlement_alarm',
        ]) {
          const column = { ledger_entry: 'amount', usage_charge: 'amount' }[table] ?? 'id';
          for (const statement of [
            `update ${table} set ${column} = ${column}`,
            `delete from ${table}`,
            `truncate ${table} cascade`,
          ]) {
            await expect(orm.em.fork().execute(statement), statement).rejects.toThrow(
              /refused|permission denied/,
            );
          }
        }
        await expect(orm.em.fork().execute('delete from ledger_account')).rejects.toThrow(
          /refused|permission denied/,
        );
      } finally {
        await orm.close(true);
      }
    },
  );

  it('lets the runtime role change balances only through ledger_post', async () => {
    const { walletId } = await money.wallet({ cash: 9n });
    const account = walletAccount(walletId, 'CASH');
    for (const statement of [
      sql`update ledger_account set balance = 1000000 where id = ${account}`,
      sql`insert into ledger_account (id, kind, balance) values ('more', 'FUNDING', 5)`,
      sql`insert into ledger_transaction (id, kind, reference, digest, actor_kind, description)
        values ('t', 'ADJUSTMENT', 'r', 'd', 'SYSTEM', 'x')`,
    ])
      await expect(query(money.em(), statement)).rejects.toThrow('permission denied');
  });
});

describe('a wallet', () => {
  it('is adjusted once per idempotency key, which is refused for another input', async () => {
    const { userId, walletId } = await money.wallet({});
    const adjustment = {
      userId,
      bucket: 'CASH' as const,
      amount: 2_000_000n,
      reason: 'Goodwill',
      idempotencyKey: 'k1',
      actor,
    };
    const first = await adjust(money.em(), adjustment);
    expect(await adjust(money.em(), adjustment)).toEqual({ ...first, replayed: true });
    await expect(adjust(money.em(), { ...adjustment, amount: 3_000_000n })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_MISMATCH',
    });
    await expect(
      adjust(money.em(), { ...adjustment, amount: -2_000_001n, idempotencyKey: 'k2' }),
    ).rejects.toMatchObject({ code: 'INSUFFICIENT_BALANCE' });
    expect((await walletById(money.em(), walletId))?.cash).toBe(2_000_000n);
  });

  it('is frozen by a clawback beyond its cash, and unfrozen once the debt is repaid', async () => {
    const { walletId } = await money.wallet({ cash: 30n });
    const movement = { walletId, actor, description: 'Card' };
    await clawBack(money.em(), {
      ...movement,
      amount: 100n,
      kind: 'DISPUTE_HOLD',
      reference: `claw:${walletId}`,
    });
    expect(await walletById(money.em(), walletId)).toMatchObject({ cash: 0n, receivable: 70n, frozen: true });
    const topUp = { ...movement, kind: 'TOP_UP_CARD' as const };
    await creditCash(money.em(), { ...topUp, amount: 50n, reference: `top1:${walletId}` });
    expect(await walletById(money.em(), walletId)).toMatchObject({ cash: 0n, receivable: 20n, frozen: true });
    const last = { ...topUp, amount: 50n, reference: `top2:${walletId}` };
    await creditCash(money.em(), last);
    expect((await creditCash(money.em(), last)).outcome).toBe('REPLAYED');
    expect(await walletById(money.em(), walletId)).toMatchObject({
      cash: 30n,
      receivable: 0n,
      frozen: false,
    });
  });

  it('is checked by a command that prints each violation and then exits with 1', async () => {
    const lines: string[] = [];
    expect(await main(money.url, (line) => lines.push(line))).toBe(0);
    expect(lines).toEqual([`The ledger keeps all ${INVARIANTS.length} invariants.`]);
    expect(await main(undefined, (line) => lines.push(line))).toBe(1);
    expect(lines[1]).toMatch(/^DATABASE_URL is not set\./);
    const owner = await createOrm(money.url, { asOwner: true, connectionsMax: 1 });
    try {
      const forge = (sign: string): Promise<unknown> =>
        owner.em.fork().execute(`update ledger_account set balance = balance ${sign} 7 where id = 'funding'`);
      await forge('+');
      expect(await main(money.url, (line) => lines.push(line))).toBe(1);
      expect(lines.join()).toMatch(/"rule":"I2".*"rule":"I6"/);
      expect(lines.at(-1)).toMatch(/^The ledger has 2 violations/);
      await forge('-');
    } finally {
      await owner.close(true);
    }
  });

  it('has kept every invariant in all tests above', async () => {
    expect(await checkInvariants(money.em())).toEqual([]);
  });
});
