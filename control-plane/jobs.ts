/**
 * Work that every control plane does beside requests, again and again, and what is known of its last run,
 * whichever process that was.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { every, restingAfter } from './schedule.ts';
import type { Repeated } from './schedule.ts';
import { query, sql, toDate } from './sql.ts';

/** What a job is. */
export interface Job {
  name: string;
  everyMs: number;
  /** It rests for so many times what it took; 0 unless given. */
  restTimes?: number;
  /** Whether it must have run once before this process serves. */
  atStart?: boolean;
  work(): Promise<unknown>;
}

export interface JobParts {
  em(): EntityManager;
  /** Told of a run that failed; the next one is made. */
  onTrouble(error: unknown): void;
}

/** The last run of a job; all null before the first. */
export interface JobView {
  name: string;
  lastRunAt: Date | null;
  lastDurationMs: number | null;
  /** Why the last run failed; null where it ended well. */
  lastError: string | null;
  lastFailedAt: Date | null;
  nextRunAt: Date | null;
}

const ERROR_LENGTH_MAX = 500;
/** GraphQL's Int ends here. */
const INT_MAX = 2 ** 31 - 1;

/** Runs a job until it is stopped, never twice at once in this process. */
export function schedule(job: Job, parts: JobParts): Repeated {
  const work = restingAfter(() => runJob(job, parts), job.restTimes ?? 0);
  return every(job.everyMs, work, parts.onTrouble);
}

/** Runs a job once and notes how it ended. Rejects with what the job rejected with. */
export async function runJob(job: Job, { em }: Pick<JobParts, 'em'>): Promise<void> {
  const startedAt = performance.now();
  const note = async (error: string | null): Promise<void> =>
    noteRun(em(), job, { error, tookMs: performance.now() - startedAt });
  try {
    await job.work();
  } catch (cause) {
    // Where the database is away it cannot be noted either; the job's own failure is what is told.
    await note(reasonOf(cause)).catch(() => undefined);
    throw cause;
  }
  await note(null);
}

/** The jobs of these names with their last runs by any process. */
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

/** A run that began before the one that is noted already changes nothing but when the job failed last. */
async function noteRun(
  em: EntityManager,
  { name, everyMs, restTimes = 0 }: Job,
  { error, tookMs }: { error: string | null; tookMs: number },
): Promise<void> {
  const nextMs = Math.max(everyMs - (tookMs % everyMs), restTimes * tookMs);
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
  return text.slice(0, ERROR_LENGTH_MAX) || 'It failed without saying why.';
}
