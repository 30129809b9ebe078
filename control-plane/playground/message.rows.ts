/**
 * Reads and writes rows of messages by plain SQL statements, whose errors do not contain the values: the text
 * of messages must not reach a log.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import type { ContentKey } from '../intelligence/content-keys.ts';
import { hastenJobs, QUEUE_CHAT } from '../intelligence/deriving/queue.ts';
import type { ConversationView } from './conversation.service.ts';
import type { MessageView, ReplyFailure } from './running-reply.ts';
import { sealPictures, sealTexts } from './sealed-rows.ts';
import { bytesOf, bytesOfLines, checkStorage, storedOf } from './storage.ts';
import { insertLines, lockForLines } from './used-lines.ts';

const UPDATE_TRIES = 5;
const UPDATE_WAIT_MS = 500;

/** The stored reply of an earlier send with this idempotency key, and the MAC of its input. */
export async function earlierReply(
  em: EntityManager,
  userId: string,
  idempotencyKey: string,
): Promise<{ id: string; inputMac: string } | undefined> {
  const row = await queryOne<{ id: string; input_mac: string }>(
    em,
    sql`
    select m.id, m.input_mac from conversation_message m join conversation c on c.id = m.conversation_id
    where c.user_id = ${userId} and m.idempotency_key = ${idempotencyKey}`,
  );
  return row && { id: row.id, inputMac: row.input_mac };
}

/** A question and its reply to store. */
export interface QuestionAndReplyRows {
  chat: ConversationView;
  /** Whether the question has no row yet. */
  isNew: boolean;
  question: MessageView;
  reply: MessageView;
  /** Idempotency key and MAC of the input of the send. */
  send: { key: string; mac: string };
  /** The user's key. */
  contentKey: ContentKey;
}

/**
 * Stores chat, question and the empty reply. Returns false, and stores nothing, if the last switch was just
 * turned off. Throws CONVERSATION_FULL, STORAGE_FULL.
 */
export async function insertQuestionAndReply(
  em: EntityManager,
  rows: QuestionAndReplyRows,
): Promise<boolean> {
  const { chat, isNew, question, reply, send, contentKey } = rows;
  const used = { userId: chat.userId, messageId: reply.id, lines: reply.usedItems, key: contentKey };
  return inTransaction(em, async (inner) => {
    await lockForLines(inner, used);
    const on = await queryOne(
      inner,
      sql`select 1 from personal_switch where user_id = ${chat.userId} and enabled limit 1 for share`,
    );
    if (!on) return false;
    const bytes = (isNew ? bytesOf(question) : 0) + bytesOfLines(reply);
    // Serialises the messages of a user, so that two of them cannot use the same remaining storage.
    await query(inner, sql`select pg_advisory_xact_lock(hashtextextended(${`chats ${chat.userId}`}, 0))`);
    checkStorage(await storedOf(inner, chat.userId, chat.id), { messages: isNew ? 2 : 1, bytes });
    await query(
      inner,
      sql`
      insert into conversation as c (id, user_id, title_sealed, model_name, created_at, updated_at, bytes)
        values (${chat.id}, ${chat.userId}, ${contentKey.seal(chat.id, chat.title)},
          ${reply.modelName}, ${chat.createdAt}, now(), ${bytes})
      on conflict (id) do update set model_name = excluded.model_name, updated_at = excluded.updated_at,
        bytes = c.bytes + excluded.bytes`,
    );
    if (question.parentId === null) await hastenJobs(inner, chat.userId, chat.id);
    if (isNew) await insertMessage(inner, question, { send: null, contentKey });
    await insertMessage(inner, reply, { send, contentKey });
    await insertLines(inner, used);
    return true;
  });
}

/**
 * Stores the text and the end of a reply; does nothing if the chat was deleted. Tries up to five times, then
 * throws the last error.
 */
export async function updateReply(
  em: EntityManager,
  message: MessageView,
  { failure, contentKey }: { failure: ReplyFailure | undefined; contentKey: ContentKey },
): Promise<void> {
  const sealed = sealTexts(contentKey, { ...message, error: failure?.message ?? null });
  // The operator pays for reading. A reply without content was not paid for, and is not read.
  const isPaid = message.state !== 'FAILED' && message.content !== '';
  const job = isPaid ? sql`, job as (${QUEUE_CHAT})` : sql``;
  for (let tries = 1; ; tries += 1) {
    try {
      await query(
        em,
        // Locks the chat before the message, in the same order as a deletion.
        sql`
        with chat as (
          update conversation set bytes = bytes + ${bytesOf(message)} where id = ${message.conversationId}
          returning id, user_id
        )${job}
        update conversation_message m set sealed = ${sealed}, state = ${message.state},
          request_id = ${message.requestId}, error_code = ${failure?.code ?? null}
        from chat where m.id = ${message.id} and m.conversation_id = chat.id`,
      );
      return;
    } catch (error) {
      if (tries === UPDATE_TRIES) throw error;
      await new Promise((resolve) => {
        setTimeout(resolve, UPDATE_WAIT_MS);
      });
    }
  }
}

async function insertMessage(
  em: EntityManager,
  message: MessageView,
  { send, contentKey }: { send: { key: string; mac: string } | null; contentKey: ContentKey },
): Promise<void> {
  const { id, conversationId, parentId, role, state, modelName, createdAt } = message;
  await query(
    em,
    sql`
    insert into conversation_message (id, conversation_id, parent_id, role, sealed, pictures_sealed, state,
      model_name, idempotency_key, input_mac, created_at, lines_moved)
    values (${id}, ${conversationId}, ${parentId}, ${role}, ${sealTexts(contentKey, message)},
      ${sealPictures(contentKey, message)}, ${state}, ${modelName}, ${send?.key ?? null},
      ${send?.mac ?? null}, ${createdAt}, true)`,
  );
}
