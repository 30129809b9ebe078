/** Keeps the results of attempts by route: circuits of failing routes, and speeds where speed decides. */
import type { GatewayError } from '@gateway/shared/failures';
import type { Attempt } from './attempt.ts';
import { RouteCircuits } from './route-circuits.ts';
import { Speeds } from './speed.ts';
import type { UpstreamStates } from './states.ts';
import { isUpstreamFailure } from './verdict.ts';

interface ResultOptions {
  /** Random numbers from 0 to 1. */
  random: () => number;
  /** ms of a monotonic clock. */
  now: () => number;
  states: UpstreamStates;
}

/** Kept in memory and lost at a restart. */
export class RouteResults {
  readonly speeds = new Speeds();
  readonly circuits: RouteCircuits;
  readonly #options: ResultOptions;

  constructor(options: ResultOptions) {
    this.#options = options;
    this.circuits = new RouteCircuits(options.random);
  }

  /** Notes that an attempt starts. `succeeded` or `failed` must follow. */
  started({ candidate, startedAt }: Attempt, isStreamed: boolean): void {
    const { id } = candidate.route;
    if (candidate.isTimed) this.speeds.use(id, isStreamed, startedAt);
    this.circuits.started(id, startedAt);
  }

  /** Notes that the answer to an attempt may be delivered. */
  succeeded({ candidate, startedAt }: Attempt, isStreamed: boolean): void {
    const { id } = candidate.route;
    this.circuits.succeeded(id);
    if (!candidate.isTimed) return;
    const now = this.#options.now();
    this.speeds.of(id, isStreamed)?.answered(now - startedAt, now);
  }

  /** Notes that an attempt failed. */
  failed(attempt: Attempt, isStreamed: boolean, error: GatewayError): void {
    const { candidate, walletId, credentialRefused = false } = attempt;
    const { id } = candidate.route;
    const now = this.#options.now();
    if (candidate.isTimed && isUpstreamFailure(error)) this.speeds.of(id, isStreamed)?.failed(now);
    const until = this.circuits.failed(id, { walletId, error, credentialRefused, now });
    if (until !== undefined) this.#options.states.routeEjected(candidate, until);
  }
}
