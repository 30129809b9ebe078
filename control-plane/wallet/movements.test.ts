/**
 * Tests of credits, debits, debts and adjustments of wallets: which accounts change, by how much, and once.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMoney } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import { checkInvariants } from './invariants.ts';
import { FUNDING, GIFTS, post, receivableAccount, revenueAccount, walletAccount } from './ledger.ts';
import {
  clawBack,
  creditCash,
  creditGift,
  debitGift,
  payFromCash,
  refundPurchase,
  repayDebt,
  returnCash,
} from './movements.ts';
import type { Movement } from './movements.ts';
import {
  adjust,
  availableIn,
  ensureWallet,
  setLowBalanceThreshold,
  walletIdOf,
  walletOfUser,
  walletsOfUsers,
} from './wallet.service.ts';

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(async () => {
  expect(await checkInvariants(money.em())).toEqual([]);
  await money.close();
});

const actor = { ...SYSTEM_ACTOR, kind: 'USER' as const, id: 'usr_admin' };
let last = 0;

/** A movement with a new reference. */
function movementOf(walletId: string, amount: bigint, kind: Movement['kind'] = 'ADJUSTMENT'): Movement {
  last += 1;
  return { walletId, amount, kind, reference: `moved:${last}`, actor, description: `Move ${last}` };
}

/** The lines of a transaction, by account. */
async function linesOf(transactionId: string | null): Promise<Record<string, bigint>> {
  const rows = await query<{ account_id: string; amount: string }>(
    money.em(),
    sql`select account_id, amount from ledger_entry where transaction_id = ${transactionId}`,
  );
  return Object.fromEntries(rows.map((row) => [row.account_id, BigInt(row.amount)]));
}

/** The last configuration record of the wallet that nodes received, with its revision. */
async function recordOf(walletId: string): Promise<{ payload: object; revision: number } | undefined> {
  return queryOne(
    money.em(),
    sql`select payload, revision from config_log where kind = 'ACCOUNT' and key = ${walletId}`,
  );
}

describe('a movement', () => {
  it.each([
    ['cash paid in', creditCash, FUNDING, 'CASH', 5n],
    ['a gift', creditGift, GIFTS, 'GIFT', 5n],
    ['a debited gift', debitGift, GIFTS, 'GIFT', -5n],
    ['cash paid back', returnCash, FUNDING, 'CASH', -5n],
    ['a purchase', payFromCash, 'revenue', 'CASH', -5n],
    ['a refunded purchase', refundPurchase, 'revenue', 'CASH', 5n],
  ] as const)('changes only the two accounts of %s', async (_name, move, against, bucket, change) => {
    const { walletId } = await money.wallet({ cash: 7n, gift: 9n });
    const movement = movementOf(walletId, 5n);
    const { outcome, transactionId } = await move(money.em(), movement);
    expect(outcome).toBe('POSTED');
    const other = against === 'revenue' ? revenueAccount(walletId) : against;
    expect(await linesOf(transactionId)).toEqual({
      [walletAccount(walletId, bucket)]: change,
      [other]: -change,
    });
    const stored = await queryOne(
      money.em(),
      sql`select kind, reference, actor_kind, actor_id, description, reverses from ledger_transaction
        where id = ${transactionId}`,
    );
    expect(stored).toEqual({
      kind: 'ADJUSTMENT',
      reference: movement.reference,
      actor_kind: 'USER',
      actor_id: 'usr_admin',
      description: movement.description,
      reverses: null,
    });
  });

  it.each([
    ['a gift', debitGift],
    ['cash paid back', returnCash],
    ['a purchase', payFromCash],
  ])('can debit at most the whole balance of %s', async (_name, take) => {
    const { walletId } = await money.wallet({ cash: 7n, gift: 7n });
    expect((await take(money.em(), movementOf(walletId, 8n))).outcome).toBe('INSUFFICIENT');
    expect((await take(money.em(), movementOf(walletId, 7n))).outcome).toBe('POSTED');
    expect((await take(money.em(), movementOf(walletId, 1n))).outcome).toBe('INSUFFICIENT');
  });

  it.each([0n, -1n])('throws an error for an amount of %d', async (amount) => {
    const { walletId } = await money.wallet({});
    await expect(creditCash(money.em(), movementOf(walletId, amount))).rejects.toThrow('must be positive');
  });

  it('is REPLAYED under its reference, and a MISMATCH for any other input', async () => {
    const [{ walletId }, other] = await Promise.all([money.wallet({}), money.wallet({})]);
    const movement = movementOf(walletId, 5n);
    const { transactionId } = await creditCash(money.em(), movement);
    expect(await creditCash(money.em(), movement)).toEqual({ outcome: 'REPLAYED', transactionId });
    for (const changed of [{ amount: 6n }, { walletId: other.walletId }, { description: 'Another' }]) {
      const { outcome } = await creditCash(money.em(), { ...movement, ...changed });
      expect(outcome, JSON.stringify(Object.keys(changed))).toBe('MISMATCH');
    }
    const gift = await creditGift(money.em(), movement);
    expect(gift.outcome).toBe('MISMATCH');
  });

  it('stores the transaction that it reverses', async () => {
    const { walletId } = await money.wallet({ cash: 5n });
    const first = await returnCash(money.em(), movementOf(walletId, 5n));
    const lines = [
      { account: FUNDING, amount: -5n },
      { account: walletAccount(walletId, 'CASH'), amount: 5n },
    ];
    const reverses = String(first.transactionId);
    const again = await post(money.em(), { ...movementOf(walletId, 5n), lines, reverses });
    const stored = await queryOne(
      money.em(),
      sql`select reverses from ledger_transaction where id = ${again.transactionId}`,
    );
    expect(stored).toEqual({ reverses });
  });
});

