/** Deletes many rows in small batches, so that no lock is held for long. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { inTransaction, query, sql } from './sql.ts';
import type { Statement } from './sql.ts';

/** Size of one round of deletions. */
export interface PruneRound {
  /** Maximum number of rows per transaction. */
  batchRows: number;
  /** Maximum number of transactions. */
  batchesMax: number;
}

const ROUND: PruneRound = { batchRows: 1_000, batchesMax: 100 };

/**
 * The earlier of the database's clock and this process's clock. The age of rows is computed from it, so that
 * no row is deleted too early if one of the clocks is ahead.
 */
export function earlierOfBothClocks(processTime: Date = new Date()): Statement {
  return sql`least(now(), ${processTime}::timestamptz)`;
}

/**
 * Runs one round: deletes batches, each in its own transaction, until a batch is not full or `batchesMax` is
 * reached. `deletion` must return a statement that deletes at most the given number of rows, returns them and
 * skips locked rows, so that several instances can prune at once. Returns the number of deleted rows.
 */
export async function pruneInBatches(
  em: EntityManager,
  deletion: (rows: number) => Statement,
  { batchRows, batchesMax }: PruneRound = ROUND,
): Promise<number> {
  let total = 0;
  for (let batch = 0; batch < batchesMax; batch += 1) {
    const deleted = await inTransaction(em, (inner) => query(inner, deletion(batchRows)));
    total += deleted.length;
    if (deleted.length < batchRows) break;
  }
  return total;
}
