/** Sends, regenerates and stops messages of the Playground. */
import { createHmac } from 'node:crypto';
import { groupRatios } from '../catalog/catalog.service.ts';
import { currentKeyOf } from '../process/secret-key.ts';
import type { ModelRow } from '../catalog/model.entity.ts';
import { pricesOf } from '../catalog/model.record.ts';
import { UserFailure } from '../graphql/errors.ts';
import type { Attachment } from './conversation.entity.ts';
import {
  findConversation,
  messagesOf,
  unknownChat,
  offeredModel,
  storedMessage,
} from './conversation.service.ts';
import type { ConversationView, ChatContext } from './conversation.service.ts';
import type { MessageView } from './running-reply.ts';
import { earlierReply } from './message.rows.ts';
import { idempotencyMismatch } from './playground.ts';
import { checkAttachments, checkContent, checkHistory, pathTo } from './prompt.ts';
import type { PromptMessage } from './prompt.ts';
import { emptyMessage, startReply } from './reply.service.ts';
import type { MessageContext } from './reply.service.ts';
import { checkReplySettings } from './reply-settings.ts';
import type { ReplySettings } from './reply-settings.ts';

const IDEMPOTENCY_KEY_MAX = 64;

/** A message to send. */
export interface MessageDraft {
  conversationId: string;
  content: string;
  attachments?: Attachment[] | null;
  modelName?: string | null;
  /** A message of the user that this one replaces, which starts a branch. */
  replacesId?: string | null;
  /** The message of a stored chat that this one follows; by default the newest. */
  parentId?: string | null;
  /** Earlier messages of a chat that is not stored. */
  history?: PromptMessage[] | null;
  /** Whether items of Personal Intelligence may be sent; true by default. */
  useItems?: boolean | null;
  settings?: ReplySettings | null;
  idempotencyKey: string;
}

/** A reply to write again. */
export interface RegenerateDraft {
  messageId: string;
  modelName?: string | null;
  /** Whether items of Personal Intelligence may be sent; true by default. */
  useItems?: boolean | null;
  settings?: ReplySettings | null;
  idempotencyKey: string;
}

/** A sent message and its reply, which is being written. */
export interface SentMessage {
  userMessage: MessageView | null;
  reply: MessageView;
  /** Micro-USD that the reply costs if it succeeds. */
  price: bigint;
  /** Whether an earlier send with the same idempotency key created the reply. */
  replayed: boolean;
}

/**
 * Sends a message and starts its reply, which continues after this call. Both are stored if a switch is on,
 * the chat is not temporary, and none of its earlier messages were left unstored. Settings of the reply are
 * never stored. Throws NOT_FOUND, MODEL_UNAVAILABLE, REQUIRED, INVALID, LIMIT_REACHED, IDEMPOTENCY_MISMATCH,
 * CONVERSATION_FULL, STORAGE_FULL.
 */
export async function sendMessage(context: MessageContext, draft: MessageDraft): Promise<SentMessage> {
  const attachments = checkAttachments(draft.attachments ?? []);
  checkContent(draft.content, attachments.length > 0);
  const history = checkHistory(draft.history ?? []);
  const settings = checkReplySettings(draft.settings ?? {});
  return once(context, draft, async (mac) => {
    const chat = await chatOf(context, draft.conversationId);
    const model = await offeredModel(context.em, draft.modelName ?? chat.modelName);
    if (attachments.length > 0) requireImageInput(model);
    const messages = await messagesOf(context, chat.id);
    const replaced = messages.find((message) => message.id === draft.replacesId);
    const previous = messages.find((message) => message.id === draft.parentId) ?? messages.at(-1);
    const parentId = replaced ? replaced.parentId : (previous?.id ?? null);
    const question: MessageView = {
      ...emptyMessage(chat.id, parentId),
      role: 'USER',
      content: draft.content,
      attachments,
      state: 'COMPLETE',
    };
    const earlier = chat.stored && history.length === 0 ? pathTo(messages, parentId) : history;
    const prompt: PromptMessage[] = [...earlier, { role: 'USER', content: draft.content, attachments }];
    const send = { key: draft.idempotencyKey, mac };
    const useItems = draft.useItems ?? true;
    return startReply(context, { chat, model, question, isNew: true, prompt, send, useItems, settings });
  });
}

