/** Rate limits of sign-ins, mails, challenges and exports, per account and per client network. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { digestOf } from '@gateway/shared/secrets';
import { requestError } from '../graphql/errors.ts';
import { ATTEMPT_WINDOW_MS, ATTEMPTS, LOCKOUT_DOUBLINGS } from '../limits.ts';
import { signInFailures } from '../process/metrics.ts';
import { networkOf } from '../process/network.ts';
import { query, queryOne, sql } from '../database/sql.ts';

/** A rate-limited action: its purpose, the e-mail address of the account if known, and the client's IP. */
export interface LimitedAction {
  purpose: keyof typeof ATTEMPTS;
  email: string | null;
  ip: string | null;
  /**
   * Session, known network or known device of the account. It is counted by itself: strangers cannot use up
   * its attempts, and its failures do not count for them.
   */
  apart?: string | null;
}

/** One counter. */
interface Counter {
  subject: string;
  maximum: number;
  /** Counts lock-outs, each of which is longer than the one before; null for a constant window. */
  lockouts: string | null;
}

/**
 * Counts the action before it is executed, so that parallel guesses are counted too. Throws RATE_LIMITED if
 * the account or the network has reached its limit, whether or not the account exists.
 */
export async function countAction(em: EntityManager, action: LimitedAction): Promise<void> {
  for (const counter of countersOf(action)) {
    const row = await count(em, counter);
    if (row.failures <= counter.maximum) continue;
    const isNew = row.failures === counter.maximum + 1;
    const pauseMs = isNew && counter.lockouts ? await lengthen(em, counter.lockouts) : row.pauseMs;
    signInFailures.inc({ reason: 'rate_limited' });
    const retryAfterMs = Math.max(1000, row.startedAt + pauseMs - Date.now());
    const minutes = Math.ceil(retryAfterMs / 60_000);
    throw requestError('RATE_LIMITED', `Too many attempts. Try again in ${minutes} min.`, { retryAfterMs });
  }
}

/** Removes a successful action from the count of its network, and resets the count of its account. */
export async function clearAfterSuccess(em: EntityManager, action: LimitedAction): Promise<void> {
  for (const { subject, lockouts, isShared } of countersOf(action)) {
    if (isShared)
      await query(
        em,
        sql`update attempt_window set failures = failures - 1
        where subject = ${subject} and failures > 0`,
      );
    else
      await query(em, sql`delete from attempt_window where subject in (${subject}, ${lockouts ?? subject})`);
  }
}

/** Adds one to a counter, or starts it again after its window. Returns its state, with times in ms. */
async function count(
  em: EntityManager,
  { subject, lockouts }: Counter,
): Promise<{ failures: number; startedAt: number; pauseMs: number }> {
  const row = await queryOne<{ failures: number; started_at: Date | string; lockouts: number }>(
    em,
    sql`
    with pause as (
      select coalesce((select failures from attempt_window where subject = ${lockouts}), 0) as lockouts),
    length as (
      select ${ATTEMPT_WINDOW_MS}::double precision * power(2, least(greatest(lockouts - 1, 0),
        ${LOCKOUT_DOUBLINGS}::integer)) * interval '1 millisecond' as length from pause)
    insert into attempt_window (subject, failures, started_at) values (${subject}, 1, now())
    on conflict (subject) do update set
      failures = case when attempt_window.started_at < now() - (select length from length) then 1
        else attempt_window.failures + 1 end,
      started_at = case when attempt_window.started_at < now() - (select length from length) then now()
        else attempt_window.started_at end
    returning failures, started_at, (select lockouts from pause) as lockouts`,
  );
  if (!row) throw new Error('The counter of attempts returned nothing.');
  const startedAt = new Date(row.started_at).getTime();
  return { failures: row.failures, startedAt, pauseMs: pauseAfter(row.lockouts) };
}

/** Counts a lock-out, and returns its length in ms. */
async function lengthen(em: EntityManager, subject: string): Promise<number> {
  const row = await queryOne<{ failures: number }>(
    em,
    sql`insert into attempt_window (subject, failures, started_at) values (${subject}, 1, now())
    on conflict (subject) do update set failures = attempt_window.failures + 1, started_at = now()
    returning failures`,
  );
  return pauseAfter(row?.failures ?? 1);
}

function pauseAfter(lockouts: number): number {
  return ATTEMPT_WINDOW_MS * 2 ** Math.min(Math.max(lockouts - 1, 0), LOCKOUT_DOUBLINGS);
}

/** The counters of an action. Their subjects are digests, so that the table holds no e-mail or IP address. */
function countersOf({ purpose, email, ip, apart }: LimitedAction): (Counter & { isShared: boolean })[] {
  const { account, network } = ATTEMPTS[purpose];
  if (email && apart) {
    const subject = digestOf(`${purpose} apart ${email} ${apart}`);
    return [{ subject, maximum: account, lockouts: null, isShared: false }];
  }
  const ofNetwork = {
    subject: digestOf(`${purpose} address ${networkOf(ip)}`),
    maximum: network,
    lockouts: null,
    isShared: true,
  };
  if (!email) return [ofNetwork];
  const subject = digestOf(`${purpose} account ${email}`);
  const lockouts = purpose === 'sign-in' ? digestOf(`${purpose} lockouts ${email}`) : null;
  return [ofNetwork, { subject, maximum: account, lockouts, isShared: false }];
}
