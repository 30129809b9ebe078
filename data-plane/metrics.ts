/** What a node counts for Prometheus. Labels come from closed lists, and providers from the configuration. */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Family } from '@gateway/shared/catalog';
import { CIRCUIT_STATES } from '@gateway/shared/upstream-health';
import type { CircuitState, Fault } from '@gateway/shared/upstream-health';

/** Upper bounds of the latency buckets, in seconds. */
const LATENCY_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Upper bounds of the buckets of the wait for a commit, in seconds: fine around the millisecond it takes. */
const COMMIT_BUCKETS = [
  0.0001, 0.0002, 0.0003, 0.0005, 0.00075, 0.001, 0.0015, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.025,
  0.05, 0.1, 0.25, 1,
];

/** How the node is, asked when the metrics are read. */
export interface Vitals {
  /** The revision of the configuration that is served; 0 for none. */
  revision: number;
  /** When the control plane confirmed it for the last time, in ms since 1970. */
  confirmedAt: number | undefined;
  journalWritable: boolean;
  usageBacklog: number;
  usageDropped: number;
  leases: number;
  charges: number;
  chargedMicros: bigint;
  /** Charges that the control plane cannot read. */
  parked: number;
}

/** Who hears of every turn of an upstream. */
export interface UpstreamCounter {
  upstreamEnded(providerId: string, fault: Fault | undefined): void;
  upstreamAnswered(providerId: string, ms: number): void;
}

/** The upstreams as the metrics see them. */
export interface WatchedUpstreams {
  countWith(counter: UpstreamCounter): void;
  /** The circuit of every upstream that was ever asked. */
  circuits(): { providerId: string; circuit: CircuitState }[];
}

/** What is shown of the vitals: name, kind, help, value. */
const SHOWN: readonly [string, 'gauge' | 'counter', string, (vitals: Vitals) => number][] = [
  ['gateway_config_revision', 'gauge', 'The revision of the configuration served.', (v) => v.revision],
  [
    'gateway_config_confirmed_timestamp_seconds',
    'gauge',
    'When the control plane last confirmed the configuration; 0 for never.',
    (v) => (v.confirmedAt ?? 0) / 1_000,
  ],
  ['gateway_journal_writable', 'gauge', '1 while charges can be recorded.', (v) => Number(v.journalWritable)],
  ['gateway_usage_backlog', 'gauge', 'Usage records that the control plane lacks.', (v) => v.usageBacklog],
  ['gateway_usage_dropped_total', 'counter', 'Free usage records given up.', (v) => v.usageDropped],
  [
    'gateway_charges_parked',
    'gauge',
    'Charges that the control plane cannot read; look for their request ids in the log.',
    (v) => v.parked,
  ],
  ['gateway_leases', 'gauge', 'Leases held.', (v) => v.leases],
  ['gateway_charges_total', 'counter', 'Charges made durable.', (v) => v.charges],
  ['gateway_charged_usd_total', 'counter', 'Their sum in USD.', (v) => Number(v.chargedMicros) / 1e6],
];

/** The node's counters; one set per server, so that several in one process do not mix. */
export class Metrics {
  readonly registry = new Registry();
  readonly #requests: Counter<'family' | 'code'>;
  readonly #latency: Histogram<'family'>;
  readonly #inFlight: Gauge;
  readonly #commit: Histogram;
  readonly #upstreamTurns: Counter<'provider' | 'fault'>;
  readonly #upstreamLatency: Histogram<'provider'>;

  constructor(vitals?: () => Vitals, upstreams?: WatchedUpstreams) {
    const registers = [this.registry];
    if (vitals) showVitals(this.registry, vitals);
    collectDefaultMetrics({ register: this.registry });
    this.#requests = new Counter({
      name: 'gateway_requests_total',
      help: 'Finished requests by family and failure code (ok: none).',
      labelNames: ['family', 'code'],
      registers,
    });
    this.#latency = new Histogram({
      name: 'gateway_request_seconds',
      help: 'Time from arrival to the last byte.',
      labelNames: ['family'],
      buckets: LATENCY_BUCKETS,
      registers,
    });
    this.#commit = new Histogram({
      name: 'gateway_commit_seconds',
      help: 'How long the end of an answer waited for its charge to be durable.',
      buckets: COMMIT_BUCKETS,
      registers,
    });
    this.#inFlight = new Gauge({
      name: 'gateway_requests_in_flight',
      help: 'Requests being served.',
      registers,
    });
    this.#upstreamTurns = new Counter({
      name: 'gateway_upstream_turns_total',
      help: 'Turns of upstreams that ended, by provider and kind of fault (none: well).',
      labelNames: ['provider', 'fault'],
      registers,
    });
    this.#upstreamLatency = new Histogram({
      name: 'gateway_upstream_answer_seconds',
      help: 'Time until the answer of an upstream began.',
      labelNames: ['provider'],
      buckets: LATENCY_BUCKETS,
      registers,
    });
    if (upstreams) this.#follow(upstreams);
  }

  /** Shows the upstreams: their circuits as they are when asked, and every turn from now on. */
  #follow(states: WatchedUpstreams): void {
    states.countWith({
      upstreamEnded: (provider, fault) => this.#upstreamEnded(provider, fault),
      upstreamAnswered: (provider, ms) => this.#upstreamLatency.labels(provider).observe(ms / 1_000),
    });
    new Gauge({
      name: 'gateway_upstream_circuit',
      help: 'Circuit of an upstream: 0 closed, 1 half open, 2 open.',
      labelNames: ['provider'],
      registers: [this.registry],
      collect() {
        for (const { providerId, circuit } of states.circuits())
          this.labels(providerId).set(CIRCUIT_STATES.indexOf(circuit));
      },
    });
  }

  #upstreamEnded(provider: string, fault: Fault | undefined): void {
    this.#upstreamTurns.labels(provider, fault?.toLowerCase() ?? 'none').inc();
  }

  /** Counts how long the end of an answer waited for its charge to be durable, in ms. */
  committed(waitedMs: number): void {
    this.#commit.observe(waitedMs / 1_000);
  }

  /** Counts a request that began. */
  began(): void {
    this.#inFlight.inc();
  }

  /** Counts a request that ended; `code` is the failure's, `ok` where there was none. */
  ended(family: Family | 'free', code: string, elapsedMs: number): void {
    this.#inFlight.dec();
    this.#requests.labels(family, code).inc();
    this.#latency.labels(family).observe(elapsedMs / 1_000);
  }
}

function showVitals(registry: Registry, vitals: () => Vitals): void {
  for (const [name, kind, help, valueOf] of SHOWN) {
    const about = { name, help, registers: [registry] };
    if (kind === 'gauge')
      new Gauge({
        ...about,
        collect() {
          this.set(valueOf(vitals()));
        },
      });
    else
      new Counter({
        ...about,
        collect() {
          this.reset();
          this.inc(valueOf(vitals()));
        },
      });
  }
}
