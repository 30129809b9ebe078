/** Chats: opening, finding, renaming and deleting them; stored ones in rows, all others in memory alone. */
import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql';
import { modelByName, PUBLIC_STATES } from '../catalog/catalog.service.ts';
import type { ModelRow } from '../catalog/model.entity.ts';
import { UserFailure } from '../errors.ts';
import { publish } from '../events.ts';
import { newId } from '../ids.ts';
import { inTransaction, query, sql } from '../sql.ts';
import { ConversationMessageSchema, ConversationSchema } from './conversation.entity.ts';
import type { ConversationMessageRow, ConversationRow } from './conversation.entity.ts';
import type { MessageView } from './live-reply.ts';
import type { Playground } from './live.ts';
import { CHAT_MESSAGES_MAX } from './storage.ts';

const TITLE_LENGTH_MAX = 80;
const FOUND_MAX = 1000;
/** A reply whose process ended writes no more; no reply takes longer. */
const REPLY_MS_MAX = 30 * 60_000;
/** What has to be typed before all chats are deleted. */
export const DELETE_ALL_WORD = 'DELETE';

/** A chat as the API shows it. */
export interface ConversationView {
  id: string;
  userId: string;
  title: string;
  modelName: string;
  temporary: boolean;
  stored: boolean;
  createdAt: Date;
  updatedAt: Date;
}

export interface Place {
  em: EntityManager;
  playground: Playground;
  userId: string;
}

/** A new chat, in memory until its first message is stored. Throws MODEL_UNAVAILABLE. */
export async function createConversation(
  { em, playground, userId }: Place,
  input: { modelName: string; temporary: boolean },
): Promise<ConversationView> {
  await offeredModel(em, input.modelName);
  const now = new Date();
  const chat = {
    ...input,
    id: newId('con'),
    userId,
    title: '',
    createdAt: now,
    updatedAt: now,
    begun: false,
    messages: [],
  };
  playground.open(chat);
  return { ...chat, stored: false };
}

/** The chat, if it is this user's. */
export async function findConversation(
  { em, playground, userId }: Place,
  id: string,
): Promise<ConversationView | undefined> {
  const here = playground.chat(userId, id);
  if (here) return { ...here, stored: false };
  const row = await em.findOne(ConversationSchema, { id, userId });
  if (row) return storedView(row);
  const live = await playground.findChat(userId, id);
  return live && { ...live, stored: false };
}

/** Stored chats, the last used first; `search` looks into titles and messages. */
export async function storedConversations(
  em: EntityManager,
  wanted: { userId: string; search?: string | null },
  page: { after?: { at: string; id: string } | undefined; limit: number },
): Promise<ConversationView[]> {
  const where: FilterQuery<ConversationRow>[] = [await conditionOf(em, wanted)];
  if (page.after) {
    const updatedAt = new Date(page.after.at);
    where.push({ $or: [{ updatedAt: { $lt: updatedAt } }, { updatedAt, id: { $lt: page.after.id } }] });
  }
  const rows = await em.find(
    ConversationSchema,
    { $and: where },
    { orderBy: { updatedAt: 'desc', id: 'desc' }, limit: page.limit },
  );
  return rows.map(storedView);
}

/** How many stored chats match. */
export async function countConversations(
  em: EntityManager,
  wanted: { userId: string; search?: string | null },
): Promise<number> {
  return em.count(ConversationSchema, await conditionOf(em, wanted));
}

/** Messages of a chat in the order they were sent, branches included; of an unstored one the last two. */
export async function messagesOf(
  { em, playground, userId }: Place,
  conversationId: string,
): Promise<MessageView[]> {
  const live = playground.chat(userId, conversationId);
  const current = async (message: MessageView): Promise<MessageView> =>
    message.state === 'STREAMING'
      ? ((await playground.findReply(userId, message.id))?.message ?? message)
      : message;
  if (live) return Promise.all(live.messages.map(current));
  const rows = await em.find(
    ConversationMessageSchema,
    { conversationId },
    { orderBy: { id: 'desc' }, limit: CHAT_MESSAGES_MAX, refresh: true },
  );
  return Promise.all(rows.toReversed().map((row) => current(messageView(row))));
}

/** A stored message of this user. */
export async function storedMessage(
  em: EntityManager,
  userId: string,
  id: string,
): Promise<MessageView | undefined> {
  const row = await em.findOne(ConversationMessageSchema, { id });
  const owned = row && (await em.count(ConversationSchema, { id: row.conversationId, userId })) > 0;
  return owned ? messageView(row) : undefined;
}

