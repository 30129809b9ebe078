/** Reads and writes the items of Personal Intelligence, which are encrypted under the key of their user. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { newId } from '../database/ids.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import type { ContentKey } from './content-keys.ts';
import type { PersonalKind } from './switch.entity.ts';
import { countsOf, normalised, wordsOf } from './words.rules.ts';

/** Where an item comes from: learned, learned and then edited, or written by the user. */
export type ItemOrigin = 'DERIVED' | 'EDITED' | 'USER_ADDED';

/** An item as its user sees it. */
export interface ItemView {
  id: string;
  userId: string;
  kind: PersonalKind;
  text: string;
  origin: ItemOrigin;
  /** From 0 to 1, as a decimal; null for items that the user wrote. */
  confidence: string | null;
  pinned: boolean;
  suppressed: boolean;
  firstSeenAt: Date;
  lastSeenAt: Date;
  expiresAt: Date | null;
  timesUsed: number;
  version: number;
  conversationId: string | null;
}

type ItemRow = Omit<ItemView, 'text'> & { sealed: Buffer };

/** A new item. */
export interface ItemDraft {
  userId: string;
  kind: PersonalKind;
  text: string;
  origin: ItemOrigin;
  confidence?: string | null;
  expiresAt?: Date | null;
  promptVersion?: string | null;
  /** The chat that a summary belongs to. */
  conversationId?: string | null;
}

/** Owner, kinds and ids of the items to read; all kinds and ids by default. */
export interface ItemFilter {
  userId: string;
  kinds?: readonly PersonalKind[] | null;
  ids?: readonly string[];
}

/** The user's items that have not expired, the most recently seen first, without those of a lost key. */
export async function itemsOf(
  em: EntityManager,
  key: ContentKey | undefined,
  { userId, kinds, ids }: ItemFilter,
): Promise<ItemView[]> {
  if (!key) return [];
  const rows = await query<ItemRow>(
    em,
    sql`select id, user_id as "userId", kind, sealed, origin, confidence, pinned, suppressed,
        first_seen_at as "firstSeenAt", last_seen_at as "lastSeenAt", expires_at as "expiresAt",
        times_used as "timesUsed", version, conversation_id as "conversationId"
      from personal_item where user_id = ${userId} and (expires_at is null or expires_at > now())
        and (${kinds ?? null}::text[] is null or kind = any(${kinds ?? null}::text[]))
        and (${ids ?? null}::text[] is null or id = any(${ids ?? null}::text[]))
      order by last_seen_at desc, id desc`,
  );
  return rows.flatMap(({ sealed, ...row }) => {
    const text = key.openIfOwn(row.id, sealed);
    if (typeof text !== 'string') return [];
    const expiresAt = row.expiresAt && new Date(row.expiresAt);
    const seen = { firstSeenAt: new Date(row.firstSeenAt), lastSeenAt: new Date(row.lastSeenAt) };
    return [{ ...row, ...seen, text, expiresAt }];
  });
}

/** Inserts an item with its words. Returns its id; undefined if an equal item of the kind exists. */
export async function insertItem(
  em: EntityManager,
  key: ContentKey,
  draft: ItemDraft,
): Promise<string | undefined> {
  const id = newId('itm');
  const words = wordsOf(draft.text);
  const row = await queryOne(
    em,
    sql`insert into personal_item (id, user_id, kind, origin, sealed, text_mac, terms, confidence, expires_at,
        prompt_version, conversation_id)
      values (${id}, ${draft.userId}, ${draft.kind}, ${draft.origin}, ${key.seal(id, draft.text)},
        ${macOf(key, draft.text)}, ${words.length}, ${draft.confidence ?? null}, ${draft.expiresAt ?? null},
        ${draft.promptVersion ?? null}, ${draft.conversationId ?? null})
      on conflict do nothing returning id`,
  );
  if (!row) return undefined;
  await writeWords(em, key, { id, userId: draft.userId, words });
  return id;
}

/** Replaces the text of an item. Returns false if another item of the kind has the same text. */
export async function writeText(
  em: EntityManager,
  key: ContentKey,
  { id, userId, kind, text }: Pick<ItemView, 'id' | 'userId' | 'kind' | 'text'>,
): Promise<boolean> {
  const words = wordsOf(text);
  const mac = macOf(key, text);
  const row = await queryOne(
    em,
    sql`update personal_item set sealed = ${key.seal(id, text)}, text_mac = ${mac}, terms = ${words.length},
        version = version + 1
      where id = ${id} and user_id = ${userId} and not exists (
        select from personal_item other where other.user_id = ${userId} and other.kind = ${kind}
          and other.text_mac = ${mac} and other.id <> ${id})
      returning id`,
  );
  if (!row) return false;
  await query(em, sql`delete from personal_item_term where item_id = ${id}`);
  await writeWords(em, key, { id, userId, words });
  return true;
}

async function writeWords(
  em: EntityManager,
  key: ContentKey,
  { id, userId, words }: { id: string; userId: string; words: readonly string[] },
): Promise<void> {
  const counts = [...countsOf(words)];
  await query(
    em,
    sql`insert into personal_item_term (user_id, term, item_id, count)
      select ${userId}, term, ${id}, count
      from unnest(${counts.map(([word]) => key.term(word))}::bigint[],
        ${counts.map(([, count]) => count)}::integer[]) as words (term, count)
      on conflict do nothing`,
  );
}

/** Adds messages to the sources of an item. */
export async function addSources(
  em: EntityManager,
  itemId: string,
  source: { conversationId: string; messageIds: readonly string[] },
): Promise<void> {
  await query(
    em,
    sql`insert into personal_item_source (item_id, conversation_id, message_id)
      select ${itemId}, ${source.conversationId}, id from unnest(${[...source.messageIds]}::text[]) as id
      on conflict do nothing`,
  );
}

/** A value that is equal for texts with the same words in the same order. */
export function macOf(key: ContentKey, text: string): Buffer {
  return key.mac(`text ${normalised(text)}`);
}
