/** The upstreams that a request tried: as they can be stored, and as a receipt tells them. Pure. */
import { ATTEMPTS_MAX, lastOutcome } from '@gateway/shared/attempts';
import type { AttemptRecord, Tried, UsageOutcome } from '@gateway/shared/records';
import { storableCount, storableText } from './settlement.rules.ts';

/** Longest id and code, in characters. */
const WORD_LENGTH_MAX = 128;
/** HTTP knows no status with more than three digits. */
const STATUS_MAX = 999;
const INTEGER_MAX = 2_147_483_647;

/** What an entry of the log itself says of its only attempt. */
export interface OnlyAttempt {
  routeId: string | null;
  outcome: UsageOutcome;
  errorCode: string | null;
  latencyMs: number | null;
}

/** The list as far as columns hold it: metadata is no reason to refuse a charge. */
export function storableTried({ attempts, omitted }: Tried): Tried {
  const beyond = Math.max(0, attempts.length - ATTEMPTS_MAX);
  const listed = beyond > 0 ? [...attempts.slice(0, ATTEMPTS_MAX - 1), ...attempts.slice(-1)] : attempts;
  return {
    attempts: listed.map((attempt) => ({
      routeId: word(attempt.routeId),
      outcome: attempt.outcome,
      errorCode: attempt.errorCode === null ? null : word(attempt.errorCode),
      httpStatus: attempt.httpStatus === null ? null : storableCount(attempt.httpStatus, STATUS_MAX),
      ms: storableCount(attempt.ms, INTEGER_MAX),
    })),
    omitted: storableCount(omitted + beyond, INTEGER_MAX),
  };
}

/** Every attempt of a request: a node sends a list only where it is more than the entry's own route. */
export function allTried(tried: Tried | null, entry: OnlyAttempt): Tried {
  if (tried) return tried;
  const { routeId, errorCode, latencyMs } = entry;
  if (routeId === null) return { attempts: [], omitted: 0 };
  const outcome = lastOutcome(entry.outcome);
  const only: AttemptRecord = {
    routeId,
    outcome,
    errorCode: outcome === 'ANSWERED' ? null : errorCode,
    httpStatus: null,
    ms: latencyMs ?? 0,
  };
  return { attempts: [only], omitted: 0 };
}

function word(text: string): string {
  return storableText(text.slice(0, WORD_LENGTH_MAX));
}
