/** Pure functions on the attempts of a request: bounds them for storage, and completes them for receipts. */
import { ATTEMPTS_MAX, LOST_RACE, relayedOutcome } from '@gateway/shared/attempts';
import type { AttemptRecord, AttemptList, UsageOutcome } from '@gateway/shared/records';
import { storableCount, storableText } from './settlement.rules.ts';

/** Maximum length of a route id or error code, in characters; longer ones are cut. */
const WORD_LENGTH_MAX = 128;
/** HTTP statuses have three digits. */
const STATUS_MAX = 999;
const INTEGER_MAX = 2_147_483_647;
/** A cost below 10,000 USD, in micro-USD; routes have at most 1,000 USD. */
const COST = /^\d{1,10}$/;

/** The columns of a usage row that describe its only attempt. */
export interface OnlyAttempt {
  routeId: string | null;
  outcome: UsageOutcome;
  errorCode: string | null;
  latencyMs: number | null;
}

/**
 * Bounds the list to what the columns can store, because metadata must never cause the refusal of a charge.
 */
export function storableTried({ attempts, omitted }: AttemptList): AttemptList {
  const beyond = Math.max(0, attempts.length - ATTEMPTS_MAX);
  const listed = beyond > 0 ? [...attempts.slice(0, ATTEMPTS_MAX - 1), ...attempts.slice(-1)] : attempts;
  return {
    attempts: listed.map((attempt) => ({
      routeId: word(attempt.routeId),
      outcome: attempt.outcome,
      errorCode: attempt.errorCode === null ? null : word(attempt.errorCode),
      httpStatus: attempt.httpStatus === null ? null : storableCount(attempt.httpStatus, STATUS_MAX),
      ms: storableCount(attempt.ms, INTEGER_MAX),
      ...costOf(attempt),
    })),
    omitted: storableCount(omitted + beyond, INTEGER_MAX),
  };
}

/**
 * All attempts of a request. A node sends no list (null) if the usage row itself describes the only attempt.
 */
export function allTried(tried: AttemptList | null, entry: OnlyAttempt): AttemptList {
  if (tried) return tried;
  const { routeId, errorCode, latencyMs } = entry;
  if (routeId === null) return { attempts: [], omitted: 0 };
  const outcome = relayedOutcome(entry.outcome);
  const only: AttemptRecord = {
    routeId,
    outcome,
    errorCode: outcome === 'ANSWERED' ? null : errorCode,
    httpStatus: null,
    ms: latencyMs ?? 0,
  };
  return { attempts: [only], omitted: 0 };
}

/** The cost of an attempt that lost to another one; none if it is out of bounds. */
function costOf({ errorCode, cost }: AttemptRecord): Pick<AttemptRecord, 'cost'> {
  return errorCode === LOST_RACE && cost !== undefined && COST.test(cost) ? { cost } : {};
}

function word(text: string): string {
  return storableText(text.slice(0, WORD_LENGTH_MAX));
}
