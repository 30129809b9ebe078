/** Events of the audit log about Personal Intelligence. They say that something happened, never what. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { audit } from '../audit/audit.service.ts';
import { queryOne, sql } from '../database/sql.ts';
import type { Actor } from '../graphql/context.ts';

/** An action of a user: change of a switch, deletion of all items of some kinds, or forgetting everything. */
type OwnAction = 'switch' | 'delete_all' | 'forget';

/** The log is kept for ever, so a user who repeats an action adds one event in so many minutes. */
const ONCE_IN_MINUTES = 60;

/**
 * Adds an event in the caller's transaction. It names neither kinds nor counts, and the user by id alone: the
 * log is kept after the account is closed.
 */
export async function auditOwn(em: EntityManager, actor: Actor, verb: OwnAction): Promise<void> {
  const action = `personal_intelligence.${verb}`;
  const recent = await queryOne(
    em,
    sql`select 1 from audit_event where target_id = ${actor.id} and action = ${action}
      and at > now() - ${ONCE_IN_MINUTES} * interval '1 minute' limit 1`,
  );
  if (recent) return;
  await audit(em, {
    actor: { ...actor, label: actor.id ?? actor.label },
    action,
    targetType: 'User',
    targetId: actor.id,
    reason: 'Requested by the owner.',
  });
}
