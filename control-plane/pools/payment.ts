/** Paying for a period from cash alone, recalled from nodes where they hold it, and the gift for it. */
import { setTimeout as delay } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import { formatDollars } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import type { Actor } from '../context.ts';
import { UserFailure } from '../errors.ts';
import { queryOne, sql } from '../sql.ts';
import { recallLeases } from '../wallet/lease.recall.ts';
import { GIFTS, lockAccounts, revenueAccount, walletAccount } from '../wallet/ledger.ts';
import type { Bucket } from '../wallet/ledger.ts';
import { creditGift, payFromCash } from '../wallet/movements.ts';

/** How long a purchase waits for recalled leases, in ms: nodes keep what requests are spending. */
const RECALL_WAIT_MS = 5_000;
const RECALL_POLL_MS = 100;

export interface PeriodPayment {
  walletId: string;
  total: Micros;
  gift: Micros;
  kind: 'POOL_PURCHASE' | 'POOL_RENEWAL';
  poolId: string;
  /** The number of the period: what is paid and given for it stands in the ledger once for all time. */
  number: number;
  actor: Actor;
  description: string;
}

/** The ledger references under which a period was paid, and its gift given. */
export function referencesOf({ poolId, number }: Pick<PeriodPayment, 'poolId' | 'number'>): {
  paid: string;
  gift: string;
} {
  return { paid: `pool:${poolId}:${number}:paid`, gift: `pool:${poolId}:${number}:gift` };
}

/** The ledger references under which a cancelled pool's gift was taken back, and cash given back. */
export function refundReferences(poolId: string): [gift: string, cash: string] {
  return [`pool:${poolId}:cancelled:gift`, `pool:${poolId}:cancelled:cash`];
}

/**
 * Takes the price from cash and gives the gift, in the caller's transaction. Throws WALLET_FROZEN, and
 * INSUFFICIENT_BALANCE beyond the cash that no node holds.
 */
export async function payForPeriod(em: EntityManager, payment: PeriodPayment): Promise<void> {
  const { walletId, total, gift, kind, actor, description } = payment;
  const cash = walletAccount(walletId, 'CASH');
  const accounts = [cash, walletAccount(walletId, 'GIFT'), revenueAccount(walletId), GIFTS];
  const free = (await lockAccounts(em, accounts)).get(cash) ?? 0n;
  // A clawback freezes the wallet under the lock on its cash, so that this cannot be overtaken by one.
  await refuseFrozen(em, walletId);
  if (free < total) throw shortOf(total - free);
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
 * Runs `attempt`, a transaction of its own. Where it fails because nodes hold the cash, their leases are
 * recalled and it is tried again, until the cash is there or five seconds have passed.
 */
export async function recallingCash<T>(
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

/** Calls back what nodes hold of the bucket until so much is free, or nothing more is held, or time is up. */
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

/** What a wallet has of a bucket: free, and in leases that could be recalled. */
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

/** The cash that a purchase could be paid from, what nodes would give back included; 0 while frozen. */
export async function payableCash(em: EntityManager, walletId: string): Promise<Micros> {
  const { free, held } = await creditOf(em, walletId, 'CASH');
  return (await isFrozen(em, walletId)) ? 0n : free + held;
}

async function refuseFrozen(em: EntityManager, walletId: string): Promise<void> {
  if (!(await isFrozen(em, walletId))) return;
  throw new UserFailure(
    'WALLET_FROZEN',
    'The wallet is frozen until what it owes is repaid. Add credit first.',
  );
}

async function isFrozen(em: EntityManager, walletId: string): Promise<boolean> {
  const row = await queryOne<{ frozen: boolean }>(em, sql`select frozen from wallet where id = ${walletId}`);
  return row?.frozen ?? true;
}

function shortOf(shortfall: Micros): UserFailure {
  return new UserFailure(
    'INSUFFICIENT_BALANCE',
    `The wallet lacks $${formatDollars(shortfall)} of cash that no request uses. Add credit and try again.`,
  );
}
