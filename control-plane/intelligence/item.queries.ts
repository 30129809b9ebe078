/** Lists items for their user: filtered pages, their sources, and counts. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, queryOne, sql } from '../database/sql.ts';
import { textsOf, titleOf } from '../playground/sealed-rows.ts';
import type { ContentKey } from './content-keys.ts';
import { itemsOf } from './item.rows.ts';
import type { ItemFilter, ItemView } from './item.rows.ts';
import type { PersonalKind } from './switch.entity.ts';

const EXCERPT_LENGTH_MAX = 160;
const SOURCES_MAX = 20;

/** The user's items whose text contains `search`, pinned ones first, then the most recently seen. */
export async function findItems(
  em: EntityManager,
  key: ContentKey | undefined,
  filter: ItemFilter & { search?: string | null },
): Promise<ItemView[]> {
  const wanted = filter.search?.trim().toLowerCase() ?? '';
  const items = await itemsOf(em, key, filter);
  return items
    .filter(({ text }) => text.toLowerCase().includes(wanted))
    .toSorted((left, right) => Number(right.pinned) - Number(left.pinned));
}

/** Number of items of each kind, by user. */
export async function countItemsOf(
  em: EntityManager,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<PersonalKind, number>>> {
  const rows = await query<{ userId: string; kind: PersonalKind; count: number }>(
    em,
    sql`select user_id as "userId", kind, count(*)::integer as count from personal_item
      where user_id = any(${[...userIds]}::text[]) and (expires_at is null or expires_at > now())
      group by user_id, kind`,
  );
  const ofUsers = Map.groupBy(rows, ({ userId }) => userId);
  return new Map(
    [...ofUsers].map(([userId, own]) => [userId, new Map(own.map(({ kind, count }) => [kind, count]))]),
  );
}

/** A message from which an item was learned. */
export interface SourceView {
  conversationId: string;
  conversationTitle: string;
  messageId: string;
  excerpt: string;
  sentAt: Date;
}

interface SourceRow {
  conversationId: string;
  title: string;
  titleSealed: Buffer | null;
  messageId: string;
  sealed: Buffer | null;
  content: string;
  sentAt: string;
}

/** The newest messages from which an item was learned. */
export async function sourcesOf(
  em: EntityManager,
  key: ContentKey | undefined,
  { id, userId }: Pick<ItemView, 'id' | 'userId'>,
): Promise<SourceView[]> {
  const rows = await query<SourceRow>(
    em,
    sql`select c.id as "conversationId", c.title, c.title_sealed as "titleSealed", m.id as "messageId",
        m.sealed, m.content, m.created_at as "sentAt"
      from personal_item_source s
        join conversation_message m on m.id = s.message_id join conversation c on c.id = s.conversation_id
      where s.item_id = ${id} and c.user_id = ${userId} order by m.id desc limit ${SOURCES_MAX}`,
  );
  return rows.map(({ conversationId, messageId, sentAt, ...row }) => {
    const { content } = textsOf({ ...row, id: messageId, reasoning: null, error: null }, key);
    return {
      conversationId,
      conversationTitle: titleOf({ ...row, id: conversationId }, key),
      messageId,
      excerpt: content.replace(/\s+/g, ' ').slice(0, EXCERPT_LENGTH_MAX),
      sentAt: new Date(sentAt),
    };
  });
}

/** The items that rest on a chat, or summarise it. */
export async function itemsOfChat(
  em: EntityManager,
  key: ContentKey | undefined,
  { userId, conversationId }: { userId: string; conversationId: string },
): Promise<ItemView[]> {
  const rows = await query<{ id: string }>(
    em,
    sql`select distinct item_id as id from personal_item_source where conversation_id = ${conversationId}`,
  );
  return itemsOf(em, key, { userId, ids: rows.map(({ id }) => id) });
}

/** When a chat of the user was last read; null for never. */
export async function lastReadAt(em: EntityManager, userId: string): Promise<Date | null> {
  const row = await queryOne<{ at: string | null }>(
    em,
    sql`select max(last_seen_at) as at from personal_item
      where user_id = ${userId} and prompt_version is not null`,
  );
  return row?.at ? new Date(row.at) : null;
}

/** Number of users with a switch that is on. */
export async function countLearners(em: EntityManager): Promise<number> {
  const row = await queryOne<{ count: number }>(
    em,
    sql`select count(distinct user_id)::integer as count from personal_switch where enabled`,
  );
  return row?.count ?? 0;
}
