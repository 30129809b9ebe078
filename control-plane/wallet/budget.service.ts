/** The monthly budget of an account: it only warns, and never refuses a request. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import { query, sql } from '../database/sql.ts';
import { UserFailure } from '../graphql/errors.ts';

/**
 * Cost of the requests of wallet `w` in this calendar month (UTC), in micro-USD. The sums are by day and
 * wallet: one look-up per day reads few rows.
 */
export const SPENT_THIS_MONTH = sql`(
  select coalesce(sum(s.cost), 0)
  from generate_series(date_trunc('month', clock_timestamp(), 'UTC'), clock_timestamp(), interval '1 day',
    'UTC') d (at)
  join usage_wallet_span s on s.width = 'DAY' and s.at = d.at and s.wallet_id = w.id)`;

export interface Budget {
  /** In micro-USD per calendar month (UTC); null for none. */
  monthly: Micros | null;
  /** Cost of all requests of the account in this month, in micro-USD. */
  spentThisMonth: Micros;
}

/** The budgets of these wallets. */
export async function budgetsOfWallets(
  em: EntityManager,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Budget>> {
  const rows = await query<{ id: string; monthly: string | null; spent: string }>(
    em,
    sql`select w.id, w.monthly_budget::text as monthly, ${SPENT_THIS_MONTH}::text as spent
    from wallet w where w.id = any(${[...ids]}::text[])`,
  );
  return new Map(
    rows.map(({ id, monthly, spent }) => [
      id,
      { monthly: monthly === null ? null : BigInt(monthly), spentThisMonth: BigInt(spent) },
    ]),
  );
}

/** Sets the monthly budget in micro-USD; null for none. Throws INVALID unless it is above zero. */
export async function setBudget(em: EntityManager, walletId: string, monthly: Micros | null): Promise<void> {
  if (monthly !== null && monthly <= 0n)
    throw new UserFailure('INVALID', 'Enter a budget above zero.', 'monthly');
  await query(em, sql`update wallet set monthly_budget = ${monthly} where id = ${walletId}`);
}
