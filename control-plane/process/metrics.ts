/**
 * The Prometheus registry of the process, and metrics of its HTTP server. Domains register their own metrics.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { RELEASE } from '@gateway/shared/release';

export const registry = new Registry();
collectDefaultMetrics({ register: registry });

new Gauge({
  name: 'gateway_build_info',
  help: 'The release of the process; always 1.',
  labelNames: ['version', 'runtime'],
  registers: [registry],
}).set({ version: RELEASE, runtime: process.version }, 1);

/**
 * Upper bounds of the latency buckets, in seconds. The last one is the time in which a slow request may
 * still arrive (`TIME_LIMITS.requestMs`).
 */
const LATENCY_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

export const httpRequests = new Histogram({
  name: 'gateway_control_http_seconds',
  help: 'Time from the headers of a request to the end of its answer, by route and status class.',
  labelNames: ['route', 'status'],
  buckets: LATENCY_BUCKETS,
  registers: [registry],
});

export const maskedErrors = new Counter({
  name: 'gateway_control_masked_errors_total',
  help: 'Internal errors, which callers saw as INTERNAL_SERVER_ERROR.',
  registers: [registry],
});

export const lostNotices = new Counter({
  name: 'gateway_control_lost_notices_total',
  help: 'Notices of settled batches that were not sent: open pages show those requests when they read again.',
  registers: [registry],
});

export const failedGroups = new Counter({
  name: 'gateway_control_failed_settlement_groups_total',
  help: 'Groups of usage reports whose transaction failed: each report was then settled alone.',
  registers: [registry],
});

export const signInFailures = new Counter({
  name: 'gateway_control_sign_in_failures_total',
  help: 'Refused sign-ins, by reason.',
  labelNames: ['reason'],
  registers: [registry],
});
