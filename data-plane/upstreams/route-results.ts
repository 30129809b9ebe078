/** Keeps the results of attempts by route: circuits of failing routes, and speeds where speed decides. */
import { asGatewayError } from '@gateway/shared/failures';
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

  /** The answer of `perform`, which makes the attempt; notes how the attempt ends. */
  async observe<A>(attempt: Attempt, isStreamed: boolean, perform: () => Promise<A>): Promise<A> {
    const { candidate, startedAt, walletId } = attempt;
    const { id } = candidate.route;
    const { now, states } = this.#options;
    const speed = candidate.isTimed ? this.speeds.use(id, isStreamed, startedAt) : undefined;
    this.circuits.started(id, startedAt);
    try {
      const answer = await perform();
      this.circuits.succeeded(id);
      speed?.answered(now() - startedAt, now());
      return answer;
    } catch (cause) {
      const error = asGatewayError(cause);
      if (isUpstreamFailure(error)) speed?.failed(now());
      const { credentialRefused = false } = attempt;
      const failed = { walletId, error, credentialRefused, now: now() };
      const until = this.circuits.failed(id, failed);
      if (until !== undefined) states.routeEjected(candidate, until);
      throw error;
    }
  }
}
