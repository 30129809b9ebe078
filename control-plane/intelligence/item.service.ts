/** Operations of users on their items: write, edit, pin, suppress, and delete. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { publish } from '../database/events.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import type { Actor } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import type { ContentKey, ContentKeys } from './content-keys.ts';
import { insertItem, itemsOf, macOf, writeText } from './item.rows.ts';
import type { ItemView } from './item.rows.ts';
import { auditOwn } from './personal.audit.ts';
import type { PersonalKind } from './switch.entity.ts';
import { wordsOf } from './words.rules.ts';

const TEXT_LENGTH_MAX = 600;
/** Deleted items of a user that are not learned again. The oldest are dropped. */
const FORGOTTEN_MAX = 1000;
/** Items of one kind. Chats, and with them summaries, have a limit of their own. */
export const ITEMS_MAX: Record<PersonalKind, number> = {
  DURABLE_ROUTINE: 30,
  PREFERENCE_PROFILE: 40,
  WORKING_ON: 10,
  CONVERSATION_SUMMARY: 1000,
};

/** The session, the keys and the user of an operation on items. */
export interface ItemContext {
  em: EntityManager;
  keys: ContentKeys;
  userId: string;
}

/** The user's item with this id. Throws NOT_FOUND. */
export async function itemById({ em, keys, userId }: ItemContext, id: string): Promise<ItemView> {
  const [item] = await itemsOf(em, await keys.find(userId), { userId, ids: [id] });
  if (item) return item;
  throw unknownItem();
}

/** Adds an item that the user wrote. Throws REQUIRED, LIMIT_REACHED, CONFLICT. */
export async function createItem(
  context: ItemContext,
  input: { kind: PersonalKind; text: string },
): Promise<ItemView> {
  const { em, keys, userId } = context;
  const text = textOf(input.text);
  const key = await keys.of(userId);
  const id = await inTransaction(em, async (inner) => {
    await lockItems(inner, userId);
    const count = await queryOne<{ count: number }>(
      inner,
      sql`select count(*)::integer as count from personal_item
        where user_id = ${userId} and kind = ${input.kind}`,
    );
    if ((count?.count ?? 0) >= ITEMS_MAX[input.kind])
      throw new UserFailure(
        'LIMIT_REACHED',
        'There are too many items of this kind. Delete some first.',
        'kind',
      );
    const made = await insertItem(inner, key, { userId, kind: input.kind, text, origin: 'USER_ADDED' });
    if (!made) throw sameText();
    await published(inner, userId);
    return made;
  });
  return itemById(context, id).catch(async (error: unknown) => {
    // Everything was forgotten meanwhile. Nobody can read the item, because its key was destroyed.
    await query(em, sql`delete from personal_item where id = ${id} and user_id = ${userId}`);
    throw error;
  });
}

/** A change of an item. Fields that are left out stay. */
export interface ItemChange {
  id: string;
  version: number;
  text?: string | null | undefined;
  pinned?: boolean | null | undefined;
  suppressed?: boolean | null | undefined;
}

/**
 * Changes an item. An edited text belongs to the user: deriving does not change it. Throws NOT_FOUND,
 * STALE_VERSION, REQUIRED, LIMIT_REACHED, CONFLICT.
 */
export async function updateItem(context: ItemContext, change: ItemChange): Promise<ItemView> {
  const { em, keys, userId } = context;
  // Before the transaction: a transaction that waits for a second connection could wait for ever.
  const key = await keys.find(userId);
  if (!key) throw unknownItem();
  await inTransaction(em, async (inner) => {
    await lockItems(inner, userId);
    const [item] = await itemsOf(inner, key, { userId, ids: [change.id] });
    if (!item) throw unknownItem();
    const text = change.text === null || change.text === undefined ? item.text : textOf(change.text);
    const isEdited = text !== item.text;
    const row = await queryOne(
      inner,
      sql`update personal_item set pinned = ${change.pinned ?? item.pinned},
          suppressed = ${change.suppressed ?? item.suppressed}, version = version + 1,
          origin = case when ${isEdited} and origin = 'DERIVED' then 'EDITED' else origin end,
          expires_at = case when ${isEdited} then null else expires_at end
        where id = ${item.id} and user_id = ${userId} and version = ${change.version} returning id`,
    );
    if (!row)
      throw new UserFailure('STALE_VERSION', 'The item was changed meanwhile. Load it again.', 'version');
    if (isEdited && !(await writeText(inner, key, { ...item, text }))) throw sameText();
    await published(inner, userId);
  });
  return itemById(context, change.id);
}

