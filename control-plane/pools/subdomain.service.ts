/** Subdomains: whether one can be had, and taking it at a purchase. */
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { digestOf } from '@gateway/shared/secrets';
import { requestError, UserFailure } from '../errors.ts';
import type { UserErrorCode } from '../errors.ts';
import { query, queryOne, sql } from '../sql.ts';
import { PoolSchema } from './pool.entity.ts';
import type { PoolRow } from './pool.entity.ts';
import { checkSubdomain, isRunning, keptUntil } from './pool.rules.ts';

const WINDOW_MS = 60_000;
/** A person types, a script guesses: so many questions a user may ask in a window. */
const QUESTIONS_MAX = 90;
const SUGGESTIONS_MAX = 9;

export interface Availability {
  subdomain: string;
  available: boolean;
  reason: UserErrorCode | null;
  suggestion: string | null;
}

/** Whether this user could have the subdomain now. Throws RATE_LIMITED for whoever asks too often. */
export async function availabilityOf(em: EntityManager, userId: string, text: string): Promise<Availability> {
  await countQuestion(em, userId);
  const asked = text.trim().toLowerCase();
  try {
    const subdomain = checkSubdomain(asked);
    const holder = await em.findOne(PoolSchema, { subdomain, holdsSubdomain: true });
    if (!holder || mayTake(holder, userId))
      return { subdomain, available: true, reason: null, suggestion: null };
    const suggestion = await suggestionFor(em, subdomain);
    return { subdomain, available: false, reason: 'SUBDOMAIN_TAKEN', suggestion };
  } catch (error) {
    if (!(error instanceof UserFailure)) throw error;
    return { subdomain: asked, available: false, reason: error.code, suggestion: null };
  }
}

/**
 * Makes room for a new pool of this owner, in the transaction of the purchase: an ended pool that held the
 * subdomain lets it go for good and is returned, so that nodes are told to forget it. Of two at once the
 * second waits. Throws SUBDOMAIN_TAKEN.
 */
export async function takeSubdomain(
  em: EntityManager,
  ownerId: string,
  subdomain: string,
): Promise<PoolRow | undefined> {
  await query(em, sql`select pg_advisory_xact_lock(hashtextextended(${`subdomain ${subdomain}`}, 0))`);
  const holder = await em.findOne(
    PoolSchema,
    { subdomain, holdsSubdomain: true },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  if (!holder) return undefined;
  if (!mayTake(holder, ownerId))
    throw new UserFailure('SUBDOMAIN_TAKEN', 'Another pool has this subdomain.', 'subdomain');
  holder.holdsSubdomain = false;
  await em.flush();
  return holder;
}

/** An ended pool's own owner may have the subdomain again at once, everybody else when it is kept no more. */
function mayTake(holder: PoolRow, userId: string): boolean {
  const now = new Date();
  if (isRunning(holder, now)) return false;
  return holder.ownerId === userId || keptUntil(holder) <= now;
}

async function suggestionFor(em: EntityManager, subdomain: string): Promise<string | null> {
  const base = subdomain.slice(0, 30);
  const candidates = Array.from({ length: SUGGESTIONS_MAX }, (_, at) => `${base}-${at + 2}`);
  const taken = await em.find(PoolSchema, { subdomain: { $in: candidates }, holdsSubdomain: true });
  return candidates.find((name) => taken.every((pool) => pool.subdomain !== name)) ?? null;
}

async function countQuestion(em: EntityManager, userId: string): Promise<void> {
  const since = new Date(Date.now() - WINDOW_MS);
  const row = await queryOne<{ asked: number }>(
    em,
    sql`
    insert into attempt_window (subject, failures, started_at)
      values (${digestOf(`subdomain account ${userId}`)}, 1, now())
    on conflict (subject) do update set
      failures = case when attempt_window.started_at < ${since} then 1 else attempt_window.failures + 1 end,
      started_at = case when attempt_window.started_at < ${since} then now()
        else attempt_window.started_at end
    returning failures as asked`,
  );
  if (!row || row.asked <= QUESTIONS_MAX) return;
  throw requestError('RATE_LIMITED', 'Too many questions. Try again in a minute.', {
    retryAfterMs: WINDOW_MS,
  });
}
