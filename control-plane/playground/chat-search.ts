/** Searches the encrypted chats of a user, by decrypting titles and messages batch by batch. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { ContentKey } from '../intelligence/content-keys.ts';
import { query, sql } from '../database/sql.ts';
import { textsOf, titleOf } from './sealed-rows.ts';

const MB = 1_000_000;
/** A search reads the newest messages up to this size in all. */
const SEARCHED_BYTES_MAX = 64 * MB;
/** Encrypted messages that are in memory at once: bytes and number. */
const BATCH_BYTES = 4 * MB;
const BATCH_MESSAGES = 500;

/** A search in the chats of a user. */
interface ChatSearch {
  userId: string;
  text: string;
  key: ContentKey | undefined;
}

interface SearchedMessage {
  id: string;
  conversationId: string;
  bytes: number;
}

/** Ids of the chats whose title or messages contain the text. Upper and lower case are equal. */
export async function chatsWith(em: EntityManager, { userId, text, key }: ChatSearch): Promise<string[]> {
  const wanted = text.toLowerCase();
  const contains = (content: string): boolean => content.toLowerCase().includes(wanted);
  const chats = await query<{ id: string; title: string; titleSealed: Buffer | null }>(
    em,
    sql`select id, title, title_sealed as "titleSealed" from conversation where user_id = ${userId}`,
  );
  const found = new Set(chats.filter((chat) => contains(titleOf(chat, key))).map(({ id }) => id));
  for (const batch of batchesOf(await newestMessages(em, userId))) {
    const ids = batch.filter(({ conversationId }) => !found.has(conversationId)).map(({ id }) => id);
    for (const message of await textsWithIds(em, ids))
      if (contains(textsOf(message, key).content)) found.add(message.conversationId);
  }
  return [...found];
}

function newestMessages(em: EntityManager, userId: string): Promise<SearchedMessage[]> {
  return query(
    em,
    sql`
    select id, conversation_id as "conversationId", bytes from (
      select m.id, m.conversation_id, coalesce(octet_length(m.sealed), octet_length(m.content)) as bytes,
        sum(coalesce(octet_length(m.sealed), octet_length(m.content))) over (order by m.id desc) as read
      from conversation_message m join conversation c on c.id = m.conversation_id
      where c.user_id = ${userId}
    ) m where read <= ${SEARCHED_BYTES_MAX} order by id desc`,
  );
}

function* batchesOf(messages: readonly SearchedMessage[]): Generator<SearchedMessage[]> {
  let batch: SearchedMessage[] = [];
  let bytes = 0;
  for (const message of messages) {
    batch.push(message);
    bytes += message.bytes;
    if (bytes < BATCH_BYTES && batch.length < BATCH_MESSAGES) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  yield batch;
}

interface MessageTextRow {
  id: string;
  conversationId: string;
  sealed: Buffer | null;
  content: string;
  reasoning: string | null;
  error: string | null;
}

async function textsWithIds(em: EntityManager, ids: readonly string[]): Promise<MessageTextRow[]> {
  if (ids.length === 0) return [];
  return query(
    em,
    sql`select id, conversation_id as "conversationId", sealed, content, reasoning, error
      from conversation_message where id = any(${[...ids]}::text[])`,
  );
}
