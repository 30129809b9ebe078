/** Job that retires deprecated models at their announced time. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { inTransaction, query, sql, toDate } from '../database/sql.ts';
import { setModelState } from './catalog.service.ts';

/** Maximum number of models that one run retires. */
const ROUND_MAX = 50;

interface DueModel {
  id: string;
  retires_at: string;
  replacement_id: string | null;
  deprecation_note: string | null;
}

/**
 * Retires the models whose time has come, with audit entries, and publishes the change to nodes. Skips models
 * that another control plane has locked.
 */
export async function retireDueModels(em: EntityManager): Promise<void> {
  await inTransaction(em, async (inner) => {
    const due = await query<DueModel>(
      inner,
      sql`select id, retires_at, replacement_id, deprecation_note from model
      where state = 'DEPRECATED' and retires_at <= now() order by id limit ${ROUND_MAX}
      for update skip locked`,
    );
    for (const { id, retires_at, replacement_id: replacementId, deprecation_note: note } of due) {
      const change = { id, replacementId, note, retiresAt: toDate(retires_at) };
      const reason = 'The announced time of retirement has come.';
      await setModelState(inner, { ...change, state: 'RETIRED', reason }, SYSTEM_ACTOR);
    }
  });
}
