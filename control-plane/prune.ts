/** Forgets many rows a few at a time, so that no lock is held for long. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { inTransaction, query, sql } from './sql.ts';
import type { Statement } from './sql.ts';

/** How much is forgotten at a time. */
export interface PruneRound {
  /** Rows that go in one transaction. */
  batchRows: number;
  batchesMax: number;
}

const ROUND: PruneRound = { batchRows: 1_000, batchesMax: 100 };

/**
 * The time by which things that cannot be had back are past their own: the earlier of the database's clock
 * and `here`, that of this process. One of the two that leaps ahead alone makes nothing old.
 */
export function surelyNow(here: Date = new Date()): Statement {
  return sql`least(now(), ${here}::timestamptz)`;
}

/**
 * One round: batches, each a transaction of its own, until one is not full; what a round leaves goes with the
 * next. `deletion` deletes so many rows at most, skips those that another process holds, and returns each: so
 * several control planes at once share the work. Returns how many went.
 */
export async function pruneInBatches(
  em: EntityManager,
  deletion: (rows: number) => Statement,
  { batchRows, batchesMax }: PruneRound = ROUND,
): Promise<number> {
  let gone = 0;
  for (let batch = 0; batch < batchesMax; batch += 1) {
    const went = await inTransaction(em, (inner) => query(inner, deletion(batchRows)));
    gone += went.length;
    if (went.length < batchRows) break;
  }
  return gone;
}
