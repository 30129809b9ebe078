/** Models that were deprecated until a moment retire when it comes. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { SYSTEM_ACTOR } from '../context.ts';
import { inTransaction, query, sql, toDate } from '../sql.ts';
import { setModelState } from './catalog.service.ts';

/** So many retire in one round; the others with the next. */
const ROUND_MAX = 50;

interface DueModel {
  id: string;
  retires_at: string;
  replacement_id: string | null;
  deprecation_note: string | null;
}

/**
 * One round: nodes refuse each of them from now on, as after a change by hand, and the audit log says so.
 * Models in the hands of another control plane are left to it.
 */
export async function retireDue(em: EntityManager): Promise<void> {
  await inTransaction(em, async (inner) => {
    const due = await query<DueModel>(
      inner,
      sql`select id, retires_at, replacement_id, deprecation_note from model
      where state = 'DEPRECATED' and retires_at <= now() order by id limit ${ROUND_MAX}
      for update skip locked`,
    );
    for (const { id, retires_at, replacement_id: replacementId, deprecation_note: note } of due) {
      const change = { id, replacementId, note, retiresAt: toDate(retires_at) };
      const reason = 'The time that was announced for it has come.';
      await setModelState(inner, { ...change, state: 'RETIRED', reason }, SYSTEM_ACTOR);
    }
  });
}