/** Gives a chat another title. Throws NOT_FOUND, INVALID. */
export async function renameConversation(
  place: Place,
  input: { id: string; title: string },
): Promise<ConversationView> {
  const title = input.title.trim().replaceAll('\0', '');
  if (!title || title.length > TITLE_LENGTH_MAX)
    throw new UserFailure('INVALID', `A title has 1 to ${TITLE_LENGTH_MAX} characters.`, 'title');
  const row = await place.em.findOne(ConversationSchema, { id: input.id, userId: place.userId });
  const live = row ? undefined : await place.playground.findChat(place.userId, input.id);
  if (live) return { ...Object.assign(live, { title }), stored: false };
  if (!row) throw noSuchChat();
  row.title = title;
  await place.em.flush();
  return storedView(row);
}

/** Deletes a chat wherever it is, its running reply included. Throws NOT_FOUND. */
export async function deleteConversation(place: Place, id: string): Promise<void> {
  const found = await findConversation(place, id);
  if (!found) throw noSuchChat();
  await place.playground.forget(place.userId, [id]);
  await inTransaction(place.em, async (em) => {
    await em.nativeDelete(ConversationSchema, { id, userId: place.userId });
    await publish(em, 'personalIntelligenceUpdated', { audience: place.userId, id: place.userId });
  });
}

/** Deletes every chat of the user, stored or not, and returns the ids of the stored ones. */
export async function deleteAllConversations({ em, playground, userId }: Place): Promise<string[]> {
  await playground.forget(userId);
  return inTransaction(em, async (inner) => {
    const rows = await inner.find(ConversationSchema, { userId }, { fields: ['id'] });
    const ids = rows.map((row) => row.id);
    await inner.nativeDelete(ConversationSchema, { userId });
    await publish(inner, 'personalIntelligenceUpdated', { audience: userId, id: userId });
    return ids;
  });
}

/** The model, if the Playground may offer it. Throws MODEL_UNAVAILABLE. */
export async function offeredModel(em: EntityManager, name: string): Promise<ModelRow> {
  const model = await modelByName(em, name, PUBLIC_STATES);
  if (model?.groups.includes('default') && model.families.includes('chat_completions')) return model;
  throw new UserFailure('MODEL_UNAVAILABLE', 'This model cannot be used here. Choose another.', 'modelName');
}

/** The answer to an id of no chat of this user. */
export function noSuchChat(): UserFailure {
  return new UserFailure('NOT_FOUND', 'There is no such chat. Start a new one.', 'conversationId');
}

/** A title from the first words of a chat. */
export function titleFrom(content: string): string {
  const line = content.trim().split('\n')[0]?.trim() ?? '';
  return line.length <= TITLE_LENGTH_MAX ? line : `${line.slice(0, TITLE_LENGTH_MAX - 1).trimEnd()}…`;
}

/** A row as the API shows it. */
export function messageView(row: ConversationMessageRow): MessageView {
  const lost = row.state === 'STREAMING' && row.createdAt.getTime() + REPLY_MS_MAX < Date.now();
  return {
    id: row.id,
    conversationId: row.conversationId,
    parentId: row.parentId ?? null,
    role: row.role,
    content: row.content,
    reasoning: row.reasoning ?? null,
    attachments: row.attachments,
    state: lost ? 'FAILED' : row.state,
    errorCode: lost ? 'UPSTREAM_FAILED' : (row.errorCode ?? null),
    error: lost ? 'The reply broke off. Try again.' : (row.error ?? null),
    modelName: row.modelName ?? null,
    requestId: row.requestId ?? null,
    createdAt: row.createdAt,
  };
}

function storedView(row: ConversationRow): ConversationView {
  const { id, userId, title, modelName, createdAt, updatedAt } = row;
  return { id, userId, title, modelName, createdAt, updatedAt, temporary: false, stored: true };
}

async function conditionOf(
  em: EntityManager,
  { userId, search }: { userId: string; search?: string | null },
): Promise<FilterQuery<ConversationRow>> {
  const text = search?.trim().replaceAll('\0', '');
  if (!text) return { userId };
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`;
  const found = await query<{ id: string }>(
    em,
    sql`
    select distinct c.id from conversation c join conversation_message m on m.conversation_id = c.id
    where c.user_id = ${userId} and m.content ilike ${pattern} limit ${FOUND_MAX}`,
  );
  return { userId, $or: [{ title: { $ilike: pattern } }, { id: { $in: found.map((row) => row.id) } }] };
}
