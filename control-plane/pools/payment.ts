/** Pays for a period of a pool from cash, recalling leases if needed, and credits the period's gift. */
import { setTimeout as delay } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import { formatDollars } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import type { Actor } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { queryOne, sql } from '../database/sql.ts';
import { recallLeases } from '../wallet/lease.recall.ts';
import { GIFTS, lockAccounts, revenueAccount, walletAccount } from '../wallet/ledger.ts';
import type { Bucket } from '../wallet/ledger.ts';
import { creditGift, payFromCash } from '../wallet/movements.ts';

/** How long to wait for recalled leases, in ms. Nodes keep a lease while its requests run. */
const RECALL_WAIT_MS = 5_000;
const RECALL_POLL_MS = 100;

/** The payment of a period; amounts are in micro-USD. */
export interface PeriodPayment {
  walletId: string;
  /** Price of the period, paid from cash. */
  total: Micros;
  /** Gift credit that comes with the period. */
  gift: Micros;
  kind: 'POOL_PURCHASE' | 'POOL_RENEWAL';
  poolId: string;
  /**
   * Number of the period within its pool. It is part of the ledger references, so that no period is paid
   * twice.
   */
  number: number;
  actor: Actor;
  description: string;
}

/** Ledger references of a period's payment and gift. */
export function referencesOf({ poolId, number }: Pick<PeriodPayment, 'poolId' | 'number'>): {
  paid: string;
  gift: string;
} {
  return { paid: `pool:${poolId}:${number}:paid`, gift: `pool:${poolId}:${number}:gift` };
}

/** Ledger references of the gift debited and the cash refunded when a pool is cancelled. */
export function refundReferences(poolId: string): [gift: string, cash: string] {
  return [`pool:${poolId}:cancelled:gift`, `pool:${poolId}:cancelled:cash`];
}

/**
 * Debits the price from cash and credits the gift, in the caller's transaction. Throws WALLET_FROZEN, and
 * INSUFFICIENT_BALANCE if the price exceeds the cash not in leases.
 */
export async function payForPeriod(em: EntityManager, payment: PeriodPayment): Promise<void> {
  const { walletId, total, gift, kind, actor, description } = payment;
  const cash = walletAccount(walletId, 'CASH');
  const accounts = [cash, walletAccount(walletId, 'GIFT'), revenueAccount(walletId), GIFTS];
  const free = (await lockAccounts(em, accounts)).get(cash) ?? 0n;
  // A clawback freezes the wallet while it holds the lock on its cash, so the wallet cannot be frozen after
  // this check.
  await refuseFrozen(em, walletId);
  if (free < total) throw shortfallFailure(total - free);
  const references = referencesOf(payment);
  if (total > 0n) {
    const paid = { walletId, amount: total, kind, reference: references.paid, actor, description };
    const { outcome } = await payFromCash(em, paid);
    if (outcome !== 'POSTED') throw new Error(`${references.paid} was not posted: ${outcome}.`);
  }
  if (gift > 0n) {
    const { outcome } = await creditGift(em, {
      walletId,
      amount: gift,
      kind: 'GIFT_POOL',
      reference: references.gift,
      actor,
      description: `Gift: ${description}`,
    });
    if (outcome !== 'POSTED') throw new Error(`${references.gift} was not posted: ${outcome}.`);
  }
}

/**
 * Runs `attempt`, which is a transaction of its own. If it throws INSUFFICIENT_BALANCE while leases hold the
 * missing cash, recalls the leases and tries again for up to five seconds.
 */
export async function withRecalledCash<T>(
  em: EntityManager,
  need: { walletId: string; amount: Micros },
  attempt: () => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + RECALL_WAIT_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const isShort = error instanceof UserFailure && error.code === 'INSUFFICIENT_BALANCE';
      if (!isShort || performance.now() > deadline) throw error;
      const { free, held } = await creditOf(em, need.walletId, 'CASH');
      if (free + held < need.amount) throw error;
      await recallLeases(em, need.walletId);
      await delay(RECALL_POLL_MS);
    }
  }
}

/**
 * Recalls leases until the amount is free in the bucket, no lease holds any of it, or five seconds have
 * passed.
 */
export async function recallUntilFree(
  em: EntityManager,
  walletId: string,
  need: { bucket: Bucket; amount: Micros },
): Promise<void> {
  const deadline = performance.now() + RECALL_WAIT_MS;
  for (;;) {
    const { free, held } = await creditOf(em, walletId, need.bucket);
    if (free >= need.amount || held === 0n || performance.now() > deadline) return;
    await recallLeases(em, walletId);
    await delay(RECALL_POLL_MS);
  }
}

/** Credit in a bucket of a wallet, in micro-USD: free, and in leases that can be recalled. */
export async function creditOf(
  em: EntityManager,
  walletId: string,
  bucket: Bucket,
): Promise<{ free: Micros; held: Micros }> {
  const row = await queryOne<{ free: string; held: string }>(
    em,
    sql`select
      (select coalesce(sum(balance), 0) from ledger_account
        where id = ${walletAccount(walletId, bucket)})::text as free,
      (select coalesce(sum(a.balance), 0) from wallet_lease l join ledger_account a on a.lease_id = l.id
        where l.wallet_id = ${walletId} and l.state = 'ACTIVE' and a.bucket = ${bucket})::text as held`,
  );
  return { free: BigInt(row?.free ?? '0'), held: BigInt(row?.held ?? '0') };
}

/** Cash in micro-USD that can pay for a purchase, including leases that can be recalled; 0 while frozen. */
export async function payableCash(em: EntityManager, walletId: string): Promise<Micros> {
  const { free, held } = await creditOf(em, walletId, 'CASH');
  return (await isFrozen(em, walletId)) ? 0n : free + held;
}

async function refuseFrozen(em: EntityManager, walletId: string): Promise<void> {
  if (!(await isFrozen(em, walletId))) return;
  throw new UserFailure(
    'WALLET_FROZEN',
    'The wallet is frozen until its debt is repaid. Add credit to repay it.',
  );
}

async function isFrozen(em: EntityManager, walletId: string): Promise<boolean> {
  const row = await queryOne<{ frozen: boolean }>(em, sql`select frozen from wallet where id = ${walletId}`);
  return row?.frozen ?? true;
}

function shortfallFailure(shortfall: Micros): UserFailure {
  return new UserFailure(
    'INSUFFICIENT_BALANCE',
    `The wallet lacks $${formatDollars(shortfall)} of free cash. Add credit, then try again.`,
  );
}
