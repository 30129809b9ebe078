/** Storage limits of chats. A message beyond them is refused before a request is sent or charged. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserFailure } from '../graphql/errors.ts';
import { queryOne, sql } from '../database/sql.ts';
import type { MessageView } from './running-reply.ts';

const MB = 1_000_000;
/** Maximum number of chats of one user. */
const CHATS_MAX = 1_000;
/** Maximum size of all chats of one user. */
const BYTES_MAX = 500 * MB;
/** Maximum number of messages of one chat in all branches, which are read at once. */
export const CHAT_MESSAGES_MAX = 500;
/** Maximum size of one chat. A request with all of it fits into the limit of a node. */
const CHAT_BYTES_MAX = 20 * MB;

/** Stored bytes of a user, and of the chat that receives a message. */
export interface Stored {
  chats: number;
  bytes: number;
  /** 1 if the chat is stored already, else 0. */
  isStored: number;
  chatMessages: number;
  chatBytes: number;
}

/**
 * Throws CONVERSATION_FULL if the chat would exceed its limits, STORAGE_FULL if the user would. Replies may
 * exceed the limits, because their size is added only when they end.
 */
export function checkStorage(stored: Stored, added: { messages: number; bytes: number }): void {
  const chatMessages = stored.chatMessages + added.messages;
  const chatBytes = stored.chatBytes + added.bytes;
  if (chatMessages > CHAT_MESSAGES_MAX || chatBytes > CHAT_BYTES_MAX)
    throw new UserFailure(
      'CONVERSATION_FULL',
      `A chat holds at most ${CHAT_MESSAGES_MAX} messages and ${CHAT_BYTES_MAX / MB} MB. Start a new chat.`,
      'conversationId',
    );
  if (stored.chats + 1 - stored.isStored > CHATS_MAX || stored.bytes + added.bytes > BYTES_MAX)
    throw new UserFailure(
      'STORAGE_FULL',
      `At most ${CHATS_MAX} chats and ${BYTES_MAX / MB} MB are stored. ` +
        'Delete some chats, or use a temporary chat.',
    );
}

/** Reads the stored bytes of a user, and of this chat. */
export async function storedOf(em: EntityManager, userId: string, chatId: string): Promise<Stored> {
  const row = await queryOne<Record<keyof Stored, string>>(
    em,
    sql`select count(*) as chats, coalesce(sum(bytes), 0) as bytes,
        count(*) filter (where id = ${chatId}) as "isStored",
        coalesce(sum(bytes) filter (where id = ${chatId}), 0) as "chatBytes",
        (select count(*) from conversation_message where conversation_id = ${chatId}) as "chatMessages"
      from conversation where user_id = ${userId}`,
  );
  const { chats, bytes, isStored, chatMessages, chatBytes } = row ?? {};
  return {
    chats: Number(chats),
    bytes: Number(bytes),
    isStored: Number(isStored),
    chatMessages: Number(chatMessages),
    chatBytes: Number(chatBytes),
  };
}

/**
 * Used share of a user's storage, from 0 to 1: of the number of chats or of their size, whichever is larger.
 */
export async function storageUsed(em: EntityManager, userId: string): Promise<number> {
  const { chats, bytes } = await storedOf(em, userId, '');
  return Math.min(1, Math.max(chats / CHATS_MAX, bytes / BYTES_MAX));
}

/** Size of a message in bytes: its texts in UTF-8 and its pictures in base64. */
export function bytesOf({ content, reasoning, attachments }: MessageView): number {
  const pictures = attachments.reduce((sum, { dataBase64 }) => sum + dataBase64.length, 0);
  return Buffer.byteLength(content) + Buffer.byteLength(reasoning ?? '') + pictures;
}

/** Size in bytes of the lines about the user that are stored with a reply. */
export function bytesOfLines({ usedItems }: Pick<MessageView, 'usedItems'>): number {
  return usedItems.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
}
