/** Which routes and credentials may be used for an attempt at the moment. */
import { GatewayError } from '@gateway/shared/failures';
import type { CompiledCredential } from '../config/config.ts';
import { skippedAttempt } from './attempt.ts';
import type { Attempt, AttemptObserver, AttemptOptions, Candidate } from './attempt.ts';
import { RouteCredentials } from './credentials.ts';
import type { RankedRoute } from './order.ts';
import { spentForMs } from './quota.ts';
import type { RouteCircuits } from './route-circuits.ts';
import type { UpstreamStates } from './states.ts';
import type { Suspensions } from './suspensions.ts';

/** The routes of one request in the order in which they are tried. */
export interface AttemptPlan extends Pick<AttemptOptions, 'model'> {
  walletId: string;
  ranked: readonly RankedRoute[];
  observer: AttemptObserver | undefined;
  /** Decides which credential is used: a conversation's seed, or a random one. */
  seed: number;
}

/** The state and the clock by which candidates are chosen. */
interface CandidateParts {
  states: UpstreamStates;
  routes: RouteCircuits;
  suspensions: Suspensions;
  /** ms of the monotonic clock. */
  now: () => number;
}

/** The routes and credentials that are not ejected, suspended or full. */
export class Candidates {
  readonly #parts: CandidateParts;

  constructor({ states, routes, suspensions, now }: CandidateParts) {
    this.#parts = { states, routes, suspensions, now };
  }

  /** The routes that are not ejected; if all are, the best one, because it may answer after all. */
  healthy(ranked: readonly RankedRoute[], now: number): readonly RankedRoute[] {
    if (ranked.length < 2) return ranked;
    const { states, routes } = this.#parts;
    const healthy = ranked.filter(
      ({ compiled }) =>
        !states.isEjected(compiled.provider, now) && !routes.isEjected(compiled.route.id, now),
    );
    return healthy.length > 0 ? healthy : ranked.slice(0, 1);
  }

  /** The credential that the upstream has just refused, if another one may be accepted in its place. */
  replaceable(route: RankedRoute, attempt: Attempt | undefined): CompiledCredential | undefined {
    const refused = attempt?.credentialRefused ? attempt.candidate.credential : undefined;
    return refused && this.#credentials(route).hasOther(refused) ? refused : undefined;
  }

  /**
   * The route with its usable credential of the highest score, except the refused one. If there is none, or
   * the upstream has reached its limit of concurrent requests, records the skipped attempt and throws
   * `upstream_busy` or `upstream_failed`.
   */
  take(
    ranked: RankedRoute,
    { seed, observer }: AttemptPlan,
    refused: CompiledCredential | undefined,
  ): Candidate {
    const { compiled, dialect, native } = ranked;
    const { route, provider, certificate } = compiled;
    const credentials = this.#credentials(ranked);
    const credential = credentials.choose({ seed, refused });
    if (!credential && credentials.needed) {
      const failure = credentials.failure();
      observer?.attempted(
        skippedAttempt(ranked, failure.code === 'upstream_busy' ? 'upstream_busy' : 'upstream_failed'),
      );
      throw failure;
    }
    const { concurrencyLimit } = provider;
    if (concurrencyLimit !== null && this.#parts.states.inFlight(provider) >= concurrencyLimit) {
      observer?.attempted(skippedAttempt(ranked, 'too_many_concurrent'));
      throw noUpstreamFree();
    }
    const isTimed = compiled.policy === 'FASTEST';
    const { isHedged } = compiled;
    return { route, provider, credential, certificate, dialect, native, isTimed, isHedged };
  }

  /** Another candidate than this one that is free at the moment; undefined if there is none. */
  spare(plan: AttemptPlan, used: Candidate, now: number): Candidate | undefined {
    const { ranked } = plan;
    const others = this.healthy(ranked, now).filter(({ compiled }) => compiled.route.id !== used.route.id);
    const same = ranked.find(({ compiled }) => compiled.route.id === used.route.id);
    const hasOther = used.credential && same && this.#credentials(same).hasOther(used.credential);
    for (const route of hasOther ? [...others, same] : others) {
      const refused = route === same ? used.credential : undefined;
      try {
        return this.take(route, { ...plan, observer: undefined }, refused);
      } catch {
        // This one is full or suspended.
      }
    }
    return undefined;
  }

  /** Spares a credential for a time if the provider's headers say that its quota is nearly used up. */
  readQuota(candidate: Candidate, headers: Record<string, string | string[] | undefined>): void {
    const { credential } = candidate;
    const ms = credential ? spentForMs(headers, Date.now()) : 0;
    if (!credential || ms === 0) return;
    const { states, suspensions } = this.#parts;
    const now = this.#parts.now();
    const until = now + ms;
    if (suspensions.spend(credential, { until, now })) states.spared(candidate, until);
  }

  #credentials({ compiled }: RankedRoute): RouteCredentials {
    return new RouteCredentials(compiled, this.#parts.suspensions, this.#parts.now());
  }
}

/** The failure of a request for which no upstream is free. */
export function noUpstreamFree(): GatewayError {
  return new GatewayError('upstream_busy', 'No upstream of this model is free. Try again in a moment.', {
    retryAfterMs: 1_000,
  });
}
