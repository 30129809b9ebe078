/**
 * Asks the upstreams of a model one after the other until one answers; remembers which of them are unwell.
 */
import { GatewayError, asGatewayError } from '@gateway/shared/failures';
import type { DialectName } from '@gateway/shared/catalog';
import type { Call } from './call.ts';
import type { CompiledCredential } from './config/config.ts';
import type { Dialect } from './dialects/dialect.ts';
import type { Candidate, Question } from './exchange/exchange.ts';
import { FRESH_BUDGET, afterRequest, afterRetry } from './upstreams/circuit.ts';
import type { Dial, Line, RefusedAnswer } from './upstreams/line.ts';
import { inOrder } from './upstreams/order.ts';
import type { Choice } from './upstreams/order.ts';
import { Pools, addressOf } from './upstreams/pools.ts';
import { send } from './upstreams/send.ts';
import type { Ending, UpstreamStates } from './upstreams/states.ts';
import { askedInVain, passedOver } from './upstreams/turn.ts';
import type { Turn, TurnEnd, Turns, Ways, Witness } from './upstreams/turn.ts';
import { isBrokenConnection, isElsewhere, judge, retryAfterOf } from './upstreams/verdict.ts';

/** Upstreams asked for one request, at most. */
const ATTEMPTS = 3;
/** How much of an upstream's error answer is read, in bytes. */
const ERROR_BODY_BYTES = 1024 * 1024;

export interface UpstreamsOptions {
  dialects: Partial<Record<DialectName, Dialect>>;
  /** Random numbers from 0 to 1. */
  random: () => number;
  /** ms of a monotonic clock. */
  now: () => number;
  /** What is known of each upstream, by the same clock. */
  states: UpstreamStates;
}

/** The node's view of all upstreams: local, in memory, gone at a restart. */
export class Upstreams {
  readonly #options: UpstreamsOptions;
  readonly #pools = new Pools();
  /** Until when a credential rests, by id and secret: a replaced secret starts afresh. */
  readonly #resting = new Map<string, number>();
  #budget = FRESH_BUDGET;

  constructor(options: UpstreamsOptions) {
    this.#options = options;
  }

  /**
   * The first answer that may be delivered. Asks the next upstream only while nothing was relayed, after
   * failures that are
   * not the client's, and within the retry budget. Throws the last failure.
   */
  ask<A>(call: Call, question: Question<A>, ways: Ways): Promise<A> {
    return this.#inTurn(call, this.#turns(question, ways), (turn) => this.#askOne(call, question, turn));
  }

  /** The first session that an upstream accepts; asks like `ask`. The session counts until it closes. */
  dial<L extends Line>(call: Call, dial: Dial<L>, ways: Ways): Promise<L> {
    return this.#inTurn(call, this.#turns(dial, ways), (turn) => this.#dialOne(call, dial, turn));
  }

