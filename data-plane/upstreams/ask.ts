/** Asks the upstreams of a model in order until one answers, and keeps what is known of their health. */
import { GatewayError, asGatewayError } from '@gateway/shared/failures';
import type { DialectName } from '@gateway/shared/catalog';
import type { Call } from '../call/call.ts';
import type { CompiledCredential } from '../config/config.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { SEEDS, seedOf } from './affinity.ts';
import { failedAttempt, skippedAttempt } from './attempt.ts';
import type {
  Attempt,
  AttemptFailure,
  AttemptObserver,
  AttemptOptions,
  Candidate,
  ForwardedRequest,
} from './attempt.ts';
import { FRESH_BUDGET, afterRequest, afterRetry } from './circuit.ts';
import { Connections } from './connections.ts';
import { RouteCredentials } from './credentials.ts';
import { rankRoutes } from './order.ts';
import type { RankedRoute } from './order.ts';
import { send } from './send.ts';
import type { RefusedResponse, SessionRequest, UpstreamSession } from './session.ts';
import type { AttemptResult, UpstreamStates } from './states.ts';
import { Suspensions } from './suspensions.ts';
import { isBrokenConnection, isUpstreamFailure, judge, retryAfterOf } from './verdict.ts';

/** Maximum number of upstreams asked for one request. */
const ATTEMPTS = 3;
/** Maximum size of an upstream's error response, in bytes. */
const ERROR_BODY_BYTES = 1024 * 1024;

interface UpstreamsOptions {
  dialects: Partial<Record<DialectName, Dialect>>;
  /** Random numbers from 0 to 1. */
  random: () => number;
  /** ms of a monotonic clock. */
  now: () => number;
  /** The health of each upstream, by the same clock. */
  states: UpstreamStates;
}

/** The routes of one request in the order in which they are tried. */
interface AttemptPlan extends Pick<AttemptOptions, 'walletId' | 'model'> {
  ranked: readonly RankedRoute[];
  observer: AttemptObserver | undefined;
  /** Decides which credential is used: a conversation's seed, or a random one. */
  seed: number;
}

/** All upstreams of this node. Their state is in memory and lost at a restart. */
export class Upstreams {
  readonly #options: UpstreamsOptions;
  readonly #connections = new Connections();
  readonly #suspensions = new Suspensions();
  #retryBudget = FRESH_BUDGET;

  constructor(options: UpstreamsOptions) {
    this.#options = options;
  }

