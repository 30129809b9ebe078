/** Changes of a pool by administrators: its cap, additional days, and cancelling it with a refund. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { formatDollars } from '@gateway/shared/money';
import { audit } from '../audit/audit.service.ts';
import type { Actor } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { publish } from '../database/events.ts';
import { inTransaction } from '../database/sql.ts';
import { lockAccounts, GIFTS, receivableAccount, revenueAccount, walletAccount } from '../wallet/ledger.ts';
import { debitGift, refundPurchase } from '../wallet/movements.ts';
import { creditOf, recallUntilFree, refundReferences } from './payment.ts';
import type { PoolPeriodRow, PoolRow } from './pool.entity.ts';
import { lockPool, paidSpans, periodsOf, poolById } from './pool.queries.ts';
import { announcePool } from './pool.record.ts';
import { checkVersion, isRenewable, isRunning, stateOf } from './pool.rules.ts';
import { DAY_MS } from './quote.rules.ts';
import { giftDue, refundOf } from './refund.rules.ts';
import { checkRpmCap } from './storefront.service.ts';

const EXTEND_DAYS_MAX = 365;

/** A change by an administrator; fields that are left out stay. */
export interface PoolChange {
  id: string;
  version: number;
  rpmCap?: number | null;
  extendDays?: number | null;
  cancel?: boolean | null;
  reason: string;
}

/**
 * Changes the cap, adds days at the end (a pool that ended at most 14 days ago runs again), or cancels the
 * pool. Throws NOT_FOUND, STALE_VERSION, INVALID, and CONFLICT if the state of the pool does not allow the
 * change.
 */
export async function changePool(em: EntityManager, change: PoolChange, actor: Actor): Promise<PoolRow> {
  if (change.cancel) await recallGift(em, change.id);
  return inTransaction(em, async (inner) => {
    const pool = await lockPool(inner, change.id);
    checkVersion(pool, change.version);
    const before = summary(pool);
    const periods = await periodsOf(inner, pool.id);
    const refund = change.cancel ? await cancel(inner, { pool, periods, actor }, change) : {};
    if (change.rpmCap !== undefined && change.rpmCap !== null) pool.rpmCap = checkRpmCap(change.rpmCap);
    if (change.extendDays) extend(pool, periods, change.extendDays);
    await inner.flush();
    await audit(inner, {
      actor,
      action: change.cancel ? 'pool.cancel' : 'pool.update',
      targetType: 'Pool',
      targetId: pool.id,
      before,
      after: { ...summary(pool), ...refund },
      reason: change.reason,
    });
    await publish(inner, 'poolUpdated', { audience: pool.ownerId, id: pool.id });
    await announcePool(inner, pool);
    return pool;
  });
}

interface Cancellation {
  pool: PoolRow;
  periods: readonly PoolPeriodRow[];
  actor: Actor;
}

/** Cancels the pool now. Returns the refund for the audit log. */
async function cancel(
  em: EntityManager,
  { pool, periods, actor }: Cancellation,
  change: PoolChange,
): Promise<Record<string, unknown>> {
  if (change.extendDays || typeof change.rpmCap === 'number')
    throw new UserFailure('INVALID', 'Either cancel the pool or change it, not both.', 'cancel');
  const now = new Date();
  if (!isRunning(pool, now)) throw new UserFailure('CONFLICT', 'This pool has already ended.', 'cancel');
  const { walletId } = pool;
  const giftAccount = walletAccount(walletId, 'GIFT');
  const others = [
    walletAccount(walletId, 'CASH'),
    receivableAccount(walletId),
    revenueAccount(walletId),
    GIFTS,
  ];
  const giftFree = (await lockAccounts(em, [giftAccount, ...others])).get(giftAccount) ?? 0n;
  const refund = refundOf(await paidSpans(em, periods), giftFree, now);
  const movement = { walletId, actor, description: `Dedicated pool ${pool.subdomain} was cancelled` };
  const [giftReference, cashReference] = refundReferences(pool.id);
  const postings = [
    { amount: refund.gift, post: debitGift, kind: 'ADJUSTMENT', reference: giftReference },
    { amount: refund.cash, post: refundPurchase, kind: 'REFUND', reference: cashReference },
  ] as const;
  for (const { amount, post, kind, reference } of postings) {
    if (amount === 0n) continue;
    const { outcome } = await post(em, { ...movement, amount, kind, reference });
    if (outcome !== 'POSTED') throw new Error(`${reference} was not posted: ${outcome}.`);
  }
  for (const { period, cash } of refund.periods) {
    const { row } = period;
    row.refunded = cash;
    if (row.endsAt > now) row.endsAt = row.startsAt > now ? row.startsAt : now;
  }
  Object.assign(pool, { state: 'CANCELLED', endsAt: now, autoRenew: false });
  return { refunded: formatDollars(refund.cash), giftTakenBack: formatDollars(refund.gift) };
}

function extend(pool: PoolRow, periods: readonly PoolPeriodRow[], days: number): void {
  const now = new Date();
  const [last] = periods;
  if (days < 1 || days > EXTEND_DAYS_MAX)
    throw new UserFailure('INVALID', `Add 1 to ${EXTEND_DAYS_MAX} days.`, 'extendDays');
  if (!last || !isRenewable(pool, now))
    throw new UserFailure('CONFLICT', 'This pool can no longer be extended. Buy a new one.', 'extendDays');
  pool.endsAt = new Date(pool.endsAt.getTime() + days * DAY_MS);
  last.endsAt = pool.endsAt;
  pool.state = stateOf(pool, now);
}

/** Recalls leases with gift credit, so that the refund counts only spent gift credit as spent. */
async function recallGift(em: EntityManager, poolId: string): Promise<void> {
  const pool = await poolById(em.fork(), poolId);
  if (!pool) return;
  const spans = await paidSpans(em.fork(), await periodsOf(em.fork(), poolId));
  const due = giftDue(spans, new Date());
  const { held } = await creditOf(em, pool.walletId, 'GIFT');
  if (held > 0n) await recallUntilFree(em, pool.walletId, { bucket: 'GIFT', amount: due });
}

/** The fields of a pool for the audit log. */
function summary(pool: PoolRow): Record<string, unknown> {
  const { state, rpmCap, endsAt, autoRenew } = pool;
  return { state, rpmCap, endsAt: endsAt.toISOString(), autoRenew };
}