describe('lines', () => {
  it('are added up for one account, and zero lines are left out', async () => {
    const { walletId } = await money.wallet({});
    const cash = walletAccount(walletId, 'CASH');
    const { transactionId } = await post(money.em(), {
      ...movementOf(walletId, 1n),
      lines: [
        { account: FUNDING, amount: -7n },
        { account: cash, amount: 3n },
        { account: GIFTS, amount: 0n },
        { account: cash, amount: 4n },
      ],
    });
    expect(await linesOf(transactionId)).toEqual({ [FUNDING]: -7n, [cash]: 7n });
  });

  it('are refused before any query if they do not sum to zero', async () => {
    const { walletId } = await money.wallet({});
    const lines = [
      { account: FUNDING, amount: -5n },
      { account: walletAccount(walletId, 'CASH'), amount: 6n },
    ];
    const skewed = { ...movementOf(walletId, 1n), lines };
    await expect(post(money.em(), skewed)).rejects.toThrow(
      `The lines of ${skewed.reference} do not sum to zero.`,
    );
  });

  it('are the same input in another order', async () => {
    const { walletId } = await money.wallet({});
    const lines = [
      { account: FUNDING, amount: -5n },
      { account: walletAccount(walletId, 'CASH'), amount: 5n },
    ];
    const posting = { ...movementOf(walletId, 1n), lines };
    await post(money.em(), posting);
    const { outcome } = await post(money.em(), { ...posting, lines: lines.toReversed() });
    expect(outcome).toBe('REPLAYED');
  });

  it('go for revenue to one of sixteen accounts, always the same for an owner, and use all accounts', () => {
    const owners = Array.from({ length: 400 }, (_, number) => `wal_${number}`);
    const accounts = owners.map((owner) => revenueAccount(owner));
    expect(owners.map((owner) => revenueAccount(owner))).toEqual(accounts);
    expect(new Set(accounts)).toEqual(new Set(Array.from({ length: 16 }, (_, shard) => `revenue:${shard}`)));
  });
});