  /**
   * The first answer that may be delivered. Tries the next upstream if nothing was relayed yet, the failure
   * is not the client's, and the retry budget allows it. Throws the last failure.
   */
  ask<A>(call: Call, request: ForwardedRequest<A>, options: AttemptOptions): Promise<A> {
    return this.#tryInOrder(call, this.#plan(request, options), (attempt) =>
      this.#askOne(call, request, attempt),
    );
  }

  /**
   * The first session that an upstream accepts; tries them like `ask`. The session counts as a request in
   * flight until it closes.
   */
  openSession<S extends UpstreamSession>(
    call: Call,
    request: SessionRequest<S>,
    options: AttemptOptions,
  ): Promise<S> {
    return this.#tryInOrder(call, this.#plan(request, options), (attempt) =>
      this.#openOne(call, request, attempt),
    );
  }

  /** Closes all connections. */
  close(): Promise<void> {
    return this.#connections.close();
  }

  #plan(
    request: Pick<ForwardedRequest<unknown>, 'preferred' | 'capable' | 'conversation'>,
    { walletId, model, routes, observer }: AttemptOptions,
  ): AttemptPlan {
    const { dialects, random } = this.#options;
    const { preferred, capable } = request;
    const hasChoice = routes.length > 1 || (routes[0]?.credentials.length ?? 0) > 1;
    const conversation = hasChoice ? request.conversation : undefined;
    const seed = conversation === undefined ? random() * SEEDS : seedOf(walletId, conversation);
    const ranked = rankRoutes(routes, { dialects, preferred, capable, seed });
    return { ranked, walletId, model, observer, seed };
  }

  async #tryInOrder<A>(call: Call, plan: AttemptPlan, perform: (attempt: Attempt) => Promise<A>): Promise<A> {
    const { ranked, observer } = plan;
    let startedAt = this.#options.now();
    this.#retryBudget = afterRequest(this.#retryBudget, startedAt);
    const healthy = this.#healthy(ranked, startedAt);
    let failure: GatewayError | undefined;
    let attempts = 0;
    for (const route of ranked) {
      if (!healthy.includes(route)) {
        observer?.attempted(skippedAttempt(route, 'unavailable'));
        continue;
      }
      let refused: CompiledCredential | undefined;
      do {
        if (attempts > 0 && (attempts >= ATTEMPTS || !this.#takeRetry())) throw failure ?? noUpstreamFree();
        call.cut.throwIfCut();
        let attempt: Attempt | undefined;
        try {
          attempt = this.#attempt(route, plan, { startedAt, refused });
          attempts += 1;
          return await perform(attempt);
        } catch (cause) {
          failure = asGatewayError(cause);
          if (!isUpstreamFailure(failure)) throw failure;
          startedAt = this.#options.now();
        }
        refused = refused ? undefined : this.#replaceable(route, attempt);
      } while (refused);
      if (ranked.length > 1 || !isBrokenConnection(failure) || !this.#takeRetry()) continue;
      // The only upstream closed an idle connection while it was being reused, before it read the request.
      return perform(this.#attempt(route, plan, { startedAt }));
    }
    throw failure ?? noUpstreamFree();
  }

  /** The credential that the upstream has just refused, if another one may be accepted in its place. */
  #replaceable(route: RankedRoute, attempt: Attempt | undefined): CompiledCredential | undefined {
    const refused = attempt?.credentialRefused ? attempt.candidate.credential : undefined;
    return refused && this.#credentials(route).hasOther(refused) ? refused : undefined;
  }

  #attempt(
    route: RankedRoute,
    plan: AttemptPlan,
    { startedAt, refused }: { startedAt: number; refused?: CompiledCredential | undefined },
  ): Attempt {
    const { walletId, model, observer } = plan;
    return { candidate: this.#candidate(route, plan, refused), walletId, model, startedAt, observer };
  }

  /** The routes whose upstream is not ejected; if all are, the best one, because it may answer after all. */
  #healthy(ranked: readonly RankedRoute[], now: number): RankedRoute[] {
    const { states } = this.#options;
    const healthy = ranked.filter(({ compiled }) => !states.isEjected(compiled.provider, now));
    return healthy.length > 0 ? healthy : ranked.slice(0, 1);
  }

  #takeRetry(): boolean {
    const next = afterRetry(this.#retryBudget, this.#options.now());
    if (next) this.#retryBudget = next;
    return next !== undefined;
  }

  /**
   * The route with the usable credential that draws the largest lot, but not the refused one. Throws
   * `upstream_busy` or `upstream_failed`, and records the skipped attempt, if there is none or the upstream
   * has reached its limit of concurrent requests.
   */
  #candidate(
    ranked: RankedRoute,
    { seed, observer }: AttemptPlan,
    refused: CompiledCredential | undefined,
  ): Candidate {
    const { compiled, dialect, native } = ranked;
    const { route, provider } = compiled;
    const credentials = this.#credentials(ranked);
    const credential = credentials.draw({ seed, refused });
    if (!credential && credentials.needed) {
      const failure = credentials.failure();
      observer?.attempted(
        skippedAttempt(ranked, failure.code === 'upstream_busy' ? 'upstream_busy' : 'upstream_failed'),
      );
      throw failure;
    }
    const { concurrencyLimit } = provider;
    if (concurrencyLimit !== null && this.#options.states.inFlight(provider) >= concurrencyLimit) {
      observer?.attempted(skippedAttempt(ranked, 'too_many_concurrent'));
      throw noUpstreamFree();
    }
    return { route, provider, credential, dialect, native };
  }

  #credentials({ compiled }: RankedRoute): RouteCredentials {
    return new RouteCredentials(compiled, this.#suspensions, this.#options.now());
  }

  async #askOne<A>(call: Call, request: ForwardedRequest<A>, attempt: Attempt): Promise<A> {
    const { candidate, startedAt } = attempt;
    const { provider } = candidate;
    const outgoing = request.outgoing(candidate);
    const { states } = this.#options;
    const settle = states.start(candidate, startedAt);
    const leave = states.enter(provider);
    let status: number | null = null;
    try {
      const limits = { timeouts: provider.timeouts, cut: call.cut };
      const answer = await send(this.#connections.poolOf(provider), outgoing, limits);
      ({ status } = answer);
      answer.onClose(leave);
      if (answer.status < 200 || answer.status > 299) {
        const body = (await answer.whole(ERROR_BODY_BYTES)).toString('utf8');
        const refused = { status: answer.status, headers: answer.headers, body };
        throw request.refusal?.(refused, candidate) ?? this.#refused(call, refused, { attempt, settle });
      }
      states.answered(provider, startedAt);
      this.#suspensions.accepted(candidate);
      return await request.receive({
        answer,
        candidate,
        settle: (error) => settle({ error }),
        counted: (tokens) => states.counted(provider, tokens),
      });
    } catch (cause) {
      const error = asGatewayError(cause);
      leave();
      settle({ error });
      this.#record(call, attempt, { error, status });
      throw error;
    }
  }

  async #openOne<S extends UpstreamSession>(
    call: Call,
    request: SessionRequest<S>,
    attempt: Attempt,
  ): Promise<S> {
    const { candidate, startedAt } = attempt;
    const { states } = this.#options;
    const settle = states.start(candidate, startedAt);
    const leave = states.enter(candidate.provider);
    let status: number | null = null;
    try {
      const opened = await request.open(candidate);
      if ('status' in opened) {
        ({ status } = opened);
        throw this.#refused(call, opened, { attempt, settle });
      }
      states.answered(candidate.provider, startedAt);
      this.#suspensions.accepted(candidate);
      opened.onClose(leave);
      settle();
      return opened;
    } catch (cause) {
      const error = asGatewayError(cause);
      leave();
      settle({ error });
      this.#record(call, attempt, { error, status });
      throw error;
    }
  }

  #record(
    { cut }: Call,
    attempt: Attempt,
    { error, status }: Pick<AttemptFailure, 'error' | 'status'>,
  ): void {
    const failure = { error, status, cut: cut.reason !== undefined, at: this.#options.now() };
    attempt.observer?.attempted(failedAttempt(attempt, failure));
  }

  /** Settles an attempt that the upstream refused, suspends the credential if needed, returns the failure. */
  #refused(
    { id: requestId }: Call,
    { status, headers, body }: RefusedResponse,
    { attempt, settle }: { attempt: Attempt; settle: (result: AttemptResult) => void },
  ): GatewayError {
    const { candidate, walletId, model } = attempt;
    const retryAfterMs = retryAfterOf(headers, Date.now());
    const verdict = judge({ status, body, retryAfterMs, model }, candidate);
    this.#suspensions.refused(verdict, candidate, { requestId, walletId, now: this.#options.now() });
    attempt.credentialRefused = verdict.aboutCredential;
    settle({ error: verdict.error, refusal: { status, unwell: verdict.unwell } });
    return verdict.error;
  }
}

function noUpstreamFree(): GatewayError {
  return new GatewayError('upstream_busy', 'No upstream of this model is free. Try again in a moment.', {
    retryAfterMs: 1_000,
  });
}
