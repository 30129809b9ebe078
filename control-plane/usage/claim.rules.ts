/** What an Idempotency-Key that was used before means for a new request: pure decisions, no database. */
import type { Micros } from '@gateway/shared/money';

/** A claim as it stands, and what became of its request. */
export interface StandingClaim {
  requestId: string;
  fingerprint: string;
  /** Older than claims are kept. */
  expired: boolean;
  /** What the usage log says of the request; null while it says nothing. */
  usage: { cost: Micros; succeeded: boolean } | null;
  /** Its process is dead: a later one has its journal, and has settled everything that stood in it. */
  abandoned: boolean;
}

/**
 * TAKE: the key is free, or free again. REPEATED: this request has it already. DONE and IN_FLIGHT: another
 * one has it. MISMATCH: the key belongs to another body.
 */
export type ClaimVerdict = 'TAKE' | 'REPEATED' | 'DONE' | 'IN_FLIGHT' | 'MISMATCH';

/** What the new request is told. A request that failed, or died with its node, leaves its key to the next. */
export function judgeClaim(
  standing: StandingClaim | undefined,
  asked: { requestId: string; fingerprint: string },
): ClaimVerdict {
  if (!standing || standing.expired) return 'TAKE';
  if (standing.requestId === asked.requestId) return 'REPEATED';
  const charged = standing.usage !== null && (standing.usage.succeeded || standing.usage.cost > 0n);
  const failed = standing.usage === null ? standing.abandoned : !charged;
  if (failed) return 'TAKE';
  if (standing.fingerprint !== asked.fingerprint) return 'MISMATCH';
  return charged ? 'DONE' : 'IN_FLIGHT';
}
