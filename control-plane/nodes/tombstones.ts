/** Deletes old tombstones (removed entries) from the configuration log. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { inTransaction, queryOne, sql } from '../database/sql.ts';

/** How long tombstones are kept, in hours: a node that was away for less can be updated with a delta. */
const KEEP_HOURS = 24;

/**
 * Deletes tombstones older than `keepHours`, and returns their number. Nodes at a revision below the newest
 * deleted tombstone then need a snapshot.
 */
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
