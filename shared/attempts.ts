/** Builds the list of upstream attempts that the receipt of a request shows. Pure. */
import type { FailureCode } from './failures.ts';
import type { AttemptList, AttemptOutcome, AttemptRecord, UsageOutcome } from './records.ts';

/** Maximum number of attempts listed in a receipt. */
export const ATTEMPTS_MAX = 8;

/**
 * Why an upstream was skipped, which the list shows as an attempt: its circuit is open (`unavailable`), all
 * its credentials are in back-off (`upstream_busy`), its concurrency limit is reached
 * (`too_many_concurrent`), or no credential is bound to the origin of its base address (`upstream_failed`).
 */
export type SkipCode = Extract<
  FailureCode,
  'unavailable' | 'upstream_busy' | 'too_many_concurrent' | 'upstream_failed'
>;

/**
 * Error code of an attempt that was cut because another upstream answered the same request first. The
 * operator pays for it, and the customer does not.
 */
export const LOST_RACE = 'lost_race';

/**
 * Returns the list with one more attempt. A full list loses its last skipped attempt, or else its last one;
 * `omitted` counts the lost ones. A node makes at most as many attempts at a request as the list can hold, so
 * no attempt that may cost money is lost.
 */
export function withAttempt(list: AttemptList | undefined, attempt: AttemptRecord): AttemptList {
  if (!list) return { attempts: [attempt], omitted: 0 };
  const { attempts, omitted } = list;
  if (attempts.length < ATTEMPTS_MAX) return { attempts: [...attempts, attempt], omitted };
  const skipped = attempts.findLastIndex(({ outcome }) => outcome === 'SKIPPED');
  const lost = skipped < 0 ? ATTEMPTS_MAX - 1 : skipped;
  return { attempts: [...attempts.toSpliced(lost, 1), attempt], omitted: omitted + 1 };
}

/** Outcomes of requests whose answer was not relayed to its end, though the upstream did not fail. */
const INTERRUPTED: ReadonlySet<UsageOutcome> = new Set([
  'CLIENT_LEFT',
  'KEY_CUT',
  'OPERATOR_CUT',
  'NO_CONTENT',
]);

/** Outcome of the attempt whose answer was being relayed, derived from the outcome of the request. */
export function relayedOutcome(outcome: UsageOutcome): AttemptOutcome {
  if (outcome === 'UPSTREAM_FAILED') return 'BROKE_OFF';
  if (INTERRUPTED.has(outcome)) return 'CUT';
  // The other outcomes include a charge that could not be made durable: the upstream did answer.
  return 'ANSWERED';
}
