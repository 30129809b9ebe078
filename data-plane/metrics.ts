/** What a node counts for Prometheus. Labels come from closed lists only. */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Family } from '@gateway/shared/catalog';

/** Upper bounds of the latency buckets, in seconds. */
const LATENCY_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** The node's counters; one set per server, so that several in one process do not mix. */
export class Metrics {
  readonly registry = new Registry();
  readonly #requests: Counter<'family' | 'code'>;
  readonly #latency: Histogram<'family'>;
  readonly #inFlight: Gauge;

  constructor() {
    const registers = [this.registry];
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
    this.#inFlight = new Gauge({
      name: 'gateway_requests_in_flight',
      help: 'Requests being served.',
      registers,
    });
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
