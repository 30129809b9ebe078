/** Looks up whether a subdomain is available, and takes it for a purchase. */
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { digestOf } from '@gateway/shared/secrets';
import { requestError, UserFailure } from '../graphql/errors.ts';
import type { UserErrorCode } from '../graphql/errors.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { PoolSchema } from './pool.entity.ts';
import type { PoolRow } from './pool.entity.ts';
import { checkSubdomain, isRunning, keptUntil } from './pool.rules.ts';

const WINDOW_MS = 60_000;
/**
 * Maximum number of look-ups per user and window: enough for typing, too few for a script that guesses names.
 */
const LOOKUPS_MAX = 90;
const SUGGESTIONS_MAX = 9;

/** Whether a subdomain is available; if not, the reason, and a similar available one where it is taken. */
export interface Availability {
  subdomain: string;
  available: boolean;
  reason: UserErrorCode | null;
  suggestion: string | null;
}

/** Whether the user can take the subdomain now. Throws RATE_LIMITED above 90 look-ups a minute. */
export async function availabilityOf(em: EntityManager, userId: string, text: string): Promise<Availability> {
  await countLookup(em, userId);
  const wanted = text.trim().toLowerCase();
  try {
    const subdomain = checkSubdomain(wanted);
    const holder = await em.findOne(PoolSchema, { subdomain, holdsSubdomain: true });
    if (!holder || mayTake(holder, userId))
      return { subdomain, available: true, reason: null, suggestion: null };
    const suggestion = await suggestionFor(em, subdomain);
    return { subdomain, available: false, reason: 'SUBDOMAIN_TAKEN', suggestion };
  } catch (error) {
    if (!(error instanceof UserFailure)) throw error;
    return { subdomain: wanted, available: false, reason: error.code, suggestion: null };
  }
}

/**
 * Takes the subdomain for a new pool of the owner, in the transaction of the purchase. If an ended pool held
 * it, that pool loses it for good and is returned, so that the caller can remove it from the nodes.
 * Concurrent calls for one subdomain are serialised. Throws SUBDOMAIN_TAKEN.
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
    throw new UserFailure('SUBDOMAIN_TAKEN', 'Another pool has this subdomain. Choose another.', 'subdomain');
  holder.holdsSubdomain = false;
  await em.flush();
  return holder;
}

/** The owner of an ended pool may take its subdomain at once, other users 14 days after the end. */
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

async function countLookup(em: EntityManager, userId: string): Promise<void> {
  const since = new Date(Date.now() - WINDOW_MS);
  const row = await queryOne<{ lookups: number }>(
    em,
    sql`
    insert into attempt_window (subject, failures, started_at)
      values (${digestOf(`subdomain account ${userId}`)}, 1, now())
    on conflict (subject) do update set
      failures = case when attempt_window.started_at < ${since} then 1 else attempt_window.failures + 1 end,
      started_at = case when attempt_window.started_at < ${since} then now()
        else attempt_window.started_at end
    returning failures as lookups`,
  );
  if (!row || row.lookups <= LOOKUPS_MAX) return;
  throw requestError('RATE_LIMITED', 'Too many look-ups of subdomains. Try again in a minute.', {
    retryAfterMs: WINDOW_MS,
  });
}
