/** Money that comes into wallets and goes out of them, beside what nodes spend. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import type { Actor } from '../context.ts';
import { inTransaction, queryOne, sql } from '../sql.ts';
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

/** Money that comes in, goes out, or is moved by hand. Amounts are positive. */
export interface Movement {
  walletId: string;
  amount: Micros;
  kind: TransactionKind;
  /** Unique for all time; repeats of it are answered, not posted. */
  reference: string;
  actor: Actor;
  description: string;
}

/**
 * Adds cash that somebody paid. What is owed from an earlier clawback is repaid first, and a wallet that
 * owes nothing any more thaws.
 */
export async function creditCash(em: EntityManager, movement: Movement): Promise<PostOutcome> {
  return credit(em, movement, FUNDING);
}

/** Gives cash back that was paid for a pool, as `creditCash` does. */
export async function refundPurchase(em: EntityManager, movement: Movement): Promise<PostOutcome> {
  return credit(em, movement, revenueAccount(movement.walletId));
}

async function credit(em: EntityManager, movement: Movement, source: string): Promise<PostOutcome> {
  return inTransaction(em, async (inner) => {
    const { walletId, amount } = movement;
    const owed = await lockReceivable(inner, walletId, source);
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

/** Adds gift credit: spent before cash, never refunded, not good for pools. */
export async function creditGift(em: EntityManager, movement: Movement): Promise<PostOutcome> {
  return move(em, movement, [
    { account: GIFTS, amount: -movement.amount },
    { account: walletAccount(movement.walletId, 'GIFT'), amount: movement.amount },
  ]);
}

/** Takes gift credit back (an expiry, a correction). INSUFFICIENT beyond what no node holds. */
export async function debitGift(em: EntityManager, movement: Movement): Promise<PostOutcome> {
  return move(em, movement, [
    { account: walletAccount(movement.walletId, 'GIFT'), amount: -movement.amount },
    { account: GIFTS, amount: movement.amount },
  ]);
}

/**
 * Pays from cash alone, e.g. for a pool. INSUFFICIENT beyond what no node holds: recall leases, then try
 * again.
 */
export async function payFromCash(em: EntityManager, movement: Movement): Promise<PostOutcome> {
  return move(em, movement, [
    { account: walletAccount(movement.walletId, 'CASH'), amount: -movement.amount },
    { account: revenueAccount(movement.walletId), amount: movement.amount },
  ]);
}

/** Gives cash back to where it came from (a refund to the card). INSUFFICIENT beyond what no node holds. */
export async function returnCash(em: EntityManager, movement: Movement): Promise<PostOutcome> {
  return move(em, movement, [
    { account: FUNDING, amount: movement.amount },
    { account: walletAccount(movement.walletId, 'CASH'), amount: -movement.amount },
  ]);
}

/**
 * Takes cash back that somebody else withdrew (a dispute, a reorganised chain). What is not free becomes a
 * receivable, and the wallet is frozen until it is repaid: from what nodes hold as soon as that is back,
 * which is asked for here, and from what is paid in.
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
 * Repays what the wallet owes from the cash that has come back to it, in the transaction that brought it
 * back; a wallet that owes nothing any more thaws.
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
  const description = 'What was owed, repaid from credit that came back';
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
  if (movement.amount <= 0n) throw new Error('Money moves in positive amounts.');
  return inTransaction(em, async (inner) => {
    // The first line says what was asked for; the others may depend on the balances of the moment.
    const [asked] = lines;
    const input = [movement.walletId, asked?.account, asked?.amount, movement.description].join(' ');
    const result = await post(inner, { ...movement, lines, input });
    if (result.outcome === 'POSTED') await walletChanged(inner, [movement.walletId]);
    return result;
  });
}

async function lockReceivable(em: EntityManager, walletId: string, source: string): Promise<Micros> {
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
