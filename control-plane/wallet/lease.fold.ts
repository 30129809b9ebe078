/**
 * Folds leases that their nodes closed long ago into one row for each wallet and month, so that leases and
 * their accounts do not grow for ever. Entries and charges of folded leases stay as they are.
 *
 * A repeated report of a charge of a folded lease is a duplicate, as before. Any other charge is rejected:
 * the node has closed the lease with all its charges. Leases that were reclaimed without their node are kept,
 * because charges of them may still arrive.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { earlierOfBothClocks } from '../database/prune.ts';
import { queryRow, sql } from '../database/sql.ts';

/** Leases are folded this many days after their node closed them. */
export const FOLD_AFTER_DAYS = 30;
/** Maximum number of leases folded in one transaction. */
const BATCH_LEASES = 500;
/** A run begins no further transaction after this time, in ms. */
const RUN_MS = 20_000;
const FOLD_LEASES_MS = 60_000;
/** Idle time after a run, as a multiple of its duration, should a batch take much longer than a run may. */
const FOLD_REST_TIMES = 1;

/** Schedule of folding: every minute, hence at most a third of the time. */
export const FOLD_LEASES = { everyMs: FOLD_LEASES_MS, idleFactor: FOLD_REST_TIMES };

/** Size of one run. */
interface FoldRun {
  batchLeases?: number;
  runMs?: number;
  /** This process's clock: a lease is folded only if both clocks agree. */
  here?: Date;
}

/**
 * Folds closed leases in batches, each in a transaction of its own, and returns how many. Leases whose
 * entries the ledger check has not sealed wait. Leaves leases that do not match the ledger.
 */
export async function foldLeases(
  em: EntityManager,
  { batchLeases = BATCH_LEASES, runMs = RUN_MS, here }: FoldRun = {},
): Promise<number> {
  const until = performance.now() + runMs;
  let total = 0;
  for (;;) {
    const before = sql`${earlierOfBothClocks(here)} - ${FOLD_AFTER_DAYS} * interval '1 day'`;
    const { folded } = await queryRow<{ folded: number }>(
      em,
      sql`select ledger_fold_leases(${before}, ${batchLeases}::integer) as folded`,
    );
    total += folded;
    if (folded < batchLeases || performance.now() > until) return total;
  }
}
