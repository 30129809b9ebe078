/**
 * The queue of chats whose text is to be derived from: one job per chat. A control plane claims a job for
 * `CLAIM_MS`.
 */
import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { inTransaction, query, queryOne, sql } from '../../database/sql.ts';
import type { Statement } from '../../database/sql.ts';

/**
 * Time without a new message after which a chat is due, in ms. It is also due when its user begins a chat.
 */
export const QUIET_MS = 5 * 60_000;
/** Duration of a claim, in ms. Afterwards another control plane can claim the job. */
const CLAIM_MS = 3 * 60_000;
/**
 * Tolerance for changes of the database's clock. A stored time that exceeds its maximum by more was stored
 * before the clock was set back.
 */
const SKEW: Statement = sql`interval '1 minute'`;
/** Maximum delay of a job that waits for the budget of the next month. */
const MONTH_MAX: Statement = sql`interval '31 days'`;
/** A job that failed this often is quarantined until its chat continues or the settings change. */
const TRIES_MAX = 3;
/** The same for a job whose claims end without a result, because each control plane that ran it stopped. */
const ABANDONED_MAX = 12;
/** Delay after the first failure, in ms. Each further failure doubles the delay. */
const RETRY_MS = 60_000;

/** Condition: a job has a claim that has ended. */
const CLAIM_ENDED: Statement = sql`(claimed_until < clock_timestamp()
  or claimed_until > clock_timestamp() + ${CLAIM_MS} * interval '1 ms' + ${SKEW})`;

/** A claimed job. */
export interface DerivingJob {
  conversationId: string;
  userId: string;
  claim: string;
  /** Time of the last queueing, as text. If the chat is queued again during the run, the job runs again. */
  queuedAt: string;
}

/** Reason for a delay or for the quarantine. */
export type JobTrouble = 'MODEL_FAILED' | 'NOT_READABLE' | 'BUDGET' | 'INTERNAL';

/**
 * Queues the chats of `chat` (id, user_id), a common table expression of the caller, unless all switches of
 * their user are off.
 */
export const QUEUE_CHAT: Statement = sql`
  insert into personal_job as j (conversation_id, user_id, queued_at, run_after)
  select chat.id, chat.user_id, clock_timestamp(), clock_timestamp() + ${QUIET_MS} * interval '1 ms' from chat
  where exists (select from personal_switch s where s.user_id = chat.user_id and s.enabled)
  on conflict (conversation_id) do update set queued_at = excluded.queued_at, run_after = excluded.run_after,
    tries = 0, quarantined_at = null, reason = null`;

/** Sets the jobs of the user's other chats to due. Jobs with a failure or without budget keep their delay. */
export async function hastenJobs(em: EntityManager, userId: string, newChatId: string): Promise<void> {
  await query(
    em,
    sql`update personal_job set run_after = least(run_after, clock_timestamp())
      where user_id = ${userId} and conversation_id <> ${newChatId} and reason is null`,
  );
}

/**
 * Claims a job that is due; undefined if there is none. If a stored time exceeds its maximum, the clock was
 * set back after the time was stored: a job with such a time is due, and a claim with such a time has ended.
 */
export async function claimJob(em: EntityManager): Promise<DerivingJob | undefined> {
  await quarantineAbandoned(em);
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
          and (claimed_until is null or ${CLAIM_ENDED})
        order by run_after limit 1 for update skip locked)
      returning conversation_id as "conversationId", user_id as "userId", claim,
        queued_at::text as "queuedAt"`,
  );
}

/** Quarantines jobs whose claims ended too often without a result: their chats may stop control planes. */
async function quarantineAbandoned(em: EntityManager): Promise<void> {
  await query(
    em,
    sql`update personal_job set claim = null, claimed_until = null, reason = 'INTERNAL',
        quarantined_at = clock_timestamp()
      where quarantined_at is null and tries >= ${ABANDONED_MAX} and ${CLAIM_ENDED}`,
  );
}

/** Whether the job exists and this claim is current. Locks the job until the end of the transaction. */
export async function holdsJob(em: EntityManager, job: DerivingJob): Promise<boolean> {
  const row = await queryOne(
    em,
    sql`select 1 from personal_job where conversation_id = ${job.conversationId} and claim = ${job.claim}
      for update`,
  );
  return row !== undefined;
}

/** Deletes a job. If its chat was queued again during the run, ends only the claim. */
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

/** Delays a failed job. After the last try, quarantines the job. */
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
 * Delays a job until the next month, when a new budget begins. `version` is that of the settings of the run.
 * If the settings have changed since then, the job is due at once, because the new budget may suffice.
 */
export async function postponeJob(em: EntityManager, job: DerivingJob, version: number): Promise<void> {
  await inTransaction(em, async (inner) => {
    // The lock delays a change of the settings until the commit. `releaseWaiting` then finds this job.
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

/** Sets all jobs without budget and all quarantined jobs to due, after a change of the settings. */
export async function releaseWaiting(em: EntityManager): Promise<void> {
  await query(
    em,
    sql`update personal_job set run_after = clock_timestamp(), tries = 0, reason = null, quarantined_at = null
      where reason = 'BUDGET' or quarantined_at is not null`,
  );
}

/** Numbers of jobs in the queue. */
export interface QueueState {
  /** Jobs that are not quarantined, including postponed jobs. */
  waiting: number;
  /** Jobs that wait for the next month, because the budget is spent. */
  postponed: number;
  quarantined: number;
  /** Seconds since the oldest due job became due; 0 if no job is due. */
  ageSeconds: number;
}

/** Counts the jobs of a user, or of all users if `userId` is null. */
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
