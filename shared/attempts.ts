/** How the turns of a request's upstreams become the list that its receipt shows. Pure. */
import type { FailureCode } from './failures.ts';
import type { AttemptOutcome, AttemptRecord, Tried, UsageOutcome } from './records.ts';

/** So many turns are listed at most. */
export const ATTEMPTS_MAX = 8;

/**
 * Why an upstream was passed over: it failed too often just now (`unavailable`), its credentials rest
 * (`upstream_busy`), it has as many requests as it may (`too_many_concurrent`), none of its credentials is
 * for its address (`upstream_failed`).
 */
export type SkipCode = Extract<
  FailureCode,
  'unavailable' | 'upstream_busy' | 'too_many_concurrent' | 'upstream_failed'
>;

/** The turns after one more; those in the middle are the first to be left out. */
export function withAttempt(tried: Tried | undefined, attempt: AttemptRecord): Tried {
  if (!tried) return { attempts: [attempt], omitted: 0 };
  const { attempts, omitted } = tried;
  if (attempts.length < ATTEMPTS_MAX) return { attempts: [...attempts, attempt], omitted };
  return { attempts: [...attempts.slice(0, ATTEMPTS_MAX - 1), attempt], omitted: omitted + 1 };
}

const CUT: ReadonlySet<UsageOutcome> = new Set(['CLIENT_LEFT', 'KEY_CUT', 'OPERATOR_CUT', 'NO_CONTENT']);

/** What became of the turn of an upstream whose answer was to be relayed, by how the request ended. */
export function lastOutcome(outcome: UsageOutcome): AttemptOutcome {
  if (outcome === 'UPSTREAM_FAILED') return 'BROKE_OFF';
  if (CUT.has(outcome)) return 'CUT';
  // A charge that could not be made durable is no fault of the upstream.
  return 'ANSWERED';
}
