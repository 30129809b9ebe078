/** Asks the upstreams of a model in order until one answers, and keeps what is known of their health. */
import { GatewayError, asGatewayError } from '@gateway/shared/failures';
import type { ProtocolName } from '@gateway/shared/catalog';
import type { TokenIo } from '@gateway/shared/clouds/token-grants';
import type { Call } from '../call/call.ts';
import { ownBody } from '../call/own-bytes.ts';
import type { CompiledCredential } from '../config/config.ts';
import type { UpstreamDialect } from '../dialects/dialect.ts';
import { adapted } from './adaptive.ts';
import type { Log } from '../log.ts';
import { SEEDS, seedOf } from './affinity.ts';
import { failedAttempt, skippedAttempt } from './attempt.ts';
import type { Attempt, AttemptFailure, AttemptOptions, ForwardedRequest } from './attempt.ts';
import { FRESH_BUDGET, afterRequest, afterRetry } from './circuit.ts';
import { Candidates, noUpstreamFree } from './candidates.ts';
import type { AttemptPlan } from './candidates.ts';
import { CloudRequests, resultOf } from './clouds/cloud-requests.ts';
import type { EditBody } from './clouds/cloud-requests.ts';
import { decodeEventStream } from './clouds/event-stream.ts';
import { Connections } from './connections.ts';
import { Hedges, LostRace } from './hedge.ts';
import { rankRoutes } from './order.ts';
import type { RankedRoute } from './order.ts';
import { RouteResults } from './route-results.ts';
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
  dialects: Partial<Record<ProtocolName, UpstreamDialect>>;
  /** Random numbers from 0 to 1. */
  random: () => number;
  /** ms of a monotonic clock. */
  now: () => number;
  /** The health of each upstream, by the same clock. */
  states: UpstreamStates;
  /** ms since the epoch. */
  wallNow: () => number;
  /** Reads the identity token that the platform has issued to this node. */
  identityToken: TokenIo['identityToken'];
  editBody: EditBody;
  log: Log;
}

/** All upstreams of this node. Their state is in memory and lost at a restart. */
export class Upstreams {
  readonly #options: UpstreamsOptions;
  readonly #connections = new Connections();
  readonly #suspensions = new Suspensions();
  readonly #routes: RouteResults;
  readonly #candidates: Candidates;
  readonly #hedges: Hedges;
  readonly #clouds: CloudRequests;
  #retryBudget = FRESH_BUDGET;

