/** Deletes the items of chats, and all content of a user at once. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { publish } from '../database/events.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import type { Actor } from '../graphql/context.ts';
import { lockItems } from './item.service.ts';
import type { ItemContext } from './item.service.ts';
import { auditOwn } from './personal.audit.ts';

/**
 * Deletes the items that rest on these chats alone. Returns their number. Call it with the lock of the user's
 * items, before the chats are deleted.
 */
export async function deleteItemsOfChats(
  em: EntityManager,
  userId: string,
  conversationIds: readonly string[],
): Promise<number> {
  const ids = [...conversationIds];
  const deleted = await query(
    em,
    sql`delete from personal_item i where i.user_id = ${userId} and exists (
        select from personal_item_source s where s.item_id = i.id and s.conversation_id = any(${ids}::text[]))
      and not exists (
        select from personal_item_source s where s.item_id = i.id
          and s.conversation_id <> all(${ids}::text[]))
      returning i.id`,
  );
  return deleted.length;
}

/**
 * Deletes all chats, items and jobs of a user, turns all switches off, and destroys the user's key. A backup
 * without the table of keys cannot be read any more. Audited.
 */
export async function forgetEverything({ em, keys, userId }: ItemContext, actor: Actor): Promise<void> {
  // First the switches: after that, no message is stored, neither under this key nor under a new one.
  await inTransaction(em, async (inner) => {
    await lockItems(inner, userId);
    await turnAllOff(inner, userId);
  });
  // Then the key: if the process ends now, the rows that are left cannot be read by anybody.
  await keys.destroy(userId);
  await inTransaction(em, async (inner) => {
    await deleteContent(inner, userId);
    await auditOwn(inner, actor, 'forget');
    await publish(inner, 'personalIntelligenceUpdated', { audience: userId, id: userId });
  });
}

/**
 * Turns all switches of a user off, and deletes chats, messages, items, hashes of forgotten items, and jobs.
 */
export async function deleteContent(em: EntityManager, userId: string): Promise<void> {
  await lockItems(em, userId);
  await turnAllOff(em, userId);
  // Rows that refer to chats and items are deleted by cascade.
  await query(em, sql`delete from personal_item where user_id = ${userId}`);
  await query(em, sql`delete from personal_forgotten where user_id = ${userId}`);
  await query(em, sql`delete from conversation where user_id = ${userId}`);
}

/** Waits for messages that are being stored. No other message is stored after that. */
async function turnAllOff(em: EntityManager, userId: string): Promise<void> {
  await query(
    em,
    sql`update personal_switch set enabled = false, changed_at = now() where user_id = ${userId} and enabled`,
  );
}
