/** The Prometheus metrics of upstreams. Their label `provider` is an id of the configuration. */
import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { CIRCUIT_STATES } from '@gateway/shared/upstream-health';
import type { CircuitState, Fault } from '@gateway/shared/upstream-health';
import { PlainHistogram } from './histogram.ts';
import { PairCounter } from './pair-counter.ts';

/** Upper bounds of the latency buckets, in seconds. */
const LATENCY_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Is notified of every attempt at an upstream. */
export interface UpstreamObserver {
  /** An attempt ended with this fault; undefined stands for success. */
  attemptEnded(providerId: string, fault: Fault | undefined): void;
  /** An answer began `ms` after its attempt started. */
  answerBegan(providerId: string, ms: number): void;
  /** An answer stated its number of input tokens, and how many of them came from a prompt cache. */
  inputCounted(providerId: string, tokens: { input: number; cached: number }): void;
  /** The upstream was asked because another one was slow. `won`: whether its answer was used. */
  hedged(providerId: string, won: boolean): void;
  /** A request was cut because another upstream answered first. Its price is 0 if it is unknown. */
  raceLost(providerId: string, dollars: number): void;
  /** Other credentials are preferred, because the quota of this one is nearly used up. */
  spared(providerId: string): void;
  /** One route to the upstream was ejected after failures. */
  routeEjected(providerId: string): void;
}

/** The upstreams as the metrics need them. */
export interface ObservableUpstreams {
  observe(observer: UpstreamObserver): void;
  /** The circuit of every upstream that was ever asked. */
  circuits(): { providerId: string; circuit: CircuitState }[];
}

/** Counts every attempt from now on, and reads the circuits at each scrape. */
export function showUpstreams(registry: Registry, states: ObservableUpstreams): void {
  const registers = [registry];
  const attempts = new PairCounter(registry, {
    name: 'gateway_upstream_turns_total',
    help: 'Finished attempts at upstreams, by provider and kind of fault (none: success).',
    labelNames: ['provider', 'fault'],
  });
  const latency = new PlainHistogram(registry, {
    name: 'gateway_upstream_answer_seconds',
    help: 'Time from the start of an attempt to the beginning of the answer.',
    label: 'provider',
    buckets: LATENCY_BUCKETS,
  });
  const input = new PairCounter(registry, {
    name: 'gateway_upstream_input_tokens_total',
    help: 'Input tokens as upstreams count them, by provider and whether a prompt cache had them.',
    labelNames: ['provider', 'cached'],
  });
  states.observe({
    attemptEnded: (provider, fault) => attempts.add(provider, fault?.toLowerCase() ?? 'none'),
    answerBegan: (provider, ms) => latency.add(ms, provider),
    inputCounted: (provider, tokens) => {
      input.add(provider, 'yes', tokens.cached);
      input.add(provider, 'no', tokens.input - tokens.cached);
    },
    ...rareEvents(registry),
  });
  new Gauge({
    name: 'gateway_upstream_circuit',
    help: 'Circuit of an upstream: 0 closed, 1 half open, 2 open; the worst one of all workers.',
    labelNames: ['provider'],
    aggregator: 'max',
    registers,
    collect() {
      for (const { providerId, circuit } of states.circuits())
        this.labels(providerId).set(CIRCUIT_STATES.indexOf(circuit));
    },
  });
}

function rareEvents(
  registry: Registry,
): Pick<UpstreamObserver, 'hedged' | 'raceLost' | 'spared' | 'routeEjected'> {
  const registers = [registry];
  const hedges = new Counter({
    name: 'gateway_upstream_hedges_total',
    help: 'Second requests because the first upstream was slow, by provider and whether it answered first.',
    labelNames: ['provider', 'won'],
    registers,
  });
  const extraCost = new Counter({
    name: 'gateway_upstream_hedges_cost_usd_total',
    help: 'Cost of requests that were cut because another upstream answered first, by provider, in USD.',
    labelNames: ['provider'],
    registers,
  });
  const spared = new Counter({
    name: 'gateway_upstream_credentials_spared_total',
    help: 'How often other credentials were preferred because the quota of one was nearly used up.',
    labelNames: ['provider'],
    registers,
  });
  const ejections = new Counter({
    name: 'gateway_upstream_route_ejections_total',
    help: 'How often a route was ejected after failures, by its provider.',
    labelNames: ['provider'],
    registers,
  });
  return {
    hedged: (provider, won) => hedges.labels(provider, won ? 'yes' : 'no').inc(),
    raceLost: (provider, dollars) => extraCost.labels(provider).inc(dollars),
    spared: (provider) => spared.labels(provider).inc(),
    routeEjected: (provider) => ejections.labels(provider).inc(),
  };
}
