/**
 * An attempt is one try of one upstream for one request: what it needs, what it gives, how it is recorded.
 */
import { LOST_RACE } from '@gateway/shared/attempts';
import type { SkipCode } from '@gateway/shared/attempts';
import type { DialectName, ProtocolName } from '@gateway/shared/catalog';
import type { Quirk } from '@gateway/shared/quirks';
import type { GatewayError } from '@gateway/shared/failures';
import type { AttemptRecord, ProviderRecord, RouteRecord, TokenCounts } from '@gateway/shared/records';
import type { CompiledCredential, CompiledRoute } from '../config/config.ts';
import type { UpstreamDialect } from '../dialects/dialect.ts';
import type { RankedRoute } from './order.ts';
import type { OutgoingRequest, UpstreamAnswer } from './send.ts';

/** A request for upstreams: how it is written for each of them, and how a success of type `A` is read. */
export interface ForwardedRequest<A> {
  /** The format that needs no translation. */
  readonly preferred: DialectName | undefined;
  /** The upstream formats that can serve the request; absent: all of them. */
  readonly capable?: readonly ProtocolName[];
  /** The conversation key of the request; undefined for requests without turns. */
  readonly conversation?: string;
  /** Whether the answer is streamed; absent: it is not. */
  readonly streamed?: boolean;
  /** Whether a second upstream may get the request if the first is slow (hedge.ts); absent: it may not. */
  readonly isHedgeable?: boolean;
  /**
   * The request for one upstream. Throws `invalid_request` if the client forbade losses and there are some.
   */
  outgoing(candidate: Candidate): OutgoingRequest;
  /**
   * Waits until the answer may be delivered: it is whole and valid, or its first content has arrived. Throws
   * `upstream_…` if another upstream may still be asked.
   */
  receive(attempt: AnsweredAttempt): Promise<A>;
  /**
   * The failure for a refusal that is about an object that the request names; undefined for every other
   * refusal, and if there is no such method.
   */
  refusal?(refused: { status: number; body: string }, candidate: Candidate): GatewayError | undefined;
}

/** A route with the credential to use, ready for an attempt. */
export interface Candidate {
  route: RouteRecord;
  provider: ProviderRecord;
  /** Undefined for upstreams that need none. */
  credential: CompiledCredential | undefined;
  /** The client certificate for TLS, if the upstream has one. */
  certificate: CompiledCredential | undefined;
  dialect: UpstreamDialect;
  /** Whether the upstream speaks the client's format. */
  native: boolean;
  /** Whether its speed is measured, because routes of the model are chosen by it. */
  isTimed?: boolean;
  /** Whether another upstream may be asked at the same time if this one is slow. */
  isHedged?: boolean | undefined;
}

const NO_QUIRKS: readonly Quirk[] = [];

/** The quirks of a candidate's upstream, then those of its route. */
export function quirksOf({ provider, route }: Pick<Candidate, 'provider' | 'route'>): readonly Quirk[] {
  const [general = NO_QUIRKS, special = NO_QUIRKS] = [provider.quirks, route.quirks];
  if (special.length === 0) return general;
  return general.length === 0 ? special : [...general, ...special];
}

/** The routes that may be tried for whom, and who is notified of failed and skipped attempts. */
export interface AttemptOptions {
  walletId: string;
  /** The catalog's name of the model. */
  model: string;
  routes: readonly CompiledRoute[];
  observer?: AttemptObserver | undefined;
}

/** Receives a notification of every attempt, except the attempt whose answer is delivered. */
export interface AttemptObserver {
  /** `nextStartedAt`: when the attempt that goes on began, in ms of the monotonic clock; now unless given. */
  attempted(attempt: AttemptRecord, nextStartedAt?: number): void;
  /** Begins the trace of an attempt; undefined if the request is not traced. */
  traced?(candidate: Candidate): AttemptTrace | undefined;
}

/** The trace of one attempt. */
export interface AttemptTrace {
  /** The trace context for the upstream, in place of the client's. */
  readonly traceparent: string;
  /** The upstream answered with success. */
  answered(): void;
  failed(error: GatewayError, status: number | null): void;
}

/** One try of one upstream. */
export interface Attempt {
  candidate: Candidate;
  /** The wallet whose request is sent. */
  walletId: string;
  /** The catalog's name of the model. */
  model: string;
  /** ms of the monotonic clock. */
  startedAt: number;
  observer: AttemptObserver | undefined;
  /** Set if the upstream refused the request for a reason that another credential may not have. */
  credentialRefused?: boolean;
  /** The HTTP status that the upstream sent; absent until then. */
  status?: number;
}

/** An attempt to which the upstream answered with a success status. */
export interface AnsweredAttempt {
  answer: UpstreamAnswer;
  candidate: Candidate;
  /** Reports the result of the attempt, a success without an error. Only the first call counts. */
  settle(error?: GatewayError): void;
  /** Reports the tokens of the answer, once they are known. */
  counted(tokens: TokenCounts): void;
}

/** Why an attempt failed, and when. */
export interface AttemptFailure {
  error: GatewayError;
  /** Whether the request was stopped from outside: by its client, its key or the node's shutdown. */
  cut: boolean;
  /** The HTTP status that the upstream sent; null if it sent none. */
  status: number | null;
  /** ms of the monotonic clock. */
  at: number;
}

/** The record of an attempt that brought no answer. */
export function failedAttempt(
  { candidate, startedAt }: Attempt,
  { error, cut, status, at }: AttemptFailure,
): AttemptRecord {
  return {
    routeId: candidate.route.id,
    outcome: cut ? 'CUT' : 'FAILED',
    errorCode: error.code,
    httpStatus: status,
    ms: Math.round(at - startedAt),
  };
}

/** The record of an attempt that was cut because another upstream answered first, with its cost. */
export function lostAttempt({ candidate: { route }, startedAt }: Attempt, at: number): AttemptRecord {
  const ms = Math.round(at - startedAt);
  const record = { routeId: route.id, outcome: 'CUT', errorCode: LOST_RACE, httpStatus: null, ms } as const;
  return route.cost === undefined || route.cost === null ? record : { ...record, cost: route.cost };
}

/** The record of an upstream that was skipped for this reason. */
export function skippedAttempt({ compiled }: RankedRoute, errorCode: SkipCode): AttemptRecord {
  return { routeId: compiled.route.id, outcome: 'SKIPPED', errorCode, httpStatus: null, ms: 0 };
}