  constructor(options: UpstreamsOptions) {
    this.#options = options;
    this.#hedges = new Hedges(options.now);
    this.#routes = new RouteResults(options);
    const own = { routes: this.#routes.circuits, suspensions: this.#suspensions };
    this.#candidates = new Candidates({ ...options, ...own });
    this.#clouds = new CloudRequests({ ...options, ...own, connections: this.#connections });
  }

  /**
   * The first answer that may be delivered. Tries the next upstream if nothing was relayed yet, the failure
   * is not the client's, and the retry budget allows it. Throws the last failure.
   */
  ask<A>(call: Call, request: ForwardedRequest<A>, options: AttemptOptions): Promise<A> {
    const plan = this.#plan(request, options);
    return this.#tryInOrder(call, plan, (attempt) =>
      attempt.candidate.isHedged && request.isHedgeable
        ? this.#askHedged(call, request, { attempt, plan })
        : this.#askOne(call, request, attempt),
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
    request: Pick<ForwardedRequest<unknown>, 'preferred' | 'capable' | 'conversation' | 'streamed'>,
    { walletId, model, routes, observer }: AttemptOptions,
  ): AttemptPlan {
    const { dialects, random, now } = this.#options;
    const { preferred, capable, streamed = false } = request;
    const hasChoice = routes.length > 1 || (routes[0]?.credentials.length ?? 0) > 1;
    const conversation = hasChoice ? request.conversation : undefined;
    const seed = conversation === undefined ? random() * SEEDS : seedOf(walletId, conversation);
    const ranked = rankRoutes(routes, { dialects, preferred, capable, seed });
    const policy = ranked.length > 1 ? ranked[0]?.compiled.policy : undefined;
    if (policy === undefined) return { ranked, walletId, model, observer, seed };
    const isConversation = conversation !== undefined;
    const options = { policy, speeds: this.#routes.speeds, now: now(), streamed, isConversation };
    return { ranked: adapted(ranked, options), walletId, model, observer, seed };
  }

  async #tryInOrder<A>(call: Call, plan: AttemptPlan, perform: (attempt: Attempt) => Promise<A>): Promise<A> {
    const { ranked, observer } = plan;
    let startedAt = this.#options.now();
    this.#retryBudget = afterRequest(this.#retryBudget, startedAt);
    const healthy = this.#candidates.healthy(ranked, startedAt);
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
        refused = refused ? undefined : this.#candidates.replaceable(route, attempt);
      } while (refused);
      if (ranked.length > 1 || !isBrokenConnection(failure) || !this.#takeRetry()) continue;
      // The only upstream closed an idle connection while it was being reused, before it read the request.
      return perform(this.#attempt(route, plan, { startedAt }));
    }
    throw failure ?? noUpstreamFree();
  }

  #attempt(
    route: RankedRoute,
    plan: AttemptPlan,
    { startedAt, refused }: { startedAt: number; refused?: CompiledCredential | undefined },
  ): Attempt {
    const { walletId, model, observer } = plan;
    return { candidate: this.#candidates.take(route, plan, refused), walletId, model, startedAt, observer };
  }

  #takeRetry(): boolean {
    const next = afterRetry(this.#retryBudget, this.#options.now());
    if (next) this.#retryBudget = next;
    return next !== undefined;
  }

  /** Asks a second upstream if the first one is slow. */
  #askHedged<A>(
    { id, cut }: Call,
    request: ForwardedRequest<A>,
    { attempt, plan }: { attempt: Attempt; plan: AttemptPlan },
  ): Promise<A> {
    const { now, states } = this.#options;
    return this.#hedges.ask({
      ...{ cut, attempt, isStreamed: request.streamed === true },
      perform: (one, own) => this.#askOne({ id, cut: own }, request, one),
      spare: () => this.#candidates.spare(plan, attempt.candidate, now()),
      decided: ({ provider }, won) => states.hedged(provider, won),
      lost: (candidate) => states.raceLost(candidate),
    });
  }

  async #askOne<A>(
    call: Pick<Call, 'id' | 'cut'>,
    request: ForwardedRequest<A>,
    attempt: Attempt,
  ): Promise<A> {
    const { candidate, startedAt } = attempt;
    const { provider } = candidate;
    const trace = attempt.observer?.traced?.(candidate);
    const outgoing = request.outgoing(candidate);
    if (trace) outgoing.headers['traceparent'] = trace.traceparent;
    const { states } = this.#options;
    const { streamed: isStreamed = false } = request;
    this.#routes.started(attempt, isStreamed);
    const settle = states.start(candidate, startedAt);
    const leave = states.enter(provider);
    try {
      const limits = { timeouts: provider.timeouts, cut: call.cut };
      const sent = provider.access ? await this.#clouds.prepare(outgoing, attempt, call) : outgoing;
      if (isStreamed) sent.body = ownBody(sent.body);
      const answer = await send(this.#connections.poolOf(provider, candidate.certificate), sent, limits);
      attempt.status = answer.status;
      answer.onClose(leave);
      if (answer.status < 200 || answer.status > 299) {
        const body = (await answer.whole(ERROR_BODY_BYTES)).toString('utf8');
        const refused = { status: answer.status, headers: answer.headers, body };
        throw request.refusal?.(refused, candidate) ?? this.#refused(call, refused, { attempt, settle });
      }
      states.answered(provider, startedAt);
      trace?.answered();
      this.#suspensions.accepted(candidate);
      this.#candidates.readQuota(candidate, answer.headers);
      decodeEventStream(answer);
      const received = await request.receive({
        answer,
        candidate,
        settle: (error) => settle({ error }),
        counted: (tokens) => states.counted(provider, tokens),
      });
      this.#routes.succeeded(attempt, isStreamed);
      return received;
    } catch (cause) {
      const error = asGatewayError(cause);
      leave();
      settle(resultOf(error));
      this.#routes.failed(attempt, isStreamed, error);
      trace?.failed(error, attempt.status ?? null);
      this.#record(call, attempt, { error, status: attempt.status ?? null });
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
      const opened = await request.open(candidate, (outgoing) =>
        this.#clouds.prepare(outgoing, attempt, call),
      );
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
      settle(resultOf(error));
      this.#record(call, attempt, { error, status });
      throw error;
    }
  }

  #record(
    { cut }: Pick<Call, 'cut'>,
    attempt: Attempt,
    ended: Pick<AttemptFailure, 'error' | 'status'>,
  ): void {
    if (ended.error instanceof LostRace) return;
    const failure = { ...ended, cut: cut.reason !== undefined, at: this.#options.now() };
    attempt.observer?.attempted(failedAttempt(attempt, failure));
  }

  /** Settles an attempt that the upstream refused, suspends the credential if needed, returns the failure. */
  #refused(
    { id: refusalId }: Pick<Call, 'id'>,
    response: RefusedResponse,
    { attempt, settle }: { attempt: Attempt; settle: (result: AttemptResult) => void },
  ): GatewayError {
    const { candidate, walletId, model } = attempt;
    const { now, states } = this.#options;
    const { status, headers, body } = this.#clouds.refused(response, candidate);
    const retryAfterMs = retryAfterOf(headers, Date.now());
    const verdict = judge({ status, body, retryAfterMs, model }, candidate);
    const until = this.#suspensions.refused(verdict, candidate, { refusalId, walletId, now: now() });
    states.suspended(candidate, until);
    attempt.credentialRefused = verdict.aboutCredential;
    settle({ error: verdict.error, refusal: { status, unwell: verdict.unwell } });
    return verdict.error;
  }
}
