/**
 * Metrics of the export to ClickHouse and of the pages that it answers, and the reasons of failures for logs.
 */
import { Counter, Gauge } from 'prom-client';
import { registry } from '../process/metrics.ts';
import type { ExportState } from './state.ts';

const behind = new Gauge({
  name: 'gateway_usage_export_behind_seconds',
  help: 'Age of the oldest settled request that ClickHouse lacks; 0 if it has all.',
  registers: [registry],
});
const rebuilding = new Gauge({
  name: 'gateway_usage_export_rebuilding',
  help: '1 while ClickHouse is filled from the log and PostgreSQL answers all pages, else 0.',
  registers: [registry],
});
const compared = new Gauge({
  name: 'gateway_usage_export_compared_timestamp_seconds',
  help: 'Unix time of the last comparison of ClickHouse with the ledger; 0 before the first.',
  registers: [registry],
});
const differing = new Gauge({
  name: 'gateway_usage_export_differing_days',
  help: 'Days whose sums in ClickHouse differ from the ledger although they were exported again.',
  registers: [registry],
});

/** Rounds of the export that failed. */
export const exportFailures = new Counter({
  name: 'gateway_usage_export_failures_total',
  help: 'Rounds of the export to ClickHouse that failed; one a second is tried.',
  registers: [registry],
});

/** Questions of pages by who answered: clickhouse, or postgresql and why. */
export const answers = new Counter({
  name: 'gateway_usage_answers_total',
  help: 'Questions to the usage log while ClickHouse is set, by who answered them and why.',
  labelNames: ['by'],
  registers: [registry],
});

/** Sets the metrics of the export. */
export function showState(state: ExportState | undefined): void {
  behind.set(state?.behindSeconds ?? 0);
  rebuilding.set(state?.isActive && !state.isComplete ? 1 : 0);
  compared.set((state?.comparedAt?.getTime() ?? 0) / 1000);
  differing.set(state?.differingDays ?? 0);
}

/** The kind and code of a failure: messages of ClickHouse can quote rows. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error ? `${error.name} ${String(error.code)}` : error.name;
}
