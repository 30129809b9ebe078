/** The health of each upstream on this node: circuit, requests in flight, recent results, credentials. */
import type { GatewayError } from '@gateway/shared/failures';
import type { ProviderRecord, TokenCounts } from '@gateway/shared/records';
import { UPSTREAMS_MAX } from '@gateway/shared/upstream-health';
import type { CircuitState, Fault, UpstreamReport, UpstreamReports } from '@gateway/shared/upstream-health';
import type { ObservableUpstreams, UpstreamObserver } from '../upstream-metrics.ts';
import type { Candidate } from './attempt.ts';
import {
  CLOSED_CIRCUIT,
  afterFailure,
  afterInconclusive,
  afterStart,
  afterSuccess,
  allowedRequests,
} from './circuit.ts';
import type { Circuit } from './circuit.ts';
import { CredentialUses, OpenRoutes } from './suspension-reports.ts';
import { isUpstreamFailure } from './verdict.ts';
import { HealthWindow } from './window.ts';

const MICROS_PER_DOLLAR = 1_000_000;
/** Largest number that a heartbeat can carry. */
const REPORTED_MAX = 2 ** 31 - 1;
/** Maximum number of input tokens of one answer. A larger number is an error: no model has such a context. */
const TOKENS_MAX = 100_000_000;

interface StatesOptions {
  /** A monotonic clock in ms. */
  now: () => number;
  /** A random number from 0 to below 1. */
  random: () => number;
}

/** How an attempt ended. Without an error it was a success. */
export interface AttemptResult {
  error?: GatewayError | undefined;
  /**
   * The error status, and whether it counts as a fault of the upstream. Without `unwell`, a token was
   * refused, so the request did not reach the upstream.
   */
  refusal?: { status: number; unwell?: boolean };
}

interface State {
  readonly providerId: string;
  readonly baseUrl: string;
  readonly window: HealthWindow;
  circuit: Circuit;
  inFlight: number;
  usedAt: number;
  /** By how much this node's clock was ahead of the upstream's at its last refusal, in ms. */
  clockAheadMs: number | undefined;
  /** The same for its token service, at the last answer of that service. */
  tokenClockAheadMs: number | undefined;
}

/** The states of all upstreams, in memory only: a restart begins without them. */
export class UpstreamStates implements ObservableUpstreams {
  readonly #options: StatesOptions;
  readonly #states = new Map<string, State>();
  /** The same states by record, because each request looks them up several times. */
  readonly #byRecord = new WeakMap<ProviderRecord, State>();
  readonly #credentials = new CredentialUses();
  readonly #openRoutes = new OpenRoutes();
  #observer: UpstreamObserver | undefined;

  constructor(options: StatesOptions) {
    this.#options = options;
  }

  /** Sets the observer. It replaces an earlier one. */
  observe(observer: UpstreamObserver): void {
    this.#observer = observer;
  }

