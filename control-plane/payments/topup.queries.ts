/** Reads top-ups: one, pages of an owner or of all users, their refunds and disputes. */
import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql';
import { pageByColumn } from '../database/page.ts';
import type { RowPage } from '../database/page.ts';
import type { Lookup } from '../database/batches.ts';
import { query, queryRow, sql, toDate } from '../database/sql.ts';
import { TopUpSchema } from './topup.entity.ts';
import type { TopUpRow } from './topup.entity.ts';
import type { DisputeStatus, RefundStatus, TopUpMethod, TopUpState } from './topup.rules.ts';

/**
 * A payment that is open for longer than this counts as stuck, in ms. A checkout page closes within an hour.
 */
const STUCK_MS = 2 * 60 * 60_000;
/** Condition on `top_up`: begun with play money if that is offered now, else with real money. */
export const SAME_MONEY = sql`play_money = (select s.play_money from payment_settings s)`;
const OPEN: readonly TopUpState[] = ['CREATED', 'AWAITING_PAYMENT', 'SEEN', 'CONFIRMING', 'ORPHANED'];

/** Which top-ups a list holds; null conditions hold for all. */
export interface TopUpFilter {
  walletId?: string | null;
  userId?: string | null;
  states?: readonly TopUpState[] | null;
  method?: TopUpMethod | null;
  stuck?: boolean | null;
}

/** A refund as the API shows it. */
export interface RefundView {
  id: string;
  amount: bigint;
  status: RefundStatus;
  reason: string | null;
  createdAt: Date;
}

/** A dispute as the API shows it. */
export interface DisputeView {
  id: string;
  amount: bigint;
  status: DisputeStatus;
  createdAt: Date;
}

/** The top-up with this id; null if there is none. The caller has to check access. */
export function topUpById(em: EntityManager, id: string): Promise<TopUpRow | null> {
  return em.findOne(TopUpSchema, { id }, { refresh: true });
}

/** Top-ups by their ids. The caller has to check access. */
export const topUpsByIds: Lookup<TopUpRow> = async (em, ids) =>
  new Map((await em.find(TopUpSchema, { id: { $in: [...ids] } })).map((row) => [row.id, row]));

/** Sort field and direction of a list of top-ups. */
export interface TopUpSorting {
  field: 'CREATED_AT' | 'AMOUNT';
  direction: 'ASC' | 'DESC';
}

/** A page of the top-ups that match the filter. */
export function topUpsPage(
  em: EntityManager,
  filter: TopUpFilter,
  { order, ...page }: RowPage & { order: TopUpSorting },
): Promise<TopUpRow[]> {
  const direction = order.direction === 'ASC' ? 'asc' : 'desc';
  const { where, options } = pageByColumn(order.field === 'AMOUNT' ? 'amount' : null, page, direction);
  return em.find(TopUpSchema, { $and: [conditionOf(filter), where] }, options);
}

/** Number of top-ups that match the filter. */
export function countTopUps(em: EntityManager, filter: TopUpFilter): Promise<number> {
  return em.count(TopUpSchema, conditionOf(filter));
}

/** Refunds by top-up, oldest first. */
export const refundsOfTopUps: Lookup<RefundView[]> = async (em, ids) => {
  const rows = await query<FactRow<RefundStatus>>(
    em,
    sql`select id, top_up_id, amount::text, status, reason, created_at from top_up_refund
      where top_up_id = any(${[...ids]}::text[]) order by created_at, id`,
  );
  return Map.groupBy(rows.map(viewOf), ({ topUpId }) => topUpId);
};

/** Disputes by top-up, oldest first. */
export const disputesOfTopUps: Lookup<DisputeView[]> = async (em, ids) => {
  const rows = await query<FactRow<DisputeStatus>>(
    em,
    sql`select id, top_up_id, amount::text, status, reason, created_at from top_up_dispute
      where top_up_id = any(${[...ids]}::text[]) order by created_at, id`,
  );
  return Map.groupBy(rows.map(viewOf), ({ topUpId }) => topUpId);
};

/**
 * A user's card top-ups of the last 24 hours: their sum in micro-USD without failed and expired ones, their
 * number, and how many of them await payment.
 */
async function cardUseOfDay(
  em: EntityManager,
  userId: string,
): Promise<{ sum: bigint; count: number; open: number }> {
  const row = await queryRow<{ sum: string; count: number; open: number }>(
    em,
    sql`select coalesce(sum(amount) filter (where state not in ('FAILED', 'EXPIRED')), 0)::text as sum,
      count(*)::integer as count,
      (count(*) filter (where state in ('CREATED', 'AWAITING_PAYMENT')))::integer as open
    from top_up where user_id = ${userId} and method = 'CARD' and ${SAME_MONEY}
      and created_at > now() - interval '24 hours'`,
  );
  return { ...row, sum: BigInt(row.sum) };
}

/**
 * As `cardUseOfDay`. Serialises the card top-ups of the user until the transaction ends, so that concurrent
 * ones cannot exceed the limits together.
 */
export async function lockCardUse(
  em: EntityManager,
  userId: string,
): Promise<{ sum: bigint; count: number; open: number }> {
  await query(em, sql`select pg_advisory_xact_lock(hashtextextended(${`top-ups ${userId}`}, 0))`);
  return cardUseOfDay(em, userId);
}

/** Number of top-ups by issue; those that are open for too long count as OVERDUE. */
export async function stuckCounts(em: EntityManager): Promise<Map<string, number>> {
  const rows = await query<{ issue: string; count: number }>(
    em,
    sql`select coalesce(issue, 'OVERDUE') as issue, count(*)::integer as count from top_up
    where issue is not null
      or (state = any(${[...OPEN]}::text[]) and created_at < ${new Date(Date.now() - STUCK_MS)})
    group by 1`,
  );
  return new Map(rows.map(({ issue, count }) => [issue, count]));
}

function conditionOf({ walletId, userId, states, method, stuck }: TopUpFilter): FilterQuery<TopUpRow> {
  const overdue = { state: { $in: [...OPEN] }, createdAt: { $lt: new Date(Date.now() - STUCK_MS) } };
  return {
    ...(walletId && { walletId }),
    ...(userId && { userId }),
    ...(states?.length && { state: { $in: [...states] } }),
    ...(method && { method }),
    ...(stuck && { $or: [{ issue: { $ne: null } }, overdue] }),
  };
}

interface FactRow<Status> {
  id: string;
  top_up_id: string;
  amount: string;
  status: Status;
  reason: string | null;
  created_at: string;
}

function viewOf<Status>({ id, status, reason, ...row }: FactRow<Status>): {
  id: string;
  topUpId: string;
  amount: bigint;
  status: Status;
  reason: string | null;
  createdAt: Date;
} {
  return {
    ...{ id, status, reason },
    topUpId: row.top_up_id,
    amount: BigInt(row.amount),
    createdAt: toDate(row.created_at),
  };
}
