/** Settings of automatic top-ups: reads and changes them. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { formatDollars } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import { UserFailure } from '../graphql/errors.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import { checkCents } from './amount.rules.ts';
import type { AutoOffReason, AutoTopUp } from './auto.type.ts';
import { lockFacts } from './card/auto.facts.ts';
import { savedCard } from './card/saved-card.ts';
import { offersCard, paymentSettings } from './settings.service.ts';

/** Settings to store; amounts are in micro-USD. */
export interface AutoTopUpChange {
  enabled: boolean;
  threshold: Micros;
  amount: Micros;
  monthlyCap: Micros;
}

/** Settings and state of the wallet's automatic top-ups; null before they were saved once. */
export async function autoTopUpOf(em: EntityManager, walletId: string): Promise<AutoTopUp | null> {
  return inTransaction(em, async (inner) => {
    const facts = await lockFacts(inner, walletId);
    const row = await queryOne<{ reason: AutoOffReason | null }>(
      inner,
      sql`select off_reason as reason from auto_top_up where wallet_id = ${walletId}`,
    );
    return facts ? { ...facts, offReason: row?.reason ?? null } : null;
  });
}

/**
 * Stores the settings, and forgets earlier failures. Throws INVALID, and when they are switched on REQUIRED
 * without a saved card and CONFLICT while payments by card are not offered.
 */
export async function setAutoTopUp(
  em: EntityManager,
  walletId: string,
  { enabled, threshold, amount, monthlyCap }: AutoTopUpChange,
): Promise<void> {
  const terms = await paymentSettings(em);
  const { amountMin, amountMax } = terms;
  checkCents(amount, 'amount');
  if (amount < amountMin || amount > amountMax) {
    const range = `$${formatDollars(amountMin)} to $${formatDollars(amountMax)}`;
    throw new UserFailure('INVALID', `Enter an amount of ${range}.`, 'amount');
  }
  if (threshold < 0n) throw new UserFailure('INVALID', 'The threshold must be zero or more.', 'threshold');
  if (monthlyCap < amount)
    throw new UserFailure('INVALID', 'The sum of a month must be at least one top-up.', 'monthlyCap');
  if (enabled && (!offersCard(terms) || terms.managedPayments))
    throw new UserFailure('CONFLICT', 'The operator does not offer automatic top-ups now.', 'enabled');
  if (enabled && !(await savedCard(em, walletId))) {
    const message = 'There is no saved card. Add credit by card once, and choose to save the card.';
    throw new UserFailure('REQUIRED', message, 'enabled');
  }
  await query(
    em,
    sql`insert into auto_top_up (wallet_id, enabled, threshold, amount, monthly_cap)
    values (${walletId}, ${enabled}, ${threshold}, ${amount}, ${monthlyCap})
    on conflict (wallet_id) do update set enabled = excluded.enabled, threshold = excluded.threshold,
      amount = excluded.amount, monthly_cap = excluded.monthly_cap, off_reason = null,
      changed_at = clock_timestamp()`,
  );
}
