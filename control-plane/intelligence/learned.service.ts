/** Notices about learned items: which are new or changed, and the way to undo them. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { earlierOfBothClocks, pruneInBatches } from '../database/prune.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import { UserFailure } from '../graphql/errors.ts';
import type { ContentKey } from './content-keys.ts';
import { itemsOf, writeText } from './item.rows.ts';
import type { ItemView } from './item.rows.ts';
import { dropOldestForgotten, forget, lockItems, published } from './item.service.ts';
import type { ItemContext } from './item.service.ts';

/** How long a notice is kept, in days. Until then, the item can be undone. */
const KEPT_DAYS = 7;
/** How long a notice stays after a page has shown it first, in minutes. Until then, a reload shows it. */
const SHOWN_MINUTES = 10;

/** An item that was learned, or changed by learning, since the user saw it last. */
export interface LearnedView {
  item: ItemView;
  /** The text that the user saw last; null for a new item. */
  replacedText: string | null;
  learnedAt: Date;
}

interface LearnedRow {
  itemId: string;
  replaced: Buffer | null;
  learnedAt: string;
}

/** The user's notices, the newest first. A text that the user has edited since has no notice. */
export async function learnedOf(
  em: EntityManager,
  key: ContentKey | undefined,
  userId: string,
): Promise<LearnedView[]> {
  if (!key) return [];
  const rows = await noticesOf(em, userId);
  return withItems({ em, key, userId }, rows);
}

interface Owned {
  em: EntityManager;
  key: ContentKey;
  userId: string;
}

/** The notices with their items, without those whose item the user has edited. */
async function withItems({ em, key, userId }: Owned, rows: readonly LearnedRow[]): Promise<LearnedView[]> {
  const items = await itemsOf(em, key, { userId, ids: rows.map(({ itemId }) => itemId) });
  return rows.flatMap(({ itemId, replaced, learnedAt }) => {
    const item = items.find(({ id, origin }) => id === itemId && origin === 'DERIVED');
    if (!item) return [];
    return { item, replacedText: replacedText(key, itemId, replaced), learnedAt: new Date(learnedAt) };
  });
}

/** Notices of these items that are kept; without ids, those to show. */
function noticesOf(
  em: EntityManager,
  userId: string,
  ids: readonly string[] | null = null,
): Promise<LearnedRow[]> {
  return query<LearnedRow>(
    em,
    sql`select item_id as "itemId", replaced_sealed as replaced, learned_at as "learnedAt"
      from personal_learned where user_id = ${userId}
        and learned_at > now() - ${KEPT_DAYS} * interval '1 day'
        and case when ${ids}::text[] is not null then item_id = any(${ids}::text[])
          else seen_at is null or seen_at > now() - ${SHOWN_MINUTES} * interval '1 minute' end
      order by learned_at desc, item_id desc`,
  );
}

/**
 * Notes that an item was learned, or that its text was replaced. A notice that no page has shown yet keeps
 * its earlier text: undoing returns to what the user saw last.
 */
export async function noteLearned(
  em: EntityManager,
  key: ContentKey,
  { id, userId, replaced }: { id: string; userId: string; replaced: string | null },
): Promise<void> {
  const sealed = replaced === null ? null : key.seal(placeOf(id), replaced);
  await query(
    em,
    sql`insert into personal_learned as l (item_id, user_id, replaced_sealed)
      values (${id}, ${userId}, ${sealed})
      on conflict (item_id) do update set learned_at = now(), seen_at = null,
        replaced_sealed = case when l.seen_at is null then l.replaced_sealed
          else excluded.replaced_sealed end`,
  );
}

/** Notes that a page shows these notices; with `dismiss`, removes them. Others' ids change nothing. */
export async function markSeen(
  { em, userId }: Pick<ItemContext, 'em' | 'userId'>,
  { ids, dismiss }: { ids: readonly string[]; dismiss: boolean },
): Promise<void> {
  const own = sql`user_id = ${userId} and item_id = any(${[...ids]}::text[])`;
  if (!dismiss)
    return void (await query(
      em,
      sql`update personal_learned set seen_at = coalesce(seen_at, now()) where ${own}`,
    ));
  await inTransaction(em, async (inner) => {
    const gone = await query(inner, sql`delete from personal_learned where ${own} returning item_id`);
    if (gone.length > 0) await published(inner, userId);
  });
}

/**
 * Undoes what was learned: deletes new items, and restores texts that were replaced. The undone texts count
 * as deleted, so they are not learned again. Throws NOT_FOUND if none of the items can be undone.
 */
export async function undoLearned({ em, keys, userId }: ItemContext, ids: readonly string[]): Promise<void> {
  const key = await keys.find(userId);
  if (!key) throw tooLate();
  await inTransaction(em, async (inner) => {
    await lockItems(inner, userId);
    const notices = await withItems({ em: inner, key, userId }, await noticesOf(inner, userId, [...ids]));
    if (notices.length === 0) throw tooLate();
    for (const notice of notices) await undo(inner, key, notice);
    await dropOldestForgotten(inner, userId);
    await published(inner, userId);
  });
}

async function undo(em: EntityManager, key: ContentKey, { item, replacedText: text }: LearnedView) {
  await forget(em, key, item);
  const isRestored = text !== null && (await writeText(em, key, { ...item, text }));
  // Another item may have the earlier text by now. Then that item is enough.
  if (!isRestored) await query(em, sql`delete from personal_item where id = ${item.id}`);
  await query(em, sql`delete from personal_learned where item_id = ${item.id}`);
}

function tooLate(): UserFailure {
  return new UserFailure(
    'NOT_FOUND',
    'This change can no longer be undone. Change or delete the item.',
    'ids',
  );
}

/** Deletes expired items and old notices. */
export async function pruneItems(em: EntityManager): Promise<void> {
  const now = earlierOfBothClocks();
  await pruneInBatches(
    em,
    (rows) => sql`delete from personal_item where id in (
      select id from personal_item where expires_at < ${now} limit ${rows} for update skip locked)
      returning id`,
  );
  await pruneInBatches(
    em,
    (rows) => sql`delete from personal_learned where item_id in (
      select item_id from personal_learned
      where learned_at < ${now} - ${KEPT_DAYS} * interval '1 day'
      limit ${rows} for update skip locked)
      returning item_id`,
  );
}

/** The text that an item had before, from its notice; null for a new item. */
export function replacedText(key: ContentKey, id: string, sealed: Buffer | null): string | null {
  return sealed && ((key.openIfOwn(placeOf(id), sealed) as string | undefined) ?? null);
}

/** The name under which the earlier text is encrypted; the item's own text has another one. */
function placeOf(itemId: string): string {
  return `${itemId} replaced`;
}
