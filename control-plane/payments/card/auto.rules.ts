/** When an automatic top-up begins: a pure decision over what is known of the wallet. */
import type { Micros } from '@gateway/shared/money';

/** Failed attempts in a row after which automatic top-ups are switched off. */
export const AUTO_FAILURES_MAX = 3;
/** Time between a failed attempt and the next one, in ms. A declined card is rarely accepted sooner. */
export const AUTO_RETRY_MS = 60 * 60_000;

/** Facts on which the decision depends; amounts are in micro-USD. */
export interface AutoFacts {
  enabled: boolean;
  /** Cash and gift, with leases. */
  balance: Micros;
  threshold: Micros;
  amount: Micros;
  monthlyCap: Micros;
  /** Sum of the automatic top-ups of this month that have not failed. */
  spentThisMonth: Micros;
  /** Attempts that have failed since the last success or change of the settings. */
  failures: number;
  /** When the last of them failed; null without one. */
  failedAt: Date | null;
  inFlight: boolean;
  hasCard: boolean;
  isActive: boolean;
}

/**
 * BEGIN: an attempt is due. OFF: too many failed. The others say why none is due: DISABLED, ENOUGH (the
 * balance is above the threshold), IN_FLIGHT, CAP (the month is used up), WAIT (an attempt failed lately),
 * LIMIT (the operator's limits of an amount or a day do not allow it).
 */
export type AutoDecision = 'BEGIN' | 'OFF' | 'DISABLED' | 'ENOUGH' | 'IN_FLIGHT' | 'CAP' | 'WAIT' | 'LIMIT';

/** Whether an automatic top-up begins now. */
export function decideAuto(facts: AutoFacts, now: Date): AutoDecision {
  const { enabled, hasCard, isActive, balance, threshold, failedAt } = facts;
  if (!enabled || !hasCard || !isActive) return 'DISABLED';
  if (facts.inFlight) return 'IN_FLIGHT';
  if (facts.failures >= AUTO_FAILURES_MAX) return 'OFF';
  if (balance >= threshold) return 'ENOUGH';
  if (facts.spentThisMonth + facts.amount > facts.monthlyCap) return 'CAP';
  if (failedAt && now.getTime() - failedAt.getTime() < AUTO_RETRY_MS) return 'WAIT';
  return 'BEGIN';
}
