/** What is noted of an upstream's turn that brought no answer: for the receipt, in words of ours alone. */
import type { SkipCode } from '@gateway/shared/attempts';
import type { GatewayError } from '@gateway/shared/failures';
import type { AttemptRecord } from '@gateway/shared/records';
import type { CompiledRoute } from '../config/config.ts';
import type { Candidate } from '../exchange/exchange.ts';
import type { Choice } from './order.ts';

/** Who is told of every turn but that of the upstream whose answer is delivered. */
export interface Witness {
  tried(attempt: AttemptRecord): void;
}

/** The ways that may be taken, and who is told of those that led nowhere. */
export interface Ways {
  routes: readonly CompiledRoute[];
  witness?: Witness | undefined;
}

/** The same ways in the order in which their upstreams have their turn. */
export interface Turns {
  choices: readonly Choice[];
  witness: Witness | undefined;
}

/** One upstream's turn. */
export interface Turn {
  candidate: Candidate;
  /** ms of the monotonic clock. */
  askedAt: number;
  witness: Witness | undefined;
}

/** How a turn ended that brought no answer. */
export interface TurnEnd {
  error: GatewayError;
  /** Whether the request was stopped from outside. */
  cut: boolean;
  /** Of the upstream's answer; null where none came. */
  status: number | null;
  /** ms of the monotonic clock. */
  at: number;
}

/** The note of an upstream that was asked in vain. */
export function askedInVain(
  { candidate, askedAt }: Turn,
  { error, cut, status, at }: TurnEnd,
): AttemptRecord {
  return {
    routeId: candidate.route.id,
    outcome: cut ? 'CUT' : 'FAILED',
    errorCode: error.code,
    httpStatus: status,
    ms: Math.round(at - askedAt),
  };
}

/** The note of an upstream that was passed over. */
export function passedOver({ compiled }: Choice, errorCode: SkipCode): AttemptRecord {
  return { routeId: compiled.route.id, outcome: 'SKIPPED', errorCode, httpStatus: null, ms: 0 };
}
