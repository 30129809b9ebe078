/**
 * Health of the card processor, from the results of calls and comparisons; and what comparisons corrected.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import type { HealthStatus } from '../graphql/enums.ts';
import { query, sql, toDate } from '../database/sql.ts';
import { offersCard, paymentSettings } from './settings.service.ts';
import type { PaymentSettingsRow } from './settings.entity.ts';
import type { TopUpState } from './topup.rules.ts';

/** The processor counts as down if its last call failed, and none succeeded for this time, in ms. */
const DOWN_MS = 10 * 60_000;
/** Time after which open top-ups must have been compared again, in ms: some runs of the job. */
const COMPARED_MS = 10 * 60_000;
/** Corrections that are listed, the newest first. */
const LISTED_MAX = 100;

/** A difference to the processor that a comparison found and corrected. */
export interface Correction {
  id: string;
  topUpId: string | null;
  detail: string;
  /** State of the top-up afterwards; null if no top-up is known. */
  state: TopUpState | null;
  /** Micro-USD that the wallet gained, negative for losses; null if no money moved. */
  amount: Micros | null;
  foundAt: Date;
}

/** Health of the processor now. */
export async function processorHealth(em: EntityManager): Promise<keyof typeof HealthStatus> {
  return healthOf(await paymentSettings(em), new Date());
}

/**
 * UNKNOWN if payments by card are not offered, or no call was made; DOWN if calls fail for ten minutes;
 * DEGRADED if the last call failed, or the comparison of open top-ups is late; OK otherwise.
 */
export function healthOf(row: PaymentSettingsRow, now: Date): keyof typeof HealthStatus {
  if (!offersCard(row)) return 'UNKNOWN';
  const { lastErrorAt, lastSuccessAt, reconciledAt } = row;
  const failing = lastErrorAt && (!lastSuccessAt || lastErrorAt > lastSuccessAt);
  if (failing) {
    const worked = lastSuccessAt ?? row.changedAt;
    return now.getTime() - worked.getTime() > DOWN_MS ? 'DOWN' : 'DEGRADED';
  }
  if (reconciledAt && now.getTime() - reconciledAt.getTime() > COMPARED_MS) return 'DEGRADED';
  return lastSuccessAt ? 'OK' : 'UNKNOWN';
}

/** The newest corrections. */
export async function listCorrections(em: EntityManager): Promise<Correction[]> {
  const rows = await query<{
    id: string;
    top_up_id: string | null;
    detail: string;
    state: TopUpState | null;
    amount: string | null;
    found_at: string;
  }>(
    em,
    sql`select id, top_up_id, detail, state, amount::text, found_at from payment_correction
      order by id desc limit ${LISTED_MAX}`,
  );
  return rows.map((row) => ({
    id: row.id,
    topUpId: row.top_up_id,
    detail: row.detail,
    state: row.state,
    amount: row.amount === null ? null : BigInt(row.amount),
    foundAt: toDate(row.found_at),
  }));
}