describe('a debt', () => {
  it('is the part of a clawback that cash does not cover; gift credit does not pay for it', async () => {
    const { walletId, userId } = await money.wallet({ cash: 30n, gift: 50n });
    const { transactionId } = await clawBack(money.em(), movementOf(walletId, 100n, 'DISPUTE_HOLD'));
    expect(await linesOf(transactionId)).toEqual({
      [FUNDING]: 100n,
      [walletAccount(walletId, 'CASH')]: -30n,
      [receivableAccount(walletId)]: -70n,
    });
    const wallet = await walletOfUser(money.em(), userId);
    expect(wallet).toMatchObject({ cash: 0n, gift: 50n, receivable: 70n, frozen: true });
    expect(wallet && availableIn(wallet)).toBe(0n);
  });

  it('freezes and unfreezes the wallet once each, and publishes both to the nodes', async () => {
    const { walletId, userId } = await money.wallet({ cash: 30n });
    const before = await recordOf(walletId);
    expect(before?.payload).toEqual({
      kind: 'ACCOUNT',
      id: walletId,
      walletId,
      closed: false,
      frozen: false,
      suspended: false,
    });
    const held = movementOf(walletId, 31n, 'DISPUTE_HOLD');
    await clawBack(money.em(), held);
    const frozen = await recordOf(walletId);
    expect(frozen?.payload).toMatchObject({ frozen: true });
    await clawBack(money.em(), movementOf(walletId, 1n, 'DISPUTE_HOLD'));
    expect(await recordOf(walletId)).toEqual(frozen);
    await creditCash(money.em(), movementOf(walletId, 1n));
    expect(await recordOf(walletId)).toEqual(frozen);
    const { transactionId } = await creditCash(money.em(), movementOf(walletId, 3n));
    expect(await linesOf(transactionId)).toEqual({
      [FUNDING]: -3n,
      [receivableAccount(walletId)]: 1n,
      [walletAccount(walletId, 'CASH')]: 2n,
    });
    expect((await recordOf(walletId))?.payload).toMatchObject({ frozen: false });
    // A repeated clawback is not posted again and freezes nothing.
    expect((await clawBack(money.em(), held)).outcome).toBe('REPLAYED');
    const wallet = await walletOfUser(money.em(), userId);
    expect(wallet).toMatchObject({ cash: 2n, receivable: 0n, frozen: false });
    expect(wallet && availableIn(wallet)).toBe(2n);
  });

  it.each([
    [20n, 10n],
    [30n, 0n],
  ])('does not arise when %d of a cash of 30 are clawed back', async (amount, left) => {
    const { walletId, userId } = await money.wallet({ cash: 30n });
    const { outcome } = await clawBack(money.em(), movementOf(walletId, amount, 'DISPUTE_HOLD'));
    expect(outcome).toBe('POSTED');
    const state = { cash: left, receivable: 0n, frozen: false };
    expect(await walletOfUser(money.em(), userId)).toMatchObject(state);
  });

  it('is not repaid by a repeated earlier payment', async () => {
    const { walletId, userId } = await money.wallet({});
    const paid = movementOf(walletId, 50n, 'TOP_UP_CARD');
    await creditCash(money.em(), paid);
    await clawBack(money.em(), movementOf(walletId, 80n, 'DISPUTE_HOLD'));
    expect((await creditCash(money.em(), paid)).outcome).toBe('REPLAYED');
    const state = { cash: 0n, receivable: 30n, frozen: true };
    expect(await walletOfUser(money.em(), userId)).toMatchObject(state);
  });

  it('is repaid from returned cash as far as it goes, and then unfreezes the wallet', async () => {
    const { walletId, userId } = await money.wallet({});
    const state = () => walletOfUser(money.em(), userId);
    await clawBack(money.em(), movementOf(walletId, 10n, 'DISPUTE_HOLD'));
    /** Returns cash to the wallet without repaying its debt first, as a lease does, then repays the debt. */
    const bring = (amount: bigint) =>
      inTransaction(money.em(), async (inner) => {
        const lines = [
          { account: FUNDING, amount: -amount },
          { account: walletAccount(walletId, 'CASH'), amount },
        ];
        const { reference } = movementOf(walletId, amount);
        if (amount > 0n) await post(inner, { ...movementOf(walletId, amount), lines });
        await repayDebt(inner, { walletId, reference, actor });
      });
    await bring(4n);
    expect(await state()).toMatchObject({ cash: 0n, receivable: 6n, frozen: true });
    await bring(0n);
    expect(await state()).toMatchObject({ cash: 0n, receivable: 6n, frozen: true });
    await bring(9n);
    expect(await state()).toMatchObject({ cash: 3n, receivable: 0n, frozen: false });
    await bring(1n);
    expect(await state()).toMatchObject({ cash: 4n, receivable: 0n, frozen: false });
  });

  it('throws an error when it is repaid twice under one reference', async () => {
    const { walletId } = await money.wallet({});
    await clawBack(money.em(), movementOf(walletId, 10n, 'DISPUTE_HOLD'));
    const { reference } = movementOf(walletId, 1n);
    const bring = (): Promise<void> =>
      inTransaction(money.em(), async (inner) => {
        const lines = [
          { account: FUNDING, amount: -2n },
          { account: walletAccount(walletId, 'CASH'), amount: 2n },
        ];
        await post(inner, { ...movementOf(walletId, 2n), lines });
        await repayDebt(inner, { walletId, reference, actor });
      });
    await bring();
    const stored = await queryOne(
      money.em(),
      sql`select kind, description from ledger_transaction where reference = ${reference}`,
    );
    const description = 'Debt repaid from returned credit';
    expect(stored).toEqual({ kind: 'ADJUSTMENT', description });
    await expect(bring()).rejects.toThrow(`${reference} was not posted: REPLAYED.`);
  });
});

