/**
 * Hedging: asks a second upstream if the first is slower than nearly all recent answers of the model. The
 * attempt with the first content answers the request, and the other attempt is cut.
 */
import { GatewayError, asGatewayError } from '@gateway/shared/failures';
import { Cut } from '../call/cut.ts';
import { failedAttempt, lostAttempt } from './attempt.ts';
import type { Attempt, Candidate } from './attempt.ts';
import { isUpstreamFailure } from './verdict.ts';
import { HealthWindow } from './window.ts';

/** The quantile of the times to first content after which a second upstream is asked. */
const QUANTILE = 0.95;
/** Shortest wait before a second upstream is asked, in ms. */
const WAIT_MIN_MS = 200;
/** Minimum number of answers within the window before a second upstream is asked. */
const ANSWERS_MIN = 20;
/** Maximum number of second requests, as a share of all requests. */
const HEDGE_SHARE = 0.05;
/** Maximum number of second requests that unused shares add up to. */
const SAVED_MAX = 10;
/** Maximum wait for the end of the other attempt when the request is cut, in ms: its record names both. */
const CUT_END_MS = 1_000;
/** Maximum number of models whose times a node keeps. */
const MODELS_MAX = 500;

/** Why the slower of two attempts was cut. Says nothing about its upstream. */
export class LostRace extends GatewayError {
  constructor() {
    super('client_closed', 'Another upstream answered first.');
  }
}

/** A request that may get a second attempt. */
interface HedgedRequest<A> {
  /** The cut of the request: it cuts both attempts. */
  cut: Cut;
  /** The first attempt. */
  attempt: Attempt;
  isStreamed: boolean;
  perform: (attempt: Attempt, cut: Cut) => Promise<A>;
  /** A candidate for the second attempt; undefined if none is free. */
  spare: () => Candidate | undefined;
  /** Called once if a second attempt has begun: its candidate, and whether it won. */
  decided: (second: Candidate, won: boolean) => void;
  /** Called if an attempt was cut because the other one answered first. */
  lost: (loser: Candidate) => void;
}

/** The second attempts of a node. Kept in memory and lost at a restart. */
export class Hedges {
  readonly #now: () => number;
  readonly #times = new ModelTimes();
  /** Second attempts that the requests so far allow. */
  #saved = 1;

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * The answer of the attempt, or of a second one that begins when the first one takes longer than nearly all
   * answers of the model did. The slower attempt is cut and noted.
   */
  async ask<A>({ cut, attempt, isStreamed, perform, spare, ...notify }: HedgedRequest<A>): Promise<A> {
    const { startedAt, observer } = attempt;
    const model = `${attempt.candidate.route.modelId} ${isStreamed}`;
    this.#saved = Math.min(this.#saved + HEDGE_SHARE, SAVED_MAX);
    const waitMs = this.#times.waitMs(model, startedAt);
    let second: Attempt | undefined;
    const answer = await (waitMs === undefined
      ? perform(attempt, cut)
      : race({
          ...{ cut, waitMs, first: (own) => perform(attempt, own) },
          second: () => {
            const candidate = this.#saved >= 1 ? spare() : undefined;
            if (!candidate) return undefined;
            this.#saved -= 1;
            const { walletId, model: name } = attempt;
            const begun = { candidate, walletId, model: name, startedAt: this.#now(), observer };
            second = begun;
            return (own) => perform(begun, own);
          },
          decided: ({ secondWon, loser, error }) => {
            if (!second) return;
            notify.decided(second.candidate, secondWon);
            if (!loser) return;
            const [lost, kept] = loser === 'second' ? [second, attempt] : [attempt, second];
            const at = this.#now();
            const failure = error && { error, cut: true, status: null, at };
            if (!failure) notify.lost(lost.candidate);
            const record = failure ? failedAttempt(lost, failure) : lostAttempt(lost, at);
            observer?.attempted(record, kept.startedAt);
          },
        }));
    this.#times.answered(model, this.#now() - startedAt, this.#now());
    return answer;
  }
}

/** The times to the first content of hedged models. Forgets the model first noted. */
class ModelTimes {
  readonly #windows = new Map<string, HealthWindow>();

