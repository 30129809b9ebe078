/** Creates, finds, renames and deletes chats: stored ones in the database, others only in memory. */
import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql';
import { readingOf } from '../database/page.ts';
import type { RowPage } from '../database/page.ts';
import { modelByName, PUBLIC_STATES } from '../catalog/catalog.service.ts';
import type { ModelRow } from '../catalog/model.entity.ts';
import { UserFailure } from '../graphql/errors.ts';
import { publish } from '../database/events.ts';
import { newId } from '../database/ids.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import type { ContentKey } from '../intelligence/content-keys.ts';
import { deleteItemsOfChats } from '../intelligence/forget.service.ts';
import { lockItems } from '../intelligence/item.service.ts';
import { chatsWith } from './chat-search.ts';
import { ConversationMessageSchema, ConversationSchema } from './conversation.entity.ts';
import type { ConversationMessageRow, ConversationRow } from './conversation.entity.ts';
import type { MessageView, UsedItem } from './running-reply.ts';
import type { Playground } from './playground.ts';
import { picturesOf, textsOf, titleOf } from './sealed-rows.ts';
import { CHAT_MESSAGES_MAX } from './storage.ts';
import { linesOf } from './used-lines.ts';

const TITLE_LENGTH_MAX = 80;
/** A reply that is still STREAMING after this time was interrupted, because its process ended. */
const REPLY_MS_MAX = 30 * 60_000;
/** The word to type before all chats are deleted. */
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

/** Context of operations on a user's chats. */
export interface ChatContext {
  em: EntityManager;
  playground: Playground;
  userId: string;
}

/** Creates a chat in memory. It is stored with its first message, if at all. Throws MODEL_UNAVAILABLE. */
export async function createConversation(
  { em, playground, userId }: ChatContext,
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
  playground.addChat(chat);
  return { ...chat, stored: false };
}

/** The user's chat, stored or not. Undefined if it does not exist or belongs to somebody else. */
export async function findConversation(
  { em, playground, userId }: ChatContext,
  id: string,
): Promise<ConversationView | undefined> {
  const local = playground.localChat(userId, id);
  if (local) return { ...local, stored: false };
  const row = await em.findOne(ConversationSchema, { id, userId });
  if (row) return storedView(row, await playground.keys.find(userId));
  const remote = await playground.findChat(userId, id);
  return remote && { ...remote, stored: false };
}

/** Which stored chats: those of a user, or those of them whose title or messages contain `search`. */
export interface ChatFilter {
  userId: string;
  search?: string | null;
}

/** A page of stored chats, the most recently used first. */
export async function storedConversations(
  { em, playground }: Pick<ChatContext, 'em' | 'playground'>,
  filter: ChatFilter,
  page: RowPage,
): Promise<ConversationView[]> {
  const key = await playground.keys.find(filter.userId);
  const where: FilterQuery<ConversationRow>[] = [await conditionOf(em, filter, key)];
  const { beyond, order } = readingOf(page);
  const [at, id] = page.from ?? [];
  if (typeof at === 'string' && typeof id === 'string') {
    const updatedAt = new Date(at);
    where.push({ $or: [{ updatedAt: { [beyond]: updatedAt } }, { updatedAt, id: { [beyond]: id } }] });
  }
  const rows = await em.find(
    ConversationSchema,
    { $and: where },
    { orderBy: { updatedAt: order, id: order }, limit: page.limit },
  );
  return rows.map((row) => storedView(row, key));
}

/** Number of stored chats that match. */
export async function countConversations(
  { em, playground }: Pick<ChatContext, 'em' | 'playground'>,
  filter: ChatFilter,
): Promise<number> {
  const key = filter.search ? await playground.keys.find(filter.userId) : undefined;
  return em.count(ConversationSchema, await conditionOf(em, filter, key));
}

/** Messages of a chat with all branches, oldest first; for an unstored chat, the last question and reply. */
export async function messagesOf(
  { em, playground, userId }: ChatContext,
  conversationId: string,
): Promise<MessageView[]> {
  const unstored = playground.localChat(userId, conversationId);
  const current = async (message: MessageView): Promise<MessageView> =>
    message.state === 'STREAMING'
      ? ((await playground.findReply(userId, message.id))?.message ?? message)
      : message;
  if (unstored) return Promise.all(unstored.messages.map(current));
  const rows = await em.find(
    ConversationMessageSchema,
    { conversationId },
    { orderBy: { position: 'desc nulls last', id: 'desc' }, limit: CHAT_MESSAGES_MAX, refresh: true },
  );
  const key = await playground.keys.find(userId);
  const lines = await linesOf(em, key, repliesIn(rows));
  return Promise.all(rows.toReversed().map((row) => current(messageView(row, key, lines))));
}

/** A stored message of the user; undefined if there is none. */
export async function storedMessage(
  { em, playground, userId }: ChatContext,
  id: string,
): Promise<MessageView | undefined> {
  const row = await em.findOne(ConversationMessageSchema, { id });
  const owned = row && (await em.count(ConversationSchema, { id: row.conversationId, userId })) > 0;
  if (!owned) return undefined;
  const key = await playground.keys.find(userId);
  return messageView(row, key, await linesOf(em, key, repliesIn([row])));
}

