/**
 * Idempotency keys of mutations: a mutation that is repeated with the same key and input returns the first
 * result and changes nothing.
 */
import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserFailure } from './errors.ts';
import { pruneInBatches, earlierOfBothClocks } from '../database/prune.ts';
import type { PruneRound } from '../database/prune.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { canonicalJson } from '../process/canonical-json.ts';

const KEY_LENGTH_MAX = 64;
/** How long keys are kept, in days; pruning may come up to an hour later. */
const KEEP_DAYS = 30;

/** A call of a mutation with an idempotency key. */
export interface Once {
  /** Id of the calling user. Each user has separate keys. */
  actor: string;
  mutation: string;
  key: string;
  /** Everything that the mutation depends on; the same key with another input is refused. */
  input: unknown;
}

/**
 * Runs `work` in the caller's transaction, unless it ran before with this key. `work` returns the id of the
 * object that it created; a repetition returns that id with `replayed`. A concurrent call waits for the
 * first. Throws INVALID for a malformed key and IDEMPOTENCY_MISMATCH if the key was used with another input.
 */
export async function once(
  em: EntityManager,
  { actor, mutation, key, input }: Once,
  work: () => Promise<string>,
): Promise<{ id: string; replayed: boolean }> {
  if (!em.isInTransaction()) throw new Error('once() must run in a transaction.');
  if (!key || key.length > KEY_LENGTH_MAX) {
    throw new UserFailure(
      'INVALID',
      `The idempotency key must have 1 to ${KEY_LENGTH_MAX} characters.`,
      'idempotencyKey',
    );
  }
  const inputHash = createHash('sha256').update(canonicalJson(input)).digest('hex');
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
      'This idempotency key was used with another input. Use a new key.',
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

/**
 * Deletes expired keys, the oldest first, and returns their number. `processTime` replaces the clock of this
 * process in tests.
 */
export function pruneIdempotencyKeys(
  em: EntityManager,
  round?: PruneRound,
  processTime?: Date,
): Promise<number> {
  const oldest = (rows: number) => sql`
    with due as materialized (
      select actor, mutation, key from idempotency
      where created_at < ${earlierOfBothClocks(processTime)} - ${KEEP_DAYS} * interval '1 day'
      order by created_at limit ${rows} for update skip locked
    )
    delete from idempotency i using due
    where i.actor = due.actor and i.mutation = due.mutation and i.key = due.key returning i.key`;
  return pruneInBatches(em, oldest, round);
}
