/** Scheduled jobs, which every control plane runs beside requests, and their last runs in the database. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { every, withIdleTime } from './schedule.ts';
import type { RepeatedWork } from './schedule.ts';
import { query, sql, toDate } from '../database/sql.ts';

/** A job that is repeated. */
export interface Job {
  name: string;
  everyMs: number;
  /** Minimum idle time after a run, as a multiple of its duration; 0 by default. */
  idleFactor?: number;
  /** Whether it must run once before this process serves requests. */
  atStart?: boolean;
  work(): Promise<unknown>;
}

interface JobParts {
  /** A new database session. */
  em(): EntityManager;
  /** Receives the error of a failed run. The job continues. */
  onTrouble(error: unknown): void;
}

/** The last run of a job by any process; all null before the first. */
export interface JobView {
  name: string;
  lastRunAt: Date | null;
  lastDurationMs: number | null;
  /** Why the last run failed; null if it succeeded. */
  lastError: string | null;
  lastFailedAt: Date | null;
  nextRunAt: Date | null;
}

const ERROR_LENGTH_MAX = 500;
/** Maximum of GraphQL's Int. */
const INT_MAX = 2 ** 31 - 1;

/**
 * Time between the starts of two jobs with the same interval, in ms. Together they would take all cores of a
 * small machine, and requests of its node would wait.
 */
const APART_MS = 137;

/**
 * Runs a job repeatedly until it is stopped, never twice at once in this process. `number` is its place among
 * the jobs, which do not start at the same time.
 */
export function schedule(job: Job, parts: JobParts, number = 0): RepeatedWork {
  const work = withIdleTime(() => runJob(job, parts), job.idleFactor ?? 0);
  return every({ intervalMs: job.everyMs, offsetMs: number * APART_MS }, work, parts.onTrouble);
}

/** Runs a job once and stores the result. Rejects with the error of the job. */
export async function runJob(job: Job, { em }: Pick<JobParts, 'em'>): Promise<void> {
  const startedAt = performance.now();
  const store = async (error: string | null): Promise<void> =>
    storeRun(em(), job, { error, tookMs: performance.now() - startedAt });
  try {
    await job.work();
  } catch (cause) {
    // If the database is down, storing fails as well; the error of the job is the one to report.
    await store(reasonOf(cause)).catch(() => undefined);
    throw cause;
  }
  await store(null);
}

/** The last runs of the jobs with these names, in this order. */
export async function listJobs(em: EntityManager, names: readonly string[]): Promise<JobView[]> {
  const rows = await query<JobRow>(
    em,
    sql`select name, started_at, next_at, error, failed_at,
      (extract(epoch from finished_at - started_at) * 1000)::bigint::text as took_ms from scheduled_job`,
  );
  const byName = new Map(rows.map((row) => [row.name, row]));
  return names.map((name) => viewOf(name, byName.get(name)));
}

interface JobRow {
  name: string;
  started_at: string;
  next_at: string;
  error: string | null;
  failed_at: string | null;
  took_ms: string;
}

function viewOf(name: string, row: JobRow | undefined): JobView {
  return {
    name,
    lastRunAt: row ? toDate(row.started_at) : null,
    lastDurationMs: row ? Math.min(Number(row.took_ms), INT_MAX) : null,
    lastError: row?.error ?? null,
    lastFailedAt: row?.failed_at ? toDate(row.failed_at) : null,
    nextRunAt: row ? toDate(row.next_at) : null,
  };
}

/** Stores a run. A run that began before the stored one updates only the time of the last failure. */
async function storeRun(
  em: EntityManager,
  { name, everyMs, idleFactor = 0 }: Job,
  { error, tookMs }: { error: string | null; tookMs: number },
): Promise<void> {
  const nextMs = Math.max(everyMs - (tookMs % everyMs), idleFactor * tookMs);
  await query(
    em,
    sql`
    insert into scheduled_job as j (name, started_at, finished_at, next_at, error, failed_at)
    select ${name}, now - ${tookMs} * interval '1 ms', now, now + ${nextMs} * interval '1 ms', ${error}::text,
      case when ${error}::text is null then null else now end
    from (select clock_timestamp() as now) as clock
    on conflict (name) do update set
      started_at = greatest(j.started_at, excluded.started_at),
      finished_at = case when excluded.started_at >= j.started_at then excluded.finished_at
        else j.finished_at end,
      next_at = case when excluded.started_at >= j.started_at then excluded.next_at else j.next_at end,
      error = case when excluded.started_at >= j.started_at then excluded.error else j.error end,
      failed_at = greatest(j.failed_at, excluded.failed_at)`,
  );
}

function reasonOf(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  return text.slice(0, ERROR_LENGTH_MAX) || 'The job failed without a message.';
}
