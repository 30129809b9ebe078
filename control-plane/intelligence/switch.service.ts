/** Reads and changes the four switches of Personal Intelligence. Chats are stored while one of them is on. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { publish } from '../database/events.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import type { Actor } from '../graphql/context.ts';
import { lockItems } from './item.service.ts';
import { auditOwn } from './personal.audit.ts';
import { PERSONAL_KINDS, PersonalSwitchSchema } from './switch.entity.ts';
import type { PersonalKind } from './switch.entity.ts';

/** A switch as its user sees it. */
export interface SwitchView {
  kind: PersonalKind;
  enabled: boolean;
  /** Null if it was never changed. */
  changedAt: Date | null;
}

/** The four switches of a user in a fixed order. A switch is off until it is turned on. */
export async function switchesOf(em: EntityManager, userId: string): Promise<SwitchView[]> {
  const rows = await em.find(PersonalSwitchSchema, { userId }, { refresh: true });
  return PERSONAL_KINDS.map((kind) => {
    const row = rows.find((item) => item.kind === kind);
    return { kind, enabled: row?.enabled ?? false, changedAt: row?.changedAt ?? null };
  });
}

/** Personal Intelligence of a user as the API shows it. */
export async function personalIntelligenceOf(
  em: EntityManager,
  userId: string,
): Promise<{ userId: string; storing: boolean; switches: SwitchView[] }> {
  const switches = await switchesOf(em, userId);
  return { userId, storing: switches.some((item) => item.enabled), switches };
}

/** The kinds whose switch is on. */
export async function enabledKinds(em: EntityManager, userId: string): Promise<Set<PersonalKind>> {
  const rows = await query<{ kind: PersonalKind }>(
    em,
    sql`select kind from personal_switch where user_id = ${userId} and enabled`,
  );
  return new Set(rows.map(({ kind }) => kind));
}

/** Whether chats of this user are stored now: whether any switch is on. */
export async function isStoring(em: EntityManager, userId: string): Promise<boolean> {
  const on = await queryOne(
    em,
    sql`select 1 from personal_switch where user_id = ${userId} and enabled limit 1`,
  );
  return on !== undefined;
}

/**
 * Turns a switch on or off, from the next message; audited. `deleteExisting` also deletes the items
 * of a switch that is turned off. Repeating it changes nothing.
 */
export async function setSwitch(
  em: EntityManager,
  { userId, actor }: { userId: string; actor: Actor },
  change: { kind: PersonalKind; enabled: boolean; deleteExisting?: boolean },
): Promise<void> {
  await inTransaction(em, async (inner) => {
    // A job that is writing items ends first; a later one finds the switch off.
    await lockItems(inner, userId);
    if (!change.enabled && change.deleteExisting)
      await query(inner, sql`delete from personal_item where user_id = ${userId} and kind = ${change.kind}`);
    const changed = await query(
      inner,
      sql`
      insert into personal_switch (user_id, kind, enabled, changed_at)
        values (${userId}, ${change.kind}, ${change.enabled}, now())
      on conflict (user_id, kind) do update set enabled = excluded.enabled, changed_at = excluded.changed_at
        where personal_switch.enabled <> excluded.enabled
      returning user_id`,
    );
    if (changed.length > 0) await auditOwn(inner, actor, 'switch');
    await publish(inner, 'personalIntelligenceUpdated', { audience: userId, id: userId });
  });
}