  #turns({ preferred, capable }: Pick<Question<unknown>, 'preferred' | 'capable'>, ways: Ways): Turns {
    const { dialects, random } = this.#options;
    const choices = inOrder(ways.routes, { dialects, random, preferred, capable });
    return { choices, witness: ways.witness };
  }

  async #inTurn<A>(call: Call, { choices, witness }: Turns, ask: (turn: Turn) => Promise<A>): Promise<A> {
    let askedAt = this.#options.now();
    this.#budget = afterRequest(this.#budget, askedAt);
    const healthy = this.#healthy(choices, askedAt);
    let failure: GatewayError | undefined;
    let asked = 0;
    for (const choice of choices) {
      if (!healthy.includes(choice)) {
        witness?.tried(passedOver(choice, 'unavailable'));
        continue;
      }
      if (asked > 0 && (asked >= ATTEMPTS || !this.#takeRetry())) break;
      call.cut.throwIfCut();
      try {
        const candidate = this.#candidate(choice, witness);
        asked += 1;
        return await ask({ candidate, askedAt, witness });
      } catch (cause) {
        failure = asGatewayError(cause);
        if (!isElsewhere(failure)) throw failure;
        askedAt = this.#options.now();
      }
      if (choices.length > 1 || !isBrokenConnection(failure) || !this.#takeRetry()) continue;
      // The only upstream closed an idle connection just when it was used again: nothing was asked yet.
      return ask({ candidate: this.#candidate(choice, witness), askedAt, witness });
    }
    throw failure ?? nobody();
  }

  /** Closes all connections. */
  close(): Promise<void> {
    return this.#pools.close();
  }

  /** Those that are not ejected, or the best of all that are: it is still better than no answer. */
  #healthy(choices: readonly Choice[], now: number): Choice[] {
    const { states } = this.#options;
    const healthy = choices.filter(({ compiled }) => !states.isEjected(compiled.provider, now));
    return healthy.length > 0 ? healthy : choices.slice(0, 1);
  }

  #takeRetry(): boolean {
    const next = afterRetry(this.#budget, this.#options.now());
    if (next) this.#budget = next;
    return next !== undefined;
  }

  /** The route with a credential that is not resting and is bound to this origin. */
  #candidate(choice: Choice, witness: Witness | undefined): Candidate {
    const { compiled, dialect, native } = choice;
    const { route, provider, credentials } = compiled;
    const { origin } = addressOf(provider);
    const now = this.#options.now();
    const bound = credentials.filter((credential) => credential.origin === origin);
    const rested = bound.filter((credential) => (this.#resting.get(restKey(credential)) ?? 0) <= now);
    const credential = rested[Math.floor(this.#options.random() * rested.length)];
    if (!credential && credentials.length > 0) {
      witness?.tried(passedOver(choice, bound.length > 0 ? 'upstream_busy' : 'upstream_failed'));
      throw this.#noCredential(bound, now);
    }
    const { concurrencyLimit } = provider;
    if (concurrencyLimit !== null && this.#options.states.inFlight(provider) >= concurrencyLimit) {
      witness?.tried(passedOver(choice, 'too_many_concurrent'));
      throw nobody();
    }
    return { route, provider, credential, dialect, native };
  }

  #noCredential(bound: readonly CompiledCredential[], now: number): GatewayError {
    const until = Math.min(...bound.map((credential) => this.#resting.get(restKey(credential)) ?? 0));
    if (bound.length === 0) return unusable();
    return new GatewayError('upstream_busy', 'The model is busy. Try again in a moment.', {
      retryAfterMs: until - now,
    });
  }

  async #askOne<A>(call: Call, question: Question<A>, turn: Turn): Promise<A> {
    const { candidate, askedAt } = turn;
    const { provider } = candidate;
    const outgoing = question.outgoing(candidate);
    const { states } = this.#options;
    const settle = states.start(candidate, askedAt);
    const leave = states.enter(provider);
    let status: number | null = null;
    try {
      const limits = { timeouts: provider.timeouts, cut: call.cut };
      const answer = await send(this.#pools.for(provider), outgoing, limits);
      ({ status } = answer);
      answer.onClose(leave);
      if (answer.status < 200 || answer.status > 299) {
        const body = (await answer.whole(ERROR_BODY_BYTES)).toString('utf8');
        throw this.#refused({ status: answer.status, headers: answer.headers, body }, { candidate, settle });
      }
      states.answered(provider, askedAt);
      return await question.receive({ answer, candidate, settle: (error) => settle({ error }) });
    } catch (cause) {
      const error = asGatewayError(cause);
      leave();
      settle({ error });
      this.#note(call, turn, { error, status });
      throw error;
    }
  }

  async #dialOne<L extends Line>(call: Call, dial: Dial<L>, turn: Turn): Promise<L> {
    const { candidate, askedAt } = turn;
    const { states } = this.#options;
    const settle = states.start(candidate, askedAt);
    const leave = states.enter(candidate.provider);
    let status: number | null = null;
    try {
      const outcome = await dial.open(candidate);
      if ('status' in outcome) {
        ({ status } = outcome);
        throw this.#refused(outcome, { candidate, settle });
      }
      states.answered(candidate.provider, askedAt);
      outcome.onClose(leave);
      settle();
      return outcome;
    } catch (cause) {
      const error = asGatewayError(cause);
      leave();
      settle({ error });
      this.#note(call, turn, { error, status });
      throw error;
    }
  }

  #note({ cut }: Call, turn: Turn, { error, status }: Pick<TurnEnd, 'error' | 'status'>): void {
    const end = { error, status, cut: cut.reason !== undefined, at: this.#options.now() };
    turn.witness?.tried(askedInVain(turn, end));
  }

  #refused(
    { status, headers, body }: RefusedAnswer,
    { candidate, settle }: { candidate: Candidate; settle: (ending: Ending) => void },
  ): GatewayError {
    const retryAfterMs = retryAfterOf(headers, Date.now());
    const verdict = judge({ status, body, retryAfterMs }, candidate);
    if (verdict.restCredentialMs > 0 && candidate.credential) {
      this.#resting.set(restKey(candidate.credential), this.#options.now() + verdict.restCredentialMs);
    }
    settle({ error: verdict.error, refusal: { status, unwell: verdict.unwell } });
    return verdict.error;
  }
}

function restKey({ id, secret }: CompiledCredential): string {
  return `${id} ${secret}`;
}

function nobody(): GatewayError {
  return new GatewayError('upstream_busy', 'No upstream of this model is free. Try again in a moment.', {
    retryAfterMs: 1_000,
  });
}

function unusable(): GatewayError {
  return new GatewayError('upstream_failed', 'The model is not reachable. Try again later.', {
    cause: new Error('no credential is bound to the origin of the base URL'),
  });
}