/**
 * Starts another reply to a stored question, optionally by another model. The earlier reply is kept. Throws
 * NOT_FOUND, MODEL_UNAVAILABLE, INVALID, LIMIT_REACHED, IDEMPOTENCY_MISMATCH, CONVERSATION_FULL,
 * STORAGE_FULL, and CONFLICT if the chat is not stored.
 */
export async function regenerateReply(context: MessageContext, draft: RegenerateDraft): Promise<SentMessage> {
  const settings = checkReplySettings(draft.settings ?? {});
  return once(context, draft, async (mac) => {
    const reply = await messageById(context, draft.messageId);
    const chat = await chatOf(context, reply.conversationId);
    const messages = await messagesOf(context, chat.id);
    const question = messages.find((message) => message.id === reply.parentId);
    const model = await offeredModel(context.em, draft.modelName ?? reply.modelName ?? chat.modelName);
    if (reply.role !== 'ASSISTANT' || !question || !chat.stored)
      throw new UserFailure(
        'CONFLICT',
        'This chat is not stored. Send the message again instead.',
        'messageId',
      );
    const prompt = pathTo(messages, question.id);
    if (prompt.some((message) => (message.attachments ?? []).length > 0)) requireImageInput(model);
    const send = { key: draft.idempotencyKey, mac };
    const useItems = draft.useItems ?? true;
    return startReply(context, { chat, model, question, isNew: false, prompt, send, useItems, settings });
  });
}

/** Stops a reply and keeps its text so far. Repeating it changes nothing. Throws NOT_FOUND. */
export async function stopReply(context: MessageContext, messageId: string): Promise<MessageView> {
  await context.playground.stop(context.userId, messageId);
  return messageById(context, messageId);
}

/** A message of the user, from memory or database. Throws NOT_FOUND. */
export async function messageById(context: ChatContext, id: string): Promise<MessageView> {
  const { playground, userId } = context;
  const stored = playground.localReply(userId, id) ? undefined : await storedMessage(context, id);
  const running = stored && stored.state !== 'STREAMING' ? undefined : await playground.findReply(userId, id);
  const message = running?.message ?? stored;
  if (message) return message;
  throw new UserFailure('NOT_FOUND', 'Unknown message, or it is no longer kept. Send it again.', 'messageId');
}

/** Price of a reply of this model in the billing group `default`, in micro-USD. */
async function priceOf(context: ChatContext, model: ModelRow): Promise<bigint> {
  const prices = pricesOf(model, await groupRatios(context.em));
  return prices.find((item) => item.group === 'default')?.price ?? model.price;
}

/** Executes a send once per idempotency key, which is looked up in memory and in stored replies. */
async function once(
  context: MessageContext,
  draft: MessageDraft | RegenerateDraft,
  work: (mac: string) => Promise<string>,
): Promise<SentMessage> {
  const { idempotencyKey, ...input } = draft;
  if (!idempotencyKey || idempotencyKey.length > IDEMPOTENCY_KEY_MAX)
    throw new UserFailure('INVALID', 'Send an idempotency key of 1 to 64 characters.', 'idempotencyKey');
  const macKey = currentKeyOf(context.settings.secretKey);
  const mac = createHmac('sha256', macKey).update(JSON.stringify(input)).digest('hex');
  const guard = { key: `${context.userId} ${idempotencyKey}`, mac };
  let stored = false;
  const { replyId, replayed } = await context.playground.once(guard, async () => {
    const earlier = await earlierReply(context.em, context.userId, idempotencyKey);
    if (earlier && earlier.inputMac !== mac) throw idempotencyMismatch();
    stored = earlier !== undefined;
    return earlier?.id ?? work(mac);
  });
  const reply = await messageById(context, replyId);
  const userMessage =
    context.playground.localReply(context.userId, replyId)?.question ??
    (await storedMessage(context, reply.parentId ?? '')) ??
    (await context.playground.findReply(context.userId, replyId))?.question;
  const model = await offeredModel(context.em, reply.modelName ?? '');
  return {
    reply,
    userMessage: userMessage ?? null,
    price: await priceOf(context, model),
    replayed: replayed || stored,
  };
}

async function chatOf(context: MessageContext, id: string): Promise<ConversationView> {
  const chat = await findConversation(context, id);
  if (!chat) throw unknownChat();
  return chat;
}

function requireImageInput(model: ModelRow): void {
  if (model.inputModalities.includes('image')) return;
  throw new UserFailure(
    'MODEL_UNAVAILABLE',
    'This model does not accept pictures. Choose another one.',
    'modelName',
  );
}
