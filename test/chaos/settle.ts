/**
 * Waits after a chaos run until the control plane has compared every payment by card with the processor. Lost
 * events are found by the comparison that the control plane makes of open top-ups every ten minutes and of
 * the balance every day; here all top-ups are due at once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { rowsOf } from './environment.ts';
import type { Environment } from './environment.ts';

/** The job of the control plane that compares top-ups. */
export interface Comparisons {
  /** Makes all top-ups due. */
  makeDue(): Promise<void>;
  progress(): Promise<Progress>;
  /** Time between two readings of the progress. */
  pause(): Promise<void>;
}

export interface Progress {
  /** The clock of the database. */
  at: Date;
  /** Top-ups, and refunds without an answer, that wait for the job. */
  due: number;
  /** When the last run of the job that has ended began; null before the first. */
  begun: Date | null;
  /** Error of that run. */
  error: string | null;
}

const PAUSE_MS = 500;
/** Readings of the progress in which none was taken before a round fails: ten minutes. */
const IDLE_READINGS_MAX = 1_200;

/**
 * Makes all top-ups due, and waits for a run of the job that began when none was due any more: the run before
 * has compared the last ones. The control plane takes 50 at a time, which takes a minute and more on a busy
 * machine, so that only a standstill ends the wait. Throws then.
 */
export async function compareAll(comparisons: Comparisons): Promise<void> {
  await comparisons.makeDue();
  let noneDueAt: Date | undefined;
  let last: Progress | undefined;
  for (let idle = 0; idle < IDLE_READINGS_MAX; idle += 1) {
    const now = await comparisons.progress();
    if (now.due === 0) noneDueAt ??= now.at;
    if (noneDueAt && now.begun && now.begun > noneDueAt) return;
    if (now.due !== last?.due) idle = 0;
    last = now;
    await comparisons.pause();
  }
  throw new Error(`The control plane does not compare top-ups any more: ${JSON.stringify(last)}`);
}

/** The job of a running control plane. */
export function comparisonsOf(environment: Environment): Comparisons {
  return {
    makeDue: async () => {
      await rowsOf(environment, "update top_up set check_at = clock_timestamp() where method = 'CARD'");
      await rowsOf(environment, 'update top_up_refund set check_at = now() where check_at is not null');
    },
    progress: async () => {
      const [row] = await rowsOf<Progress & Record<string, unknown>>(environment, PROGRESS);
      if (!row) throw new Error('A statement without rows.');
      return row;
    },
    pause: () => sleep(PAUSE_MS),
  };
}

const PROGRESS = `select clock_timestamp() as at, job.started_at as begun, job.error,
    ((select count(*) from top_up where method = 'CARD' and check_at <= clock_timestamp())
      + (select count(*) from top_up_refund
        where check_at <= clock_timestamp() and status = 'REQUESTED'))::integer as due
  from (values (1)) as one left join scheduled_job job on job.name = 'payments'`;
