/** What the node knows of each upstream: circuit, requests in flight, how it did lately, credentials. */
import type { GatewayError } from '@gateway/shared/failures';
import type { ProviderRecord } from '@gateway/shared/records';
import { CREDENTIALS_MAX, UPSTREAMS_MAX } from '@gateway/shared/upstream-health';
import type { CircuitState, CredentialReport, Fault, UpstreamReport } from '@gateway/shared/upstream-health';
import type { Candidate } from '../exchange/exchange.ts';
import type { UpstreamCounter, WatchedUpstreams } from '../metrics.ts';
import {
  CLOSED_CIRCUIT,
  admission,
  afterFailure,
  afterNothing,
  afterStart,
  afterSuccess,
} from './circuit.ts';
import type { Circuit } from './circuit.ts';
import { isElsewhere } from './verdict.ts';
import { HealthWindow, WINDOW_SPAN_MS } from './window.ts';

export interface StatesOptions {
  /** ms of a monotonic clock. */
  now: () => number;
  /** Random numbers from 0 to 1. */
  random: () => number;
}

/** How an upstream's turn ended. Without an error: well. */
export interface Ending {
  error?: GatewayError | undefined;
  /** The upstream's error status; what it means for the upstream's circuit is then said by `unwell`. */
  refusal?: { status: number; unwell: boolean };
}

/** What nodes report of all their upstreams. */
export interface UpstreamsReport {
  upstreams: UpstreamReport[];
  credentials: CredentialReport[];
}

interface State {
  readonly providerId: string;
  readonly baseUrl: string;
  readonly window: HealthWindow;
  circuit: Circuit;
  inFlight: number;
  usedAt: number;
}

interface CredentialUse {
  usedAt: number;
  fault: Fault | undefined;
  faultAt: number;
}

/** Local, in memory, gone at a restart. */
export class UpstreamStates implements WatchedUpstreams {
  readonly #options: StatesOptions;
  readonly #states = new Map<string, State>();
  /** The same by record, looked up several times for each request. */
  readonly #byRecord = new WeakMap<ProviderRecord, State>();
  readonly #credentials = new Map<string, CredentialUse>();
  #counter: UpstreamCounter | undefined;

  constructor(options: StatesOptions) {
    this.#options = options;
  }

  /** Lets this counter count, too, from now on. */
  countWith(counter: UpstreamCounter): void {
    this.#counter = counter;
  }

  /** Whether the upstream is to be left alone. */
  isEjected(provider: ProviderRecord, now: number): boolean {
    return admission(this.#of(provider).circuit, now) === 'ejected';
  }

  /** Requests that it is busy with. */
  inFlight(provider: ProviderRecord): number {
    return this.#of(provider).inFlight;
  }

  /** Counts a turn; the returned function says once how it ended. */
  start({ provider, credential }: Candidate, at: number): (ending?: Ending) => void {
    const state = this.#of(provider);
    state.circuit = afterStart(state.circuit, at);
    state.usedAt = at;
    if (credential) this.#use(credential.id, at);
    let settled = false;
    return (ending = {}) => {
      if (settled) return;
      settled = true;
      const now = this.#options.now();
      this.#judge(state, ending, now);
      // What the client did wrong, or left early, says nothing about the upstream.
      if (ending.error && !isElsewhere(ending.error)) return;
      const fault = faultOf(ending);
      state.window.ended(fault, now);
      this.#counter?.upstreamEnded(state.providerId, fault);
      const use = credential && this.#credentials.get(credential.id);
      if (use && fault) [use.fault, use.faultAt] = [fault, now];
    };
  }

  /** Notes that an answer to what was asked at `askedAt` began well. */
  answered(provider: ProviderRecord, askedAt: number): void {
    const now = this.#options.now();
    const state = this.#of(provider);
    state.window.answered(now - askedAt, now);
    this.#counter?.upstreamAnswered(state.providerId, now - askedAt);
  }

  /** Counts a request in flight until the returned function is called; further calls change nothing. */
  enter(provider: ProviderRecord): () => void {
    const state = this.#of(provider);
    state.inFlight += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      state.inFlight -= 1;
    };
  }

  /** Upstreams that were asked in the window or are not closed, and credentials that were used in it. */
  report(): UpstreamsReport {
    const now = this.#options.now();
    const known = [...this.#states.values()].sort((one, other) => other.usedAt - one.usedAt);
    const upstreams = known
      .map((state) => reportOf(state, now))
      .filter(({ circuit, requests }) => requests > 0 || circuit !== 'CLOSED')
      .slice(0, UPSTREAMS_MAX);
    for (const [id, { usedAt }] of this.#credentials)
      if (now - usedAt > WINDOW_SPAN_MS) this.#credentials.delete(id);
    const credentials = [...this.#credentials]
      .map(([credentialId, { usedAt, fault, faultAt }]) => ({
        credentialId,
        usedMsAgo: Math.round(now - usedAt),
        ...(fault && now - faultAt <= WINDOW_SPAN_MS
          ? { lastError: fault, lastErrorMsAgo: Math.round(now - faultAt) }
          : { lastError: null, lastErrorMsAgo: null }),
      }))
      .sort((one, other) => one.usedMsAgo - other.usedMsAgo)
      .slice(0, CREDENTIALS_MAX);
    return { upstreams, credentials };
  }

  /** The circuit of every upstream that was ever asked. */
  circuits(): { providerId: string; circuit: CircuitState }[] {
    const now = this.#options.now();
    return [...this.#states.values()].map((state) => ({
      providerId: state.providerId,
      circuit: circuitState(state.circuit, now),
    }));
  }

  #judge(state: State, { error, refusal }: Ending, now: number): void {
    const { circuit } = state;
    if (!error || refusal?.unwell === false) state.circuit = afterSuccess(circuit, now);
    else if (isElsewhere(error)) state.circuit = afterFailure(circuit, now, this.#options.random());
    else state.circuit = afterNothing(circuit);
  }

  #use(credentialId: string, at: number): void {
    const known = this.#credentials.get(credentialId);
    if (known) known.usedAt = at;
    else this.#credentials.set(credentialId, { usedAt: at, fault: undefined, faultAt: 0 });
  }

  /** A provider whose address was changed is another upstream. */
  #of(provider: ProviderRecord): State {
    const known = this.#byRecord.get(provider);
    if (known) return known;
    const { id, baseUrl } = provider;
    const named = this.#states.get(id);
    const state = named?.baseUrl === baseUrl ? named : newState(id, baseUrl);
    this.#states.set(id, state);
    this.#byRecord.set(provider, state);
    return state;
  }
}

function newState(providerId: string, baseUrl: string): State {
  const window = new HealthWindow();
  return { providerId, baseUrl, window, circuit: CLOSED_CIRCUIT, inFlight: 0, usedAt: 0 };
}

function faultOf({ error, refusal }: Ending): Fault | undefined {
  if (!error) return undefined;
  if (refusal?.status === 401 || refusal?.status === 403) return 'REFUSED';
  if (error.code === 'upstream_busy') return 'BUSY';
  return error.code === 'upstream_timeout' ? 'TIMEOUT' : 'FAILED';
}

function reportOf({ providerId, circuit, window }: State, now: number): UpstreamReport {
  const { succeeded, faults } = window.counts(now);
  const [busy = 0, timeouts = 0, refused = 0, failed = 0] = faults;
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
  };
}

function circuitState(circuit: Circuit, now: number): CircuitState {
  if (circuit.ejectedUntil === 0) return 'CLOSED';
  return now < circuit.ejectedUntil ? 'OPEN' : 'HALF_OPEN';
}
