/** The four switches of Personal Intelligence; chats are stored while at least one of them is on. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { publish } from '../events.ts';
import { inTransaction, query, queryOne, sql } from '../sql.ts';
import { PERSONAL_KINDS, PersonalSwitchSchema } from './switch.entity.ts';
import type { PersonalKind } from './switch.entity.ts';

export interface SwitchView {
  kind: PersonalKind;
  enabled: boolean;
  changedAt: Date | null;
}

/** All four switches of a user in a fixed order; those never touched are off. */
export async function switchesOf(em: EntityManager, userId: string): Promise<SwitchView[]> {
  const rows = await em.find(PersonalSwitchSchema, { userId }, { refresh: true });
  return PERSONAL_KINDS.map((kind) => {
    const row = rows.find((item) => item.kind === kind);
    return { kind, enabled: row?.enabled ?? false, changedAt: row?.changedAt ?? null };
  });
}

/** Whether chats of this user may be stored now. */
export async function isStoring(em: EntityManager, userId: string): Promise<boolean> {
  const on = await queryOne(
    em,
    sql`select 1 from personal_switch where user_id = ${userId} and enabled limit 1`,
  );
  return on !== undefined;
}

/** Turns a switch; it holds from the next message on. Repeats are harmless. */
export async function setSwitch(
  em: EntityManager,
  userId: string,
  change: { kind: PersonalKind; enabled: boolean },
): Promise<void> {
  await inTransaction(em, async (inner) => {
    await query(
      inner,
      sql`
      insert into personal_switch (user_id, kind, enabled, changed_at)
        values (${userId}, ${change.kind}, ${change.enabled}, now())
      on conflict (user_id, kind) do update set enabled = excluded.enabled, changed_at = excluded.changed_at
        where personal_switch.enabled <> excluded.enabled`,
    );
    await publish(inner, 'personalIntelligenceUpdated', { audience: userId, id: userId });
  });
}