/** Deletes items. With `neverRelearn`, they are not learned again. Ids of other users change nothing. */
export async function deleteItems(
  { em, keys, userId }: ItemContext,
  { ids, neverRelearn }: { ids: readonly string[]; neverRelearn: boolean },
): Promise<void> {
  const key = await keys.find(userId);
  const items = await itemsOf(em, key, { userId, ids });
  await inTransaction(em, async (inner) => {
    await lockItems(inner, userId);
    if (key && neverRelearn) {
      for (const item of items) await forget(inner, key, item);
      await dropOldestForgotten(inner, userId);
    }
    await query(
      inner,
      sql`delete from personal_item where user_id = ${userId} and id = any(${[...ids]}::text[])`,
    );
    await published(inner, userId);
  });
}

/** Deletes all items of these kinds; of all kinds for null. Audited. */
export async function deleteAllItems(
  { em, userId }: Pick<ItemContext, 'em' | 'userId'>,
  kinds: readonly PersonalKind[] | null,
  actor: Actor,
): Promise<void> {
  await inTransaction(em, async (inner) => {
    await lockItems(inner, userId);
    await query(
      inner,
      sql`delete from personal_item where user_id = ${userId}
        and (${kinds}::text[] is null or kind = any(${kinds}::text[]))`,
    );
    await auditOwn(inner, actor, 'delete_all');
    await published(inner, userId);
  });
}

/** Remembers only hashes of the words of an item, so that it is not learned again. */
export async function forget(em: EntityManager, key: ContentKey, { userId, text }: ItemView): Promise<void> {
  const terms = [...new Set(wordsOf(text))].map((word) => key.term(word));
  await query(
    em,
    sql`insert into personal_forgotten (user_id, text_mac, terms)
      values (${userId}, ${macOf(key, text)}, ${terms}::bigint[]) on conflict do nothing`,
  );
}

/** Drops the hashes of the oldest deleted items above the limit. */
export async function dropOldestForgotten(em: EntityManager, userId: string): Promise<void> {
  await query(
    em,
    sql`delete from personal_forgotten where user_id = ${userId} and text_mac in (
      select text_mac from personal_forgotten where user_id = ${userId}
      order by created_at desc, text_mac offset ${FORGOTTEN_MAX})`,
  );
}

/**
 * Serialises changes of a user's items, also with the deriving of new ones. Take it before any other lock.
 * With `shared`, only holds off changes.
 */
export async function lockItems(
  em: EntityManager,
  userId: string,
  { shared = false }: { shared?: boolean } = {},
): Promise<void> {
  const name = sql`hashtextextended(${`items ${userId}`}, 0)`;
  await query(
    em,
    shared ? sql`select pg_advisory_xact_lock_shared(${name})` : sql`select pg_advisory_xact_lock(${name})`,
  );
}

/** Tells the user's pages that items have changed. */
export function published(em: EntityManager, userId: string): Promise<void> {
  return publish(em, 'personalIntelligenceUpdated', { audience: userId, id: userId });
}

function textOf(given: string): string {
  const text = given.replaceAll('\0', '').replace(/\s+/g, ' ').trim();
  if (text === '') throw new UserFailure('REQUIRED', 'Write a text first.', 'text');
  if (text.length > TEXT_LENGTH_MAX)
    throw new UserFailure('LIMIT_REACHED', `Shorten the text to ${TEXT_LENGTH_MAX} characters.`, 'text');
  return text;
}

function unknownItem(): UserFailure {
  return new UserFailure('NOT_FOUND', 'Unknown item. It may have been deleted.', 'id');
}

function sameText(): UserFailure {
  return new UserFailure('CONFLICT', 'Another item of this kind has the same text.', 'text');
}
