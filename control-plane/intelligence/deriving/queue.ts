/** The queue of chats to read. Any control plane claims a job for a limited time. */
import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { inTransaction, query, queryOne, sql } from '../../database/sql.ts';
import type { Statement } from '../../database/sql.ts';

/** A chat is read when it was quiet for this long, in ms, or when its user begins another chat. */
export const QUIET_MS = 5 * 60_000;
/** How long a claim holds, in ms. A control plane that died loses it then. */
const CLAIM_MS = 3 * 60_000;
/** Tolerated jump of the database's clock. A time further in the future was written before a correction. */
const SKEW: Statement = sql`interval '1 minute'`;
/** The longest wait for the next month. */
const MONTH_MAX: Statement = sql`interval '31 days'`;
/** A job that failed this often is quarantined until its chat continues. */
const TRIES_MAX = 3;
/** Wait after the first failure, in ms; it doubles with each further one. */
const RETRY_MS = 60_000;

/** A claimed job. */
export interface DerivingJob {
  conversationId: string;
  userId: string;
  claim: string;
  /** When it was queued last, as text. A job that was queued again meanwhile runs again. */
  queuedAt: string;
}

/** Why a job has to wait or is quarantined. */
export type JobTrouble = 'MODEL_FAILED' | 'NOT_READABLE' | 'BUDGET' | 'INTERNAL';

/** Queues the chats of the relation "chat" (id, user_id), if a switch of their user is on. */
export const QUEUE_CHAT: Statement = sql`
  insert into personal_job as j (conversation_id, user_id, queued_at, run_after)
  select chat.id, chat.user_id, clock_timestamp(), clock_timestamp() + ${QUIET_MS} * interval '1 ms' from chat
  where exists (select from personal_switch s where s.user_id = chat.user_id and s.enabled)
  on conflict (conversation_id) do update set queued_at = excluded.queued_at, run_after = excluded.run_after,
    tries = 0, quarantined_at = null, reason = null`;

/**
 * Makes the jobs of the user's other chats due, because the user began a new chat. Failed ones still wait.
 */
export async function hastenJobs(em: EntityManager, userId: string, newChatId: string): Promise<void> {
  await query(
    em,
    sql`update personal_job set run_after = least(run_after, clock_timestamp())
      where user_id = ${userId} and conversation_id <> ${newChatId} and reason is null`,
  );
}

/**
 * Claims a job that is due; undefined if there is none. Times in the future that cannot be right were written
 * before the clock was put back: such a job is due, and such a claim has ended.
 */
export async function claimJob(em: EntityManager): Promise<DerivingJob | undefined> {
  const claim = randomUUID();
  return queryOne<DerivingJob>(
    em,
    sql`update personal_job set claim = ${claim}, tries = tries + 1,
        claimed_until = clock_timestamp() + ${CLAIM_MS} * interval '1 ms'
      where conversation_id = (
        select conversation_id from personal_job
        where quarantined_at is null
          and (run_after <= clock_timestamp() or queued_at > clock_timestamp() + ${SKEW}
            or run_after > clock_timestamp() + ${SKEW} + case when reason = 'BUDGET' then ${MONTH_MAX}
              else ${QUIET_MS} * interval '1 ms' end)
          and (claimed_until is null or claimed_until < clock_timestamp()
            or claimed_until > clock_timestamp() + ${CLAIM_MS} * interval '1 ms' + ${SKEW})
        order by run_after limit 1 for update skip locked)
      returning conversation_id as "conversationId", user_id as "userId", claim,
        queued_at::text as "queuedAt"`,
  );
}

/** Whether the job still exists and is claimed by this claim. Locks it until the end of the transaction. */
export async function holdsJob(em: EntityManager, job: DerivingJob): Promise<boolean> {
  const row = await queryOne(
    em,
    sql`select 1 from personal_job where conversation_id = ${job.conversationId} and claim = ${job.claim}
      for update`,
  );
  return row !== undefined;
}

/** Ends a job. If its chat continued meanwhile, the job stays queued. */
export async function endJob(em: EntityManager, job: DerivingJob): Promise<void> {
  await query(
    em,
    sql`delete from personal_job where conversation_id = ${job.conversationId} and claim = ${job.claim}
      and queued_at = ${job.queuedAt}::timestamptz`,
  );
  await query(
    em,
    sql`update personal_job set claim = null, claimed_until = null, tries = 0
      where conversation_id = ${job.conversationId} and claim = ${job.claim}`,
  );
}

/** Lets a job wait after a failure, or quarantines it after the last try. */
export async function failJob(em: EntityManager, job: DerivingJob, reason: JobTrouble): Promise<void> {
  await query(
    em,
    sql`update personal_job set claim = null, claimed_until = null, reason = ${reason},
        quarantined_at = case when tries >= ${TRIES_MAX} then clock_timestamp() end,
        run_after = clock_timestamp() + ${RETRY_MS} * power(2, tries - 1) * interval '1 ms'
      where conversation_id = ${job.conversationId} and claim = ${job.claim}`,
  );
}

/**
 * Lets a job wait until the next month, whose budget is new. The job stays due if the settings have another
 * version by now: then the budget may suffice.
 */
export async function postponeJob(em: EntityManager, job: DerivingJob, version: number): Promise<void> {
  await inTransaction(em, async (inner) => {
    // A change of the settings waits for this transaction, and then finds the job.
    const settings = await queryOne<{ version: number }>(
      inner,
      sql`select version from personal_settings for share`,
    );
    await query(
      inner,
      sql`update personal_job set claim = null, claimed_until = null, tries = 0,
          reason = ${settings?.version === version ? 'BUDGET' : null},
          run_after = case when ${settings?.version === version} then
            date_trunc('month', clock_timestamp() at time zone 'UTC') at time zone 'UTC' + interval '1 month'
            else clock_timestamp() end
        where conversation_id = ${job.conversationId} and claim = ${job.claim}`,
    );
  });
}

/** Makes the jobs due that wait for the next month or are quarantined, because the settings have changed. */
export async function releaseWaiting(em: EntityManager): Promise<void> {
  await query(
    em,
    sql`update personal_job set run_after = clock_timestamp(), tries = 0, reason = null, quarantined_at = null
      where reason = 'BUDGET' or quarantined_at is not null`,
  );
}

/** Jobs in the queue. */
export interface QueueState {
  /** Jobs that wait to be run, also those that are postponed. */
  waiting: number;
  /** Jobs that wait for the next month, because the budget is spent. */
  postponed: number;
  quarantined: number;
  /** Age in seconds of the oldest job that is due; 0 without one. */
  ageSeconds: number;
}

/** Counts the jobs, of one user or of all. */
export async function queueState(em: EntityManager, userId: string | null): Promise<QueueState> {
  const row = await queryOne<Omit<QueueState, 'ageSeconds'> & { age: string | null }>(
    em,
    sql`select count(*) filter (where quarantined_at is null)::integer as waiting,
        count(*) filter (where reason = 'BUDGET')::integer as postponed,
        count(*) filter (where quarantined_at is not null)::integer as quarantined,
        extract(epoch from clock_timestamp() - min(run_after) filter (where quarantined_at is null
          and run_after <= clock_timestamp()))::text as age
      from personal_job where ${userId}::text is null or user_id = ${userId}`,
  );
  const { waiting = 0, postponed = 0, quarantined = 0, age } = row ?? {};
  return { waiting, postponed, quarantined, ageSeconds: Number(age ?? 0) };
}
