/** Health of models: success rates and latencies of the last 24 hours, from the usage log. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, sql } from '../database/sql.ts';
import { ANSWERED_OUTCOMES, FAILED_CODES, FAILED_OUTCOMES, mayShow } from '../status/uptime.rules.ts';

/** Health of a model in the last 24 hours. */
export interface ModelHealthView {
  status: 'OK' | 'DEGRADED' | 'DOWN' | 'UNKNOWN';
  /** 0 to 1 with four fraction digits; null if there were no requests. */
  successRate24h: string | null;
  p50LatencyMs: number | null;
  p95LatencyMs: number | null;
  /** Time to the first content of streamed answers. */
  p50FirstTokenMs: number | null;
  p95FirstTokenMs: number | null;
}

interface HealthRow {
  model_name: string;
  customers: number;
  answered_customers: number;
  streaming_customers: number;
  served: number;
  failed: number;
  streamed: number;
  p50: number | null;
  p95: number | null;
  first_p50: number | null;
  first_p95: number | null;
}

/** Success rates below which a model counts as degraded or down. */
const DEGRADED_BELOW = 0.95;
const DOWN_BELOW = 0.5;
/** Maximum number of requests that are read, the latest first, so that the query stays cheap. */
const ROWS_MAX = 50_000;
/** The result is cached for this long, because public pages show it. */
const CACHE_MS = 15_000;

const UNKNOWN: ModelHealthView = {
  status: 'UNKNOWN',
  successRate24h: null,
  p50LatencyMs: null,
  p95LatencyMs: null,
  p50FirstTokenMs: null,
  p95FirstTokenMs: null,
};

/** Caches the health of all models for `CACHE_MS`. */
class ModelHealthReader {
  #until = 0;
  #reading: Promise<Map<string, ModelHealthView>> | undefined;

  async of(em: EntityManager, modelName: string): Promise<ModelHealthView> {
    const now = Date.now();
    if (!this.#reading || now >= this.#until) {
      this.#until = now + CACHE_MS;
      this.#reading = readHealth(em);
      this.#reading.catch(() => {
        this.#until = 0;
      });
    }
    return (await this.#reading).get(modelName) ?? UNKNOWN;
  }
}

/** One cache per database connection. */
const readers = new WeakMap<object, ModelHealthReader>();

/**
 * The health of one model, at most `CACHE_MS` old; UNKNOWN if it had too few requests in the last 24 hours to
 * be shown.
 */
export function healthOf(em: EntityManager, modelName: string): Promise<ModelHealthView> {
  const database = em.getDriver();
  const reader = readers.get(database) ?? new ModelHealthReader();
  readers.set(database, reader);
  return reader.of(em, modelName);
}

/** Conditions of requests whose figures are shown together. */
const ANSWERED = sql`outcome = any(${[...ANSWERED_OUTCOMES]}::text[])`;
const FAILED = sql`(outcome = any(${[...FAILED_OUTCOMES]}::text[])
  or error_code = any(${[...FAILED_CODES]}::text[]))`;
const STREAMED = sql`${ANSWERED} and streamed and ttft_ms is not null`;

/**
 * Health by model name. A figure is missing unless enough requests of enough customers are behind it, so that
 * it does not describe a single customer. Requests that failed because of the client, or that it aborted, do
 * not count.
 */
export async function readHealth(em: EntityManager): Promise<Map<string, ModelHealthView>> {
  const rows = await query<HealthRow>(
    em,
    sql`select model_name, count(*) filter (where ${ANSWERED})::integer as served,
      count(*) filter (where ${FAILED})::integer as failed,
      count(*) filter (where ${STREAMED})::integer as streamed,
      count(distinct wallet_id)::integer as customers,
      count(distinct wallet_id) filter (where ${ANSWERED})::integer as answered_customers,
      count(distinct wallet_id) filter (where ${STREAMED})::integer as streaming_customers,
      percentile_disc(0.5) within group (order by latency_ms) filter (where ${ANSWERED}) as p50,
      percentile_disc(0.95) within group (order by latency_ms) filter (where ${ANSWERED}) as p95,
      percentile_disc(0.5) within group (order by ttft_ms) filter (where ${STREAMED}) as first_p50,
      percentile_disc(0.95) within group (order by ttft_ms) filter (where ${STREAMED}) as first_p95
    from (select model_name, outcome, error_code, latency_ms, ttft_ms, streamed, wallet_id from usage_entry
      where at > now() - interval '24 hours' order by at desc, id desc limit ${ROWS_MAX}) as latest
    where ${ANSWERED} or ${FAILED} group by model_name`,
  );
  return new Map(
    rows
      .filter(({ served, failed, customers }) => mayShow(served + failed, customers))
      .map((row) => [row.model_name, viewOf(row)]),
  );
}

function viewOf({
  served,
  failed,
  streamed,
  p50,
  p95,
  first_p50,
  first_p95,
  ...row
}: HealthRow): ModelHealthView {
  const rate = served / (served + failed);
  const status = rate < DOWN_BELOW ? 'DOWN' : rate < DEGRADED_BELOW ? 'DEGRADED' : 'OK';
  const ofAnswers = mayShow(served, row.answered_customers);
  const ofStreams = mayShow(streamed, row.streaming_customers);
  return {
    status,
    successRate24h: rate.toFixed(4),
    p50LatencyMs: ofAnswers ? p50 : null,
    p95LatencyMs: ofAnswers ? p95 : null,
    p50FirstTokenMs: ofStreams ? first_p50 : null,
    p95FirstTokenMs: ofStreams ? first_p95 : null,
  };
}