  /** Counts an answer whose first content came after `ms`. */
  answered(model: string, ms: number, now: number): void {
    const window = this.#windows.get(model) ?? this.#add(model);
    window.countAttempt(undefined, now);
    window.countLatency(ms, now);
  }

  /** How long to wait before a second upstream is asked, in ms; undefined while too little is known. */
  waitMs(model: string, now: number): number | undefined {
    const window = this.#windows.get(model);
    if (!window || window.counts(now).succeeded < ANSWERS_MIN) return undefined;
    return Math.max(window.quantile(QUANTILE, now) ?? 0, WAIT_MIN_MS);
  }

  #add(model: string): HealthWindow {
    const [oldest] = this.#windows.keys();
    if (this.#windows.size >= MODELS_MAX && oldest !== undefined) this.#windows.delete(oldest);
    const window = new HealthWindow();
    this.#windows.set(model, window);
    return window;
  }
}

/** Two attempts at one request; one of them answers it. */
interface Race<A> {
  /** The cut of the request: it cuts both attempts. */
  cut: Cut;
  waitMs: number;
  first: (cut: Cut) => Promise<A>;
  /** Begins the second attempt; undefined if there is no second upstream or no budget. */
  second: () => ((cut: Cut) => Promise<A>) | undefined;
  /** Called once if a second attempt has begun. */
  decided: (decision: Decision) => void;
}

/** How a race ended. */
interface Decision {
  secondWon: boolean;
  /**
   * The attempt that was cut because of the other one. An attempt that failed by itself was not, nor was one
   * that ended with the request.
   */
  loser: 'first' | 'second' | undefined;
  /** The failure with which the request ended; undefined if the other attempt answered. */
  error: GatewayError | undefined;
}

/** How an attempt ended. */
type End<A> = { by: 'first' | 'second' } & ({ answer: A } | { error: GatewayError });

/**
 * The first answer. Rejects with the failure of the first attempt if that is the client's, or if the second
 * attempt fails, too.
 */
async function race<A>({ cut, waitMs, first, second, decided }: Race<A>): Promise<A> {
  const firstCut = childOf(cut);
  const leading = endOf('first', first(firstCut));
  const isSlow = await isPending(leading, waitMs);
  const chase = isSlow && !cut.reason ? second() : undefined;
  if (!chase) return answerOf(await leading);
  const secondCut = childOf(cut);
  const chasing = endOf('second', chase(secondCut));
  const end = await Promise.race([
    leading.then((led) => ('error' in led && isUpstreamFailure(led.error) ? chasing : led)),
    chasing.then((chased) => ('error' in chased ? leading : chased)),
  ]);
  const secondWon = end.by === 'second' && 'answer' in end;
  const [loser, loserCut, loserEnd] = secondWon
    ? (['first', firstCut, leading] as const)
    : (['second', secondCut, chasing] as const);
  const isRunning = await isPending(loserEnd, cut.reason ? CUT_END_MS : 0);
  const hasAnswered = !isRunning && 'answer' in (await loserEnd);
  loserCut.trigger(new LostRace());
  decided({
    secondWon,
    loser: !cut.reason && (isRunning || hasAnswered) ? loser : undefined,
    error: 'error' in end ? end.error : undefined,
  });
  return answerOf('error' in end ? await leading : end);
}

function endOf<A>(by: 'first' | 'second', attempt: Promise<A>): Promise<End<A>> {
  return attempt.then(
    (answer) => ({ by, answer }),
    (cause: unknown) => ({ by, error: asGatewayError(cause) }),
  );
}

function answerOf<A>(end: End<A>): A {
  if ('error' in end) throw end.error;
  return end.answer;
}

/** Whether the promise is still pending after this time. */
function isPending(promise: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), ms);
    void promise.then(() => {
      clearTimeout(timer);
      resolve(false);
    });
  });
}

/** A cut that follows the other one. */
function childOf(cut: Cut): Cut {
  const child = new Cut();
  cut.onCut({ abort: (reason) => child.trigger(reason) });
  return child;
}
