/** How much of chats is stored for a user. Beyond it a message is refused before anybody is asked or paid. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserFailure } from '../errors.ts';
import { queryOne, sql } from '../sql.ts';
import type { MessageView } from './live-reply.ts';

const MB = 1_000_000;
/** Chats of one user. */
const CHATS_MAX = 1_000;
/** Of all chats of one user together. */
const BYTES_MAX = 500 * MB;
/** Of one chat, all its branches included: so many are read at once. */
export const CHAT_MESSAGES_MAX = 500;
/** Of one chat: what a node takes as one request holds it. */
const CHAT_BYTES_MAX = 20 * MB;

/** What is stored now: of the user, and of the chat that a message goes to. */
export interface Stored {
  chats: number;
  bytes: number;
  /** 1 where the chat is one of them, else 0. */
  known: number;
  chatMessages: number;
  chatBytes: number;
}

/**
 * Throws CONVERSATION_FULL where the chat has no room for it, and STORAGE_FULL where its user has none. A
 * reply is added whole when it ends: so replies being written may exceed both, and nothing else.
 */
export function checkStorage(stored: Stored, added: { messages: number; bytes: number }): void {
  const chatMessages = stored.chatMessages + added.messages;
  const chatBytes = stored.chatBytes + added.bytes;
  if (chatMessages > CHAT_MESSAGES_MAX || chatBytes > CHAT_BYTES_MAX)
    throw new UserFailure(
      'CONVERSATION_FULL',
      `A chat holds ${CHAT_MESSAGES_MAX} messages and ${CHAT_BYTES_MAX / MB} MB. Go on in a new one.`,
      'conversationId',
    );
  if (stored.chats + 1 - stored.known > CHATS_MAX || stored.bytes + added.bytes > BYTES_MAX)
    throw new UserFailure(
      'STORAGE_FULL',
      `At most ${CHATS_MAX} chats and ${BYTES_MAX / MB} MB are stored. ` +
        'Delete chats, or begin a temporary one.',
    );
}

/** What is stored of a user, and of this chat. */
export async function storedOf(em: EntityManager, userId: string, chatId: string): Promise<Stored> {
  const row = await queryOne<Record<keyof Stored, string>>(
    em,
    sql`select count(*) as chats, coalesce(sum(bytes), 0) as bytes,
        count(*) filter (where id = ${chatId}) as known,
        coalesce(sum(bytes) filter (where id = ${chatId}), 0) as "chatBytes",
        (select count(*) from conversation_message where conversation_id = ${chatId}) as "chatMessages"
      from conversation where user_id = ${userId}`,
  );
  const { chats, bytes, known, chatMessages, chatBytes } = row ?? {};
  return {
    chats: Number(chats),
    bytes: Number(bytes),
    known: Number(known),
    chatMessages: Number(chatMessages),
    chatBytes: Number(chatBytes),
  };
}

/** How much of a user's room is taken, from 0 to 1: by the number of chats or by their size. */
export async function storageUsed(em: EntityManager, userId: string): Promise<number> {
  const { chats, bytes } = await storedOf(em, userId, '');
  return Math.min(1, Math.max(chats / CHATS_MAX, bytes / BYTES_MAX));
}

/** Bytes that a message takes: its texts as UTF-8, its pictures in base64. */
export function bytesOf({ content, reasoning, attachments }: MessageView): number {
  const pictures = attachments.reduce((sum, { dataBase64 }) => sum + dataBase64.length, 0);
  return Buffer.byteLength(content) + Buffer.byteLength(reasoning ?? '') + pictures;
}
