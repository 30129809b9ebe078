/** Encrypts chats of earlier releases, which were stored as plain text. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { ContentKeys } from '../intelligence/content-keys.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import type { Attachment } from './conversation.entity.ts';
import { sealPictures, sealTexts } from './sealed-rows.ts';

/** Rows that one transaction encrypts. A message may hold several megabytes of pictures. */
const ROWS_AT_ONCE = 20;

/** Dependencies of the job. */
interface SealingParts {
  em(): EntityManager;
  contentKeys: ContentKeys;
}

/** Encrypts all plain titles and messages, and empties their plain columns. Skips locked rows until later. */
export async function sealPlainChats(parts: SealingParts): Promise<void> {
  while ((await sealTitles(parts)) + (await sealMessages(parts)) > 0);
}

function sealTitles({ em, contentKeys }: SealingParts): Promise<number> {
  return inTransaction(em(), async (inner) => {
    const rows = await query<{ id: string; userId: string; title: string }>(
      inner,
      sql`select id, user_id as "userId", title from conversation where title <> ''
        order by id limit ${ROWS_AT_ONCE} for update skip locked`,
    );
    for (const { id, userId, title } of rows) {
      const sealed = (await contentKeys.of(userId)).seal(id, title);
      await query(inner, sql`update conversation set title = '', title_sealed = ${sealed} where id = ${id}`);
    }
    return rows.length;
  });
}

interface PlainMessage {
  id: string;
  userId: string;
  content: string;
  reasoning: string | null;
  error: string | null;
  attachments: Attachment[];
}

function sealMessages({ em, contentKeys }: SealingParts): Promise<number> {
  return inTransaction(em(), async (inner) => {
    const rows = await query<PlainMessage>(
      inner,
      sql`select m.id, c.user_id as "userId", m.content, m.reasoning, m.error, m.attachments
        from conversation_message m join conversation c on c.id = m.conversation_id
        where m.sealed is null order by m.id limit ${ROWS_AT_ONCE} for update of m skip locked`,
    );
    for (const row of rows) await sealMessage(inner, row, contentKeys);
    return rows.length;
  });
}

async function sealMessage(em: EntityManager, row: PlainMessage, contentKeys: ContentKeys): Promise<void> {
  const { id, userId, content, reasoning, error } = row;
  const key = await contentKeys.of(userId);
  await query(
    em,
    sql`update conversation_message set content = '', reasoning = null, error = null, attachments = '[]',
        sealed = ${sealTexts(key, { id, content, reasoning, error })},
        pictures_sealed = ${sealPictures(key, row)}, lines_moved = true
      where id = ${id}`,
  );
}

/** Destroys the keys of closed accounts that are left because a process ended between the two steps. */
export async function destroyKeysOfClosedAccounts({ em, contentKeys }: SealingParts): Promise<void> {
  const closed = await query<{ id: string }>(em(), sql`select id from users where state = 'DELETED'`);
  await contentKeys.destroy(...closed.map(({ id }) => id));
}
