/**
 * Mutations that mint or move something may be repeated with the same key: the second time answers with the
 * first's result.
 */
import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserFailure } from './errors.ts';
import { pruneInBatches, surelyNow } from './prune.ts';
import type { PruneRound } from './prune.ts';
import { query, queryOne, sql } from './sql.ts';

const KEY_LENGTH_MAX = 64;
/** How long a repeat is answered like the first, in days; at most an hour longer. */
const KEEP_DAYS = 30;

export interface Once {
  /** Id of the user who asks: keys of different users never meet. */
  actor: string;
  mutation: string;
  key: string;
  /** Everything that the mutation depends on; the same key with another input is refused. */
  input: unknown;
}

/**
 * Runs `work` in the caller's transaction unless it ran before; `work` returns the id of what it made. Two at
 * the same
 * time: the second waits for the first. Throws IDEMPOTENCY_MISMATCH when the key was used with another input.
 */
export async function once(
  em: EntityManager,
  { actor, mutation, key, input }: Once,
  work: () => Promise<string>,
): Promise<{ id: string; replayed: boolean }> {
  if (!em.isInTransaction()) throw new Error('once() needs the transaction of what it guards.');
  if (!key || key.length > KEY_LENGTH_MAX) {
    throw new UserFailure(
      'INVALID',
      `An idempotency key has 1 to ${KEY_LENGTH_MAX} characters.`,
      'idempotencyKey',
    );
  }
  const inputHash = createHash('sha256').update(canonical(input)).digest('hex');
  await query(em, sql`select pg_advisory_xact_lock(hashtextextended(${`${actor} ${mutation} ${key}`}, 0))`);
  const earlier = await queryOne<{ input_hash: string; result_id: string }>(
    em,
    sql`
    select input_hash, result_id from idempotency
    where actor = ${actor} and mutation = ${mutation} and key = ${key}`,
  );
  if (earlier && earlier.input_hash !== inputHash) {
    throw new UserFailure(
      'IDEMPOTENCY_MISMATCH',
      'This idempotency key was used with another input.',
      'idempotencyKey',
    );
  }
  if (earlier) return { id: earlier.result_id, replayed: true };
  const id = await work();
  await query(
    em,
    sql`insert into idempotency (actor, mutation, key, input_hash, result_id)
    values (${actor}, ${mutation}, ${key}, ${inputHash}, ${id})`,
  );
  return { id, replayed: false };
}

/** Forgets keys past their time, the oldest first. Returns how many went. */
export function pruneIdempotencyKeys(em: EntityManager, round?: PruneRound, here?: Date): Promise<number> {
  const oldest = (rows: number) => sql`
    with due as materialized (
      select actor, mutation, key from idempotency
      where created_at < ${surelyNow(here)} - ${KEEP_DAYS} * interval '1 day'
      order by created_at limit ${rows} for update skip locked
    )
    delete from idempotency i using due
    where i.actor = due.actor and i.mutation = due.mutation and i.key = due.key returning i.key`;
  return pruneInBatches(em, oldest, round);
}

/** JSON with sorted keys, amounts as text, and without what is undefined. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner === 'bigint') return inner.toString();
    if (inner === null || typeof inner !== 'object' || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1)));
  });
}
