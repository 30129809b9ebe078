/**
 * The lines about the user that were sent with a question, one row per line of the reply. The text of a line,
 * and the id of its item, are erased when the item is deleted.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, sql } from '../database/sql.ts';
import type { ContentKey } from '../intelligence/content-keys.ts';
import { lockItems } from '../intelligence/item.service.ts';
import type { PersonalKind } from '../intelligence/switch.entity.ts';
import type { UsedItem } from './running-reply.ts';

/** A stored line. */
export interface UsedLineRow {
  messageId: string;
  position: number;
  /** Null if the item was deleted, like the text. */
  itemId: string | null;
  kind: PersonalKind;
  sealed: Uint8Array | null;
}

/** The lines of a reply, and the user's key. */
export interface UsedLines {
  userId: string;
  messageId: string;
  lines: readonly UsedItem[];
  key: ContentKey;
}

/**
 * Holds off deletions of the user's items until the end of the transaction. Take it before any other lock, if
 * lines will be stored. Does nothing without lines.
 */
export async function lockForLines(
  em: EntityManager,
  { userId, lines }: Pick<UsedLines, 'userId' | 'lines'>,
): Promise<void> {
  if (lines.length > 0) await lockItems(em, userId, { shared: true });
}

/** Stores the lines of a reply. Of a line whose item was deleted meanwhile, only the kind is stored. */
export async function insertLines(
  em: EntityManager,
  { userId, messageId, lines, key }: UsedLines,
): Promise<void> {
  if (lines.length === 0) return;
  const rows = await query<{ id: string }>(
    em,
    sql`select id from personal_item
      where user_id = ${userId} and id = any(${lines.map(({ itemId }) => itemId)}::text[])`,
  );
  const living = new Set(rows.map(({ id }) => id));
  const stored = lines.map(({ itemId, kind, text }, at) => {
    const isLiving = living.has(itemId);
    return {
      itemId: isLiving ? itemId : null,
      kind,
      sealed: isLiving ? key.seal(placeOf(messageId, at), text) : null,
    };
  });
  await query(
    em,
    sql`insert into personal_used_line (message_id, position, item_id, kind, sealed)
      select ${messageId}, line.number - 1, line.item_id, line.kind, line.sealed
      from unnest(${stored.map(({ itemId }) => itemId)}::text[], ${stored.map(({ kind }) => kind)}::text[],
        ${stored.map(({ sealed }) => sealed)}::bytea[])
        with ordinality as line (item_id, kind, sealed, number)
      on conflict do nothing`,
  );
}

/** The lines of these replies, by id of the reply. */
export async function linesOf(
  em: EntityManager,
  key: ContentKey | undefined,
  messageIds: readonly string[],
): Promise<ReadonlyMap<string, UsedItem[]>> {
  if (messageIds.length === 0) return new Map();
  const rows = await query<UsedLineRow>(
    em,
    sql`select message_id as "messageId", position, item_id as "itemId", kind, sealed
      from personal_used_line where message_id = any(${[...messageIds]}::text[])
      order by message_id, position`,
  );
  const lines = new Map<string, UsedItem[]>();
  for (const row of rows) lines.set(row.messageId, [...(lines.get(row.messageId) ?? []), openLine(row, key)]);
  return lines;
}

/**
 * A line, as the API shows it to its user. Id and text are empty if the item was deleted; the text also if
 * the key was destroyed or lost.
 */
export function openLine(
  { messageId, position, itemId, kind, sealed }: UsedLineRow,
  key: ContentKey | undefined,
): UsedItem {
  const text = sealed && key?.openIfOwn(placeOf(messageId, position), sealed);
  return { itemId: itemId ?? '', kind, text: typeof text === 'string' ? text : '' };
}

/** The name under which a line is encrypted, so that lines cannot be exchanged. */
function placeOf(messageId: string, position: number): string {
  return `${messageId} line ${position}`;
}