/** Changes the title of a chat, stored or not. Throws NOT_FOUND, INVALID. */
export async function renameConversation(
  { em, playground, userId }: ChatContext,
  input: { id: string; title: string },
): Promise<ConversationView> {
  const title = input.title.trim().replaceAll('\0', '');
  if (!title || title.length > TITLE_LENGTH_MAX)
    throw new UserFailure('INVALID', `Enter a title of 1 to ${TITLE_LENGTH_MAX} characters.`, 'title');
  const row = await em.findOne(ConversationSchema, { id: input.id, userId });
  const unstored = row ? undefined : await playground.findChat(userId, input.id);
  if (unstored) return { ...Object.assign(unstored, { title }), stored: false };
  if (!row) throw unknownChat();
  const key = await playground.keys.of(userId);
  const titleSealed = key.seal(row.id, title);
  await query(
    em,
    sql`update conversation set title = '', title_sealed = ${titleSealed} where id = ${row.id}`,
  );
  return storedView({ ...row, titleSealed }, key);
}

/**
 * Deletes a chat from database and memory, and stops its running reply. With `items`, also deletes the items
 * that rest on this chat alone. Returns their number. Throws NOT_FOUND.
 */
export async function deleteConversation(
  context: ChatContext,
  { id, items }: { id: string; items: boolean },
): Promise<number> {
  const { em, playground, userId } = context;
  if (!(await findConversation(context, id))) throw unknownChat();
  await playground.forget(userId, [id]);
  return inTransaction(em, async (inner) => {
    await lockItems(inner, userId);
    const deleted = items ? await deleteItemsOfChats(inner, userId, [id]) : 0;
    await inner.nativeDelete(ConversationSchema, { id, userId });
    await publish(inner, 'personalIntelligenceUpdated', { audience: userId, id: userId });
    return deleted;
  });
}

/**
 * Deletes all chats of the user from database and memory, with `items` also what rests on them alone. Returns
 * the ids of the stored ones, and the number of deleted items.
 */
export async function deleteAllConversations(
  { em, playground, userId }: ChatContext,
  { items }: { items: boolean },
): Promise<{ ids: string[]; deletedItems: number }> {
  await playground.forget(userId);
  return inTransaction(em, async (inner) => {
    await lockItems(inner, userId);
    const rows = await inner.find(ConversationSchema, { userId }, { fields: ['id'] });
    const ids = rows.map((row) => row.id);
    const deletedItems = items ? await deleteItemsOfChats(inner, userId, ids) : 0;
    await inner.nativeDelete(ConversationSchema, { userId });
    await publish(inner, 'personalIntelligenceUpdated', { audience: userId, id: userId });
    return { ids, deletedItems };
  });
}

/** The model with this name, if the Playground can use it. Throws MODEL_UNAVAILABLE. */
export async function offeredModel(em: EntityManager, name: string): Promise<ModelRow> {
  const model = await modelByName(em, name, PUBLIC_STATES);
  if (model?.groups.includes('default') && model.families.includes('chat_completions')) return model;
  throw new UserFailure(
    'MODEL_UNAVAILABLE',
    'This model is not available in the Playground. Choose another one.',
    'modelName',
  );
}

/** The failure for a chat that does not exist or belongs to somebody else. */
export function unknownChat(): UserFailure {
  return new UserFailure('NOT_FOUND', 'Unknown chat. Start a new one.', 'conversationId');
}

/** A title from the first line of a message, at most 80 characters. */
export function titleFrom(content: string): string {
  const line = content.trim().split('\n')[0]?.trim() ?? '';
  return line.length <= TITLE_LENGTH_MAX ? line : `${line.slice(0, TITLE_LENGTH_MAX - 1).trimEnd()}…`;
}

const repliesIn = (rows: readonly ConversationMessageRow[]): string[] =>
  rows.filter(({ role }) => role === 'ASSISTANT').map(({ id }) => id);

/** A row as the API shows it. A reply whose process ended is shown as failed. */
function messageView(
  row: ConversationMessageRow,
  key: ContentKey | undefined,
  lines: ReadonlyMap<string, UsedItem[]>,
): MessageView {
  const { error, usedItems: unmoved = [], ...texts } = textsOf(row, key);
  const isLost = row.state === 'STREAMING' && row.createdAt.getTime() + REPLY_MS_MAX < Date.now();
  return {
    id: row.id,
    conversationId: row.conversationId,
    parentId: row.parentId ?? null,
    role: row.role,
    ...texts,
    usedItems: lines.get(row.id) ?? unmoved,
    attachments: picturesOf(row, key),
    state: isLost ? 'FAILED' : row.state,
    errorCode: isLost ? 'UPSTREAM_FAILED' : (row.errorCode ?? null),
    error: isLost ? 'The reply was interrupted. Try again.' : error,
    modelName: row.modelName ?? null,
    requestId: row.requestId ?? null,
    createdAt: row.createdAt,
  };
}

function storedView(row: ConversationRow, key: ContentKey | undefined): ConversationView {
  const { id, userId, modelName, createdAt, updatedAt } = row;
  return {
    id,
    userId,
    title: titleOf(row, key),
    modelName,
    createdAt,
    updatedAt,
    temporary: false,
    stored: true,
  };
}

async function conditionOf(
  em: EntityManager,
  { userId, search }: ChatFilter,
  key: ContentKey | undefined,
): Promise<FilterQuery<ConversationRow>> {
  const text = search?.trim();
  return text ? { userId, id: { $in: await chatsWith(em, { userId, text, key }) } } : { userId };
}
