/**
 * Removals stay in the log for a while, so that nodes that were away can be told of them; then they are
 * pruned.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { inTransaction, queryOne, sql } from '../sql.ts';

/** How long a node may be away and still be brought up to date by a delta, in hours. */
const KEEP_HOURS = 24;

/** Deletes old tombstones; from below the newest of them only a snapshot helps. Returns how many went. */
export async function pruneTombstones(em: EntityManager, keepHours = KEEP_HOURS): Promise<number> {
  return inTransaction(em, async (inner) => {
    const pruned = await queryOne<{ count: number }>(
      inner,
      sql`
      with gone as (
        delete from config_log where removed and written_at < now() - ${keepHours} * interval '1 hour'
        returning revision
      ), marked as (
        update config_head set pruned_to = greatest(pruned_to, (select max(revision) from gone))
        where exists (select from gone) returning 1
      )
      select count(*)::integer as count from gone`,
    );
    return pruned?.count ?? 0;
  });
}
