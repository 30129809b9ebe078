/** Pure rules of Idempotency-Keys: whether a new request gets a key that has an idempotency record. */
import type { Micros } from '@gateway/shared/money';

/** The idempotency record of a key, with the result of its request. */
export interface IdempotencyRecord {
  requestId: string;
  /** Digest of the request's body. */
  fingerprint: string;
  /** Whether the record is older than records are kept. */
  expired: boolean;
  /** The request's row in the usage log; null if there is none yet. */
  usage: { cost: Micros; succeeded: boolean } | null;
  /**
   * Whether the process of the request has ended and all its charges are settled. A later start of the same
   * journal proves both.
   */
  abandoned: boolean;
}

/**
 * TAKE: the key is free. REPEATED: this request has it already. DONE, IN_FLIGHT: another request with the
 * same body has it. MISMATCH: another request with a different body has it.
 */
export type ReservationVerdict = 'TAKE' | 'REPEATED' | 'DONE' | 'IN_FLIGHT' | 'MISMATCH';

/**
 * Whether the request gets the key. The key is free again after its request failed or the process of its
 * request ended.
 */
export function judgeReservation(
  record: IdempotencyRecord | undefined,
  request: { requestId: string; fingerprint: string },
): ReservationVerdict {
  if (!record || record.expired) return 'TAKE';
  if (record.requestId === request.requestId) return 'REPEATED';
  const charged = record.usage !== null && (record.usage.succeeded || record.usage.cost > 0n);
  const failed = record.usage === null ? record.abandoned : !charged;
  if (failed) return 'TAKE';
  if (record.fingerprint !== request.fingerprint) return 'MISMATCH';
  return charged ? 'DONE' : 'IN_FLIGHT';
}