  /** Whether the upstream failed so often that it gets no requests at the moment. */
  isEjected(provider: ProviderRecord, now: number): boolean {
    return allowedRequests(this.#stateOf(provider).circuit, now) === 'none';
  }

  /** Number of requests that the upstream is working on. */
  inFlight(provider: ProviderRecord): number {
    return this.#stateOf(provider).inFlight;
  }

  /** Counts an attempt that starts. The returned function reports its result; only the first call counts. */
  start({ provider, credential }: Candidate, at: number): (result?: AttemptResult) => void {
    const state = this.#stateOf(provider);
    state.circuit = afterStart(state.circuit, at);
    state.usedAt = at;
    if (credential) this.#credentials.used(credential.id, at);
    let settled = false;
    return (result = {}) => {
      if (settled) return;
      settled = true;
      const now = this.#options.now();
      this.#updateCircuit(state, result, now);
      // A wrong request and a client that left are no evidence about the upstream.
      if (result.error && !isUpstreamFailure(result.error)) return;
      const fault = faultOf(result);
      state.window.countAttempt(fault, now);
      this.#observer?.attemptEnded(state.providerId, fault);
      if (fault) this.#credentials.note(credential?.id, { fault, faultAt: now });
    };
  }

  /** Notes that the answer to an attempt has begun; `startedAt` is when the attempt started. */
  answered(provider: ProviderRecord, startedAt: number): void {
    const now = this.#options.now();
    const state = this.#stateOf(provider);
    state.clockAheadMs = undefined;
    state.window.countLatency(now - startedAt, now);
    this.#observer?.answerBegan(state.providerId, now - startedAt);
  }

  /** Counts the input of an answer, if the upstream has counted it; the numbers are unchecked. */
  counted(provider: ProviderRecord, { input, cached }: TokenCounts): void {
    if (input === null || !(input > 0 && input <= TOKENS_MAX)) return;
    const tokens = {
      input: Math.round(input),
      cached: Math.round(Math.min(Math.max(cached ?? 0, 0), input)),
    };
    const state = this.#stateOf(provider);
    state.window.countInput(tokens, this.#options.now());
    this.#observer?.inputCounted(state.providerId, tokens);
  }

  /** Notes that a second upstream was asked because the first one was slow, and whether it won. */
  hedged(provider: ProviderRecord, won: boolean): void {
    this.#observer?.hedged(this.#stateOf(provider).providerId, won);
  }

  /** Notes that an attempt was cut because another upstream answered first: it costs the operator money. */
  raceLost({ provider, route }: Candidate): void {
    const { providerId } = this.#stateOf(provider);
    this.#observer?.raceLost(providerId, Number(route.cost ?? 0) / MICROS_PER_DOLLAR);
  }

  /** Notes that one route to the upstream is ejected after failures, until this time of the clock. */
  routeEjected({ provider, route }: Candidate, until: number): void {
    this.#openRoutes.opened(route.id, until);
    this.#observer?.routeEjected(this.#stateOf(provider).providerId);
  }

  /** Notes that other credentials are preferred until this time: the quota of this one is nearly used up. */
  spared({ provider, credential }: Candidate, until: number): void {
    this.#credentials.note(credential?.id, { spentUntil: until });
    this.#observer?.spared(this.#stateOf(provider).providerId);
  }

  /** Notes that a credential is suspended until this time, after refusals. */
  suspended({ credential }: Candidate, until: number): void {
    this.#credentials.note(credential?.id, { suspendedUntil: until });
  }

  /**
   * Notes that the upstream refused an authentication while this node's clock was ahead by so many ms;
   * undefined if the clock is not the reason.
   */
  clockDiffers(provider: ProviderRecord, aheadMs: number | undefined): void {
    this.#stateOf(provider).clockAheadMs = aheadMs;
  }

  /**
   * Notes the same of the upstream's token service. Answers of the upstream do not end it: they may use a
   * token that is still valid.
   */
  tokenClockDiffers(provider: ProviderRecord, aheadMs: number | undefined): void {
    this.#stateOf(provider).tokenClockAheadMs = aheadMs;
  }

  /** Counts a request in flight until the returned function is called for the first time. */
  enter(provider: ProviderRecord): () => void {
    const state = this.#stateOf(provider);
    state.inFlight += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      state.inFlight -= 1;
    };
  }

  /**
   * The upstreams that were asked within the window or whose circuit is not closed, the credentials used
   * within the window, and the ejected routes; the last used first.
   */
  report(): UpstreamReports {
    const now = this.#options.now();
    const known = [...this.#states.values()].sort((one, other) => other.usedAt - one.usedAt);
    const upstreams = known
      .map((state) => reportOf(state, now))
      .filter(({ circuit, requests }) => requests > 0 || circuit !== 'CLOSED')
      .slice(0, UPSTREAMS_MAX);
    return { upstreams, credentials: this.#credentials.report(now), routes: this.#openRoutes.report(now) };
  }

  /** The circuit of every upstream that was ever asked. */
  circuits(): { providerId: string; circuit: CircuitState }[] {
    const now = this.#options.now();
    return [...this.#states.values()].map((state) => ({
      providerId: state.providerId,
      circuit: circuitState(state.circuit, now),
    }));
  }

  #updateCircuit(state: State, { error, refusal }: AttemptResult, now: number): void {
    const { circuit } = state;
    const isUnreached = refusal !== undefined && refusal.unwell === undefined;
    if (!error || refusal?.unwell === false) state.circuit = afterSuccess(circuit, now);
    else if (isUnreached || !isUpstreamFailure(error)) state.circuit = afterInconclusive(circuit);
    else state.circuit = afterFailure(circuit, now, this.#options.random());
  }

  /** A provider whose base URL was changed counts as another upstream. */
  #stateOf(provider: ProviderRecord): State {
    const known = this.#byRecord.get(provider);
    if (known) return known;
    const { id, baseUrl } = provider;
    const named = this.#states.get(id);
    const state = named?.baseUrl === baseUrl ? named : newState(id, baseUrl);
    // The changed provider may have another token service, or none.
    state.tokenClockAheadMs = undefined;
    this.#states.set(id, state);
    this.#byRecord.set(provider, state);
    return state;
  }
}

function newState(providerId: string, baseUrl: string): State {
  const window = new HealthWindow();
  const unused = { inFlight: 0, usedAt: 0, clockAheadMs: undefined, tokenClockAheadMs: undefined };
  return { providerId, baseUrl, window, circuit: CLOSED_CIRCUIT, ...unused };
}

function faultOf({ error, refusal }: AttemptResult): Fault | undefined {
  if (!error) return undefined;
  if (refusal?.status === 401 || refusal?.status === 403) return 'REFUSED';
  if (error.code === 'upstream_busy') return 'BUSY';
  return error.code === 'upstream_timeout' ? 'TIMEOUT' : 'FAILED';
}

function reportOf(state: State, now: number): UpstreamReport {
  const { providerId, circuit, window } = state;
  const clockAheadMs = state.clockAheadMs ?? state.tokenClockAheadMs;
  const { succeeded, faults } = window.counts(now);
  const [busy = 0, timeouts = 0, refused = 0, failed = 0] = faults;
  const { input, cached } = window.inputTokens(now);
  return {
    providerId,
    circuit: circuitState(circuit, now),
    requests: succeeded + busy + timeouts + refused + failed,
    busy,
    timeouts,
    refused,
    failed,
    p50Ms: window.quantile(0.5, now),
    p95Ms: window.quantile(0.95, now),
    inputTokens: Math.min(input, REPORTED_MAX),
    cachedTokens: Math.min(cached, REPORTED_MAX),
    clockAheadMs: clockAheadMs === undefined ? null : Math.round(clockAheadMs),
  };
}

function circuitState(circuit: Circuit, now: number): CircuitState {
  if (circuit.ejectedUntil === 0) return 'CLOSED';
  return now < circuit.ejectedUntil ? 'OPEN' : 'HALF_OPEN';
}
