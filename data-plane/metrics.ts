/**
 * The Prometheus metrics of a node. Label values come from fixed lists or from the configuration, so that the
 * number of time series is bounded.
 */
import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import type { Family } from '@gateway/shared/catalog';
import { PlainHistogram } from './histogram.ts';
import { showUpstreams } from './upstream-metrics.ts';
import type { ObservableUpstreams } from './upstream-metrics.ts';
import { RELEASE } from '@gateway/shared/release';
import { ModelMetrics } from './model-metrics.ts';
import { PairCounter } from './pair-counter.ts';

/** Upper bounds of the latency buckets, in seconds. */
const LATENCY_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Upper bounds of the buckets for commits, in seconds. Most commits take about 1 ms, so those are narrow. */
const COMMIT_BUCKETS = [
  0.0001, 0.0002, 0.0003, 0.0005, 0.00075, 0.001, 0.0015, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.025,
  0.05, 0.1, 0.25, 1,
];

/** The state of the node at the moment of a scrape. */
export interface Vitals {
  /** Whether the node is shutting down. */
  leaving: boolean;
  /** Revision of the configuration in use; 0 if the node has none. */
  revision: number;
  /** Time of the control plane's last confirmation of the configuration, by its clock, in ms since 1970. */
  confirmedAt: number | undefined;
  journalWritable: boolean;
  usageBacklog: number;
  usageDropped: number;
  leases: number;
  charges: number;
  chargedMicros: bigint;
  /** Charges that the control plane cannot read. */
  quarantined: number;
  /** Credentials of upstreams that cannot be decrypted and are not used. */
  unreadableCredentials: number;
  /** Records of upstreams and routes that this release cannot read. */
  skippedRecords: number;
}

/** How the gauges of a node's workers become one value. Counters are always added up. */
type Combined = 'sum' | 'min' | 'max';

/** The metrics of the vitals: name, kind, help, value, and how workers are combined. */
const SHOWN: readonly [string, 'gauge' | 'counter', string, (vitals: Vitals) => number, Combined][] = [
  ['gateway_config_revision', 'gauge', 'The revision of the configuration served.', (v) => v.revision, 'min'],
  [
    'gateway_config_confirmed_timestamp_seconds',
    'gauge',
    "When the control plane last confirmed the configuration, by the control plane's clock; 0 for never.",
    (v) => (v.confirmedAt ?? 0) / 1_000,
    'min',
  ],
  ['gateway_node_leaving', 'gauge', '1 while the node shuts down.', (v) => Number(v.leaving), 'max'],
  [
    'gateway_credentials_unreadable',
    'gauge',
    'Credentials of upstreams that cannot be decrypted and are not used.',
    (v) => v.unreadableCredentials,
    'max',
  ],
  [
    'gateway_upstream_records_skipped',
    'gauge',
    'Records of upstreams and routes that this release cannot read and does not use.',
    (v) => v.skippedRecords,
    'max',
  ],
  [
    'gateway_journal_writable',
    'gauge',
    '1 while charges can be written to the journal.',
    (v) => Number(v.journalWritable),
    'min',
  ],
  [
    'gateway_usage_backlog',
    'gauge',
    'Usage records that the control plane has not acknowledged.',
    (v) => v.usageBacklog,
    'sum',
  ],
  [
    'gateway_usage_dropped_total',
    'counter',
    'Dropped usage records. Only records of free requests are dropped.',
    (v) => v.usageDropped,
    'sum',
  ],
  [
    'gateway_charges_quarantined',
    'gauge',
    'Quarantined charges, which the control plane cannot read; the log names their request ids.',
    (v) => v.quarantined,
    'sum',
  ],
  ['gateway_leases', 'gauge', 'Wallet leases that the node holds.', (v) => v.leases, 'sum'],
  ['gateway_charges_total', 'counter', 'Charges written to the journal.', (v) => v.charges, 'sum'],
  [
    'gateway_charged_usd_total',
    'counter',
    'Sum in USD of the charges written to the journal.',
    (v) => Number(v.chargedMicros) / 1e6,
    'sum',
  ],
];

/** The metrics of one server. Each server has its own registry, because tests run several in one process. */
export class Metrics {
  readonly registry = new Registry();
  /** The requests by model. */
  readonly models = new ModelMetrics(this.registry);
  readonly #requests: PairCounter;
  readonly #latency: PlainHistogram;
  #inFlight = 0;
  readonly #commit: PlainHistogram;

  constructor(vitals?: () => Vitals, upstreams?: ObservableUpstreams) {
    showBuild(this.registry);
    if (vitals) showVitals(this.registry, vitals);
    collectDefaultMetrics({ register: this.registry });
    this.#requests = new PairCounter(this.registry, {
      name: 'gateway_requests_total',
      help: 'Finished requests by family and result: ok, or a failure code.',
      labelNames: ['family', 'code'],
    });
    showInFlight(this.registry, () => this.#inFlight);
    this.#latency = new PlainHistogram(this.registry, {
      name: 'gateway_request_seconds',
      help: 'Time from the arrival of a request to the last byte of its answer.',
      label: 'family',
      buckets: LATENCY_BUCKETS,
    });
    this.#commit = new PlainHistogram(this.registry, {
      name: 'gateway_commit_seconds',
      help: 'Time for which the node held back the end of an answer until the charge was durable.',
      buckets: COMMIT_BUCKETS,
    });
    if (upstreams) showUpstreams(this.registry, upstreams);
  }

  /** Counts the ms that the end of an answer waited for its charge to be durable. */
  committed(waitedMs: number): void {
    this.#commit.add(waitedMs);
  }

  /** Counts a request that starts. */
  began(): void {
    this.#inFlight += 1;
  }

  /** Counts a request that has ended; `code` is the failure code, or `ok`. */
  ended(family: Family | 'free', code: string, elapsedMs: number): void {
    this.#inFlight -= 1;
    this.#requests.add(family, code);
    this.#latency.add(elapsedMs, family);
  }
}

function showInFlight(registry: Registry, read: () => number): void {
  new Gauge({
    name: 'gateway_requests_in_flight',
    help: 'Requests being served.',
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}

/** The release of this process, as a metric that is always 1. */
function showBuild(registry: Registry): void {
  const about = { name: 'gateway_build_info', help: 'The release of the process; always 1.' };
  const labelNames = ['version', 'runtime'] as const;
  const build = new Gauge({ ...about, labelNames, aggregator: 'first', registers: [registry] });
  build.set({ version: RELEASE, runtime: process.version }, 1);
}

function showVitals(registry: Registry, vitals: () => Vitals): void {
  for (const [name, kind, help, valueOf, aggregator] of SHOWN) {
    const about = { name, help, aggregator, registers: [registry] };
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