describe('an adjustment by hand', () => {
  const adjustment = { reason: 'Goodwill', actor };

  it.each([
    ['CASH', 5n, 'ADJUSTMENT', { cash: 15n, gift: 10n }],
    ['CASH', -10n, 'ADJUSTMENT', { cash: 0n, gift: 10n }],
    ['GIFT', 5n, 'GIFT_ADMIN', { cash: 10n, gift: 15n }],
    ['GIFT', -10n, 'ADJUSTMENT', { cash: 10n, gift: 0n }],
  ] as const)('gets for %s by %d an entry of kind %s', async (bucket, amount, kind, after) => {
    const { userId } = await money.wallet({ cash: 10n, gift: 10n });
    const idempotencyKey = `k ${bucket} ${amount}`;
    const done = await adjust(money.em(), { ...adjustment, userId, bucket, amount, idempotencyKey });
    expect(done.replayed).toBe(false);
    expect(await walletOfUser(money.em(), userId)).toMatchObject(after);
    const stored = await queryOne(
      money.em(),
      sql`select kind, description, reference from ledger_transaction where id = ${done.transactionId}`,
    );
    expect(stored).toEqual({
      kind,
      description: 'Goodwill',
      reference: `adjust:usr_admin:${idempotencyKey}`,
    });
  });

  it.each([
    [{ amount: 0n }, 'INVALID', 'amount'],
    [{ reason: ' ' }, 'INVALID', 'reason'],
    [{ reason: 'x'.repeat(501) }, 'INVALID', 'reason'],
    [{ idempotencyKey: '' }, 'INVALID', 'idempotencyKey'],
    [{ idempotencyKey: 'x'.repeat(65) }, 'INVALID', 'idempotencyKey'],
    [{ amount: -11n }, 'INSUFFICIENT_BALANCE', 'amount'],
    [{ userId: 'usr_nobody' }, 'NOT_FOUND', null],
  ])('is refused with %o and moves nothing', async (wrong, code, field) => {
    const { userId } = await money.wallet({ cash: 10n });
    const right = { ...adjustment, userId, bucket: 'CASH' as const, amount: 1n, idempotencyKey: 'k' };
    await expect(adjust(money.em(), { ...right, ...wrong })).rejects.toMatchObject({
      code,
      field: field === null ? null : ['input', field],
    });
    expect(await walletOfUser(money.em(), userId)).toMatchObject({ cash: 10n });
  });

  it('accepts a reason of 500 characters and an idempotency key of 64', async () => {
    const { userId } = await money.wallet({});
    const longest = { reason: 'x'.repeat(500), idempotencyKey: 'x'.repeat(64) };
    await adjust(money.em(), { ...adjustment, ...longest, userId, bucket: 'CASH', amount: 1n });
    expect(await walletOfUser(money.em(), userId)).toMatchObject({ cash: 1n });
  });
});

describe('a wallet', () => {
  it('is opened once for a user when many open it at once', async () => {
    const { userId, walletId } = await money.wallet({});
    const ids = await Promise.all(Array.from({ length: 5 }, () => ensureWallet(money.em(), userId)));
    expect(new Set(ids)).toEqual(new Set([walletId]));
    expect(await walletIdOf(money.em(), userId)).toBe(walletId);
  });

  it('is found by its user, one or several at a time, without wallets of other users', async () => {
    const [one, other] = await Promise.all([
      money.wallet({ cash: 1n }),
      money.wallet({ cash: 2n, gift: 3n }),
    ]);
    expect(await walletOfUser(money.em(), one.userId)).toMatchObject({
      id: one.walletId,
      cash: 1n,
      gift: 0n,
    });
    expect(await walletOfUser(money.em(), 'usr_nobody')).toBeUndefined();
    const found = await walletsOfUsers(money.em(), [other.userId, 'usr_nobody']);
    expect([...found.keys()]).toEqual([other.userId]);
    const wallet = found.get(other.userId);
    expect(wallet).toMatchObject({ cash: 2n, gift: 3n });
    expect(wallet && availableIn(wallet)).toBe(5n);
    await expect(walletIdOf(money.em(), 'usr_nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('accepts a warning threshold of zero or more, or none', async () => {
    const { userId, walletId } = await money.wallet({});
    const set = async (threshold: bigint | null) => {
      await setLowBalanceThreshold(money.em(), walletId, threshold);
      return (await walletOfUser(money.em(), userId))?.lowBalanceThreshold;
    };
    expect([await set(5n), await set(0n), await set(null)]).toEqual([5n, 0n, null]);
    await expect(set(-1n)).rejects.toMatchObject({
      code: 'INVALID',
      field: ['input', 'lowBalanceThreshold'],
    });
  });
});
