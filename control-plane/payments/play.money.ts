/**
 * Movements of top-ups that were made with the play money of a demo. Play money is gift credit: no account of
 * paid money changes, so that real balances, debts and income never depend on it.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import { UserFailure } from '../graphql/errors.ts';
import { inTransaction, queryOne, sql } from '../database/sql.ts';
import { GIFTS, lockAccounts, walletAccount } from '../wallet/ledger.ts';
import { creditGift, debitGift } from '../wallet/movements.ts';
import type { Movement } from '../wallet/movements.ts';

/**
 * Whether the processor of the settings is the demo's. The answer stays true until the transaction ends: the
 * demo ends after it.
 */
export async function holdPlayMoney(em: EntityManager): Promise<boolean> {
  const row = await queryOne<{ play_money: boolean }>(
    em,
    sql`select play_money from payment_settings where id = 1 for key share`,
  );
  return row?.play_money ?? false;
}

/**
 * Throws CONFLICT if the processor of the settings is no longer of this kind, because the demo has ended
 * meanwhile.
 */
export async function requireSameMoney(em: EntityManager, playMoney: boolean): Promise<void> {
  if ((await holdPlayMoney(em)) === playMoney) return;
  throw new UserFailure('CONFLICT', 'The demo and its play money have ended. Begin a new top-up.');
}

/** A movement of play money. */
export interface PlayMovement {
  /** The movement of the whole amount. */
  movement: Movement;
  /**
   * CREDIT: a payment. TAKE: a refund or dispute, at most the free gift credit, so that no debt remains.
   * TAKE_ALL: a refund that is only asked for. GIVE_BACK: what the movement `undoes` has taken.
   */
  how: 'CREDIT' | 'TAKE' | 'TAKE_ALL' | 'GIVE_BACK';
  /** Reference of the movement that GIVE_BACK undoes. */
  undoes: string;
}

/** Moves play money. Returns whether there was enough; always true except for TAKE_ALL. */
export async function movePlayMoney(
  em: EntityManager,
  { movement, how, undoes }: PlayMovement,
): Promise<boolean> {
  return inTransaction(em, async (inner) => {
    const { walletId } = movement;
    if (how === 'TAKE_ALL') return (await debitGift(inner, movement)).outcome !== 'INSUFFICIENT';
    const amount = how === 'CREDIT' ? movement.amount : await smaller(inner, movement, { how, undoes });
    if (amount === 0n) return true;
    const post = how === 'TAKE' ? debitGift : creditGift;
    const { outcome } = await post(inner, { ...movement, amount });
    if (outcome === 'POSTED' || outcome === 'REPLAYED') return true;
    throw new Error(`${movement.reference} of ${walletId} was not posted: ${outcome}.`);
  });
}

async function smaller(
  em: EntityManager,
  { walletId, amount }: Movement,
  { how, undoes }: { how: 'TAKE' | 'GIVE_BACK'; undoes: string },
): Promise<Micros> {
  const account = walletAccount(walletId, 'GIFT');
  if (how === 'GIVE_BACK') {
    const taken = await queryOne<{ amount: string }>(
      em,
      sql`select (-e.amount)::text as amount from ledger_transaction t
        join ledger_entry e on e.transaction_id = t.id
      where t.reference = ${undoes} and e.account_id = ${account}`,
    );
    return BigInt(taken?.amount ?? 0);
  }
  const free = (await lockAccounts(em, [GIFTS, account])).get(account) ?? 0n;
  return free < amount ? free : amount;
}
