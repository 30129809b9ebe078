/**
 * Credits and debits of wallets: payments, gifts, purchases, refunds, clawbacks. Usage is settled elsewhere.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import type { Actor } from '../graphql/context.ts';
import { inTransaction, queryOne, sql } from '../database/sql.ts';
import { announceAccount } from './account.record.ts';
import {
  FUNDING,
  GIFTS,
  lockAccounts,
  post,
  receivableAccount,
  revenueAccount,
  walletAccount,
} from './ledger.ts';
import type { Line, PostOutcome, TransactionKind } from './ledger.ts';
import { recallLeases } from './lease.recall.ts';
import { walletChanged } from './wallet.events.ts';

/** A credit or debit of a wallet. */
export interface Movement {
  walletId: string;
  /** Micro-USD, above zero. */
  amount: Micros;
  kind: TransactionKind;
  /** Unique for all time; a repeated reference is answered REPLAYED and not posted again. */
  reference: string;
  actor: Actor;
  description: string;
}

/**
 * Credits paid cash. It first repays the debt of an earlier clawback; the wallet is unfrozen once it has no
 * debt.
 */
export async function creditCash(em: EntityManager, movement: Movement): Promise<PostOutcome> {
  return credit(em, movement, FUNDING);
}

/** Credits cash that was paid for a pool and is refunded; repays a debt as `creditCash` does. */
export async function refundPurchase(em: EntityManager, movement: Movement): Promise<PostOutcome> {
  return credit(em, movement, revenueAccount(movement.walletId));
}

async function credit(em: EntityManager, movement: Movement, source: string): Promise<PostOutcome> {
  return inTransaction(em, async (inner) => {
    const { walletId, amount } = movement;
    const owed = await lockDebt(inner, walletId, source);
    const repaid = amount < owed ? amount : owed;
    const result = await move(inner, movement, [
      { account: source, amount: -amount },
      { account: receivableAccount(walletId), amount: repaid },
      { account: walletAccount(walletId, 'CASH'), amount: amount - repaid },
    ]);
    if (result.outcome === 'POSTED' && owed > 0n && repaid === owed) await setFrozen(inner, walletId, false);
    return result;
  });
}

/** Credits gift credit: it is spent before cash, never refunded, and cannot buy pools. */
export async function creditGift(em: EntityManager, movement: Movement): Promise<PostOutcome> {
  return move(em, movement, [
    { account: GIFTS, amount: -movement.amount },
    { account: walletAccount(movement.walletId, 'GIFT'), amount: movement.amount },
  ]);
}

/**
 * Debits gift credit (an expiry, a correction). INSUFFICIENT if the amount exceeds the gift credit not in
 * leases.
 */
export async function debitGift(em: EntityManager, movement: Movement): Promise<PostOutcome> {
  return move(em, movement, [
    { account: walletAccount(movement.walletId, 'GIFT'), amount: -movement.amount },
    { account: GIFTS, amount: movement.amount },
  ]);
}

/**
 * Pays from cash only, e.g. for a pool. INSUFFICIENT if the amount exceeds the cash not in leases: recall
 * leases, then try again.
 */
export async function payFromCash(em: EntityManager, movement: Movement): Promise<PostOutcome> {
  return move(em, movement, [
    { account: walletAccount(movement.walletId, 'CASH'), amount: -movement.amount },
    { account: revenueAccount(movement.walletId), amount: movement.amount },
  ]);
}

/**
 * Pays cash back to its source (a refund to a card). INSUFFICIENT if the amount exceeds the cash not in
 * leases.
 */
export async function returnCash(em: EntityManager, movement: Movement): Promise<PostOutcome> {
  return move(em, movement, [
    { account: FUNDING, amount: movement.amount },
    { account: walletAccount(movement.walletId, 'CASH'), amount: -movement.amount },
  ]);
}

/**
 * Debits cash that was withdrawn from outside (a dispute, a reorganised chain). An amount beyond the free
 * cash becomes a debt: the wallet is frozen, its leases are recalled, and their returns and later payments
 * repay it.
 */
export async function clawBack(em: EntityManager, movement: Movement): Promise<PostOutcome> {
  return inTransaction(em, async (inner) => {
    const { walletId, amount } = movement;
    const cashAccount = walletAccount(walletId, 'CASH');
    const balances = await lockAccounts(inner, [FUNDING, receivableAccount(walletId), cashAccount]);
    const cash = balances.get(cashAccount) ?? 0n;
    const taken = amount < cash ? amount : cash;
    const result = await move(inner, movement, [
      { account: FUNDING, amount },
      { account: cashAccount, amount: -taken },
      { account: receivableAccount(walletId), amount: taken - amount },
    ]);
    if (result.outcome === 'POSTED' && taken < amount) {
      await setFrozen(inner, walletId, true);
      await recallLeases(inner, walletId);
    }
    return result;
  });
}

/**
 * Repays the wallet's debt from its free cash, in the transaction that returned the cash; the wallet is
 * unfrozen once it has no debt. Throws an Error if the reference was used before.
 */
export async function repayDebt(
  em: EntityManager,
  { walletId, reference, actor }: Pick<Movement, 'walletId' | 'reference' | 'actor'>,
): Promise<void> {
  const [debt, cash] = [receivableAccount(walletId), walletAccount(walletId, 'CASH')];
  const balances = await lockAccounts(em, [debt, cash]);
  const owed = -(balances.get(debt) ?? 0n);
  const free = balances.get(cash) ?? 0n;
  const amount = free < owed ? free : owed;
  if (amount === 0n) return;
  const description = 'Debt repaid from returned credit';
  const { outcome } = await move(
    em,
    { walletId, amount, kind: 'ADJUSTMENT', reference, actor, description },
    [
      { account: cash, amount: -amount },
      { account: debt, amount },
    ],
  );
  if (outcome !== 'POSTED') throw new Error(`${reference} was not posted: ${outcome}.`);
  if (amount === owed) await setFrozen(em, walletId, false);
}

async function move(em: EntityManager, movement: Movement, lines: Line[]): Promise<PostOutcome> {
  if (movement.amount <= 0n) throw new Error('The amount of a movement must be positive.');
  return inTransaction(em, async (inner) => {
    // The first line is what the caller asked for; the others may depend on present balances.
    const [first] = lines;
    const input = [movement.walletId, first?.account, first?.amount, movement.description].join(' ');
    const result = await post(inner, { ...movement, lines, input });
    if (result.outcome === 'POSTED') await walletChanged(inner, [movement.walletId]);
    return result;
  });
}

/** Locks the accounts of a credit and returns the wallet's debt as a positive amount. */
async function lockDebt(em: EntityManager, walletId: string, source: string): Promise<Micros> {
  const account = receivableAccount(walletId);
  const balances = await lockAccounts(em, [source, account, walletAccount(walletId, 'CASH')]);
  return -(balances.get(account) ?? 0n);
}

async function setFrozen(em: EntityManager, walletId: string, frozen: boolean): Promise<void> {
  const changed = await queryOne(
    em,
    sql`
    update wallet set frozen = ${frozen} where id = ${walletId} and frozen <> ${frozen} returning id`,
  );
  if (changed) await announceAccount(em, walletId);
}
