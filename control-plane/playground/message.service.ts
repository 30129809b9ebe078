/** Sends, regenerates and stops messages of the Playground. */
import { createHmac } from 'node:crypto';
import { groupRatios } from '../catalog/catalog.service.ts';
import type { ModelRow } from '../catalog/model.entity.ts';
import { pricesOf } from '../catalog/model.record.ts';
import { UserFailure } from '../graphql/errors.ts';
import type { NodeFeed } from '../database/config-log.ts';
import { newId } from '../database/ids.ts';
import type { ContentKey } from '../intelligence/content-keys.ts';
import { isStoring } from '../intelligence/switch.service.ts';
import type { Settings } from '../process/settings.ts';
import type { Attachment } from './conversation.entity.ts';
import {
  findConversation,
  messagesOf,
  unknownChat,
  offeredModel,
  storedMessage,
  titleFrom,
} from './conversation.service.ts';
import type { ConversationView, ChatContext } from './conversation.service.ts';
import { requestReply } from './data-plane.ts';
import { announcedKey, passKeyOf } from './hidden-key.ts';
import { RunningReply } from './running-reply.ts';
import type { MessageView } from './running-reply.ts';
import { earlierReply, insertQuestionAndReply, updateReply } from './message.rows.ts';
import { idempotencyMismatch } from './playground.ts';
import type { UnstoredChat } from './unstored-chat.ts';
import { checkAttachments, checkContent, checkHistory, pathTo, requestBody } from './prompt.ts';
import type { PromptMessage } from './prompt.ts';

const IDEMPOTENCY_KEY_MAX = 64;

/** What operations on messages need. */
export interface MessageContext extends ChatContext {
  settings: Settings;
  nodeFeed: NodeFeed;
  /** IP address of the user's browser. */
  ip: string | null;
}

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
  idempotencyKey: string;
}

/** A reply to write again. */
export interface RegenerateDraft {
  messageId: string;
  modelName?: string | null;
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
 * the chat is not temporary, and none of its earlier messages were left unstored. Throws NOT_FOUND,
 * MODEL_UNAVAILABLE, REQUIRED, INVALID, LIMIT_REACHED, IDEMPOTENCY_MISMATCH, CONVERSATION_FULL, STORAGE_FULL.
 */
export async function sendMessage(context: MessageContext, draft: MessageDraft): Promise<SentMessage> {
  const attachments = checkAttachments(draft.attachments ?? []);
  checkContent(draft.content, attachments.length > 0);
  const history = checkHistory(draft.history ?? []);
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
    return startReply(context, { chat, model, question, isNew: true, prompt, send });
  });
}

/**
 * Starts another reply to a stored question, optionally by another model. The earlier reply is kept. Throws
 * NOT_FOUND, MODEL_UNAVAILABLE, LIMIT_REACHED, IDEMPOTENCY_MISMATCH, CONVERSATION_FULL, STORAGE_FULL, and
 * CONFLICT if the chat is not stored.
 */
export async function regenerateReply(context: MessageContext, draft: RegenerateDraft): Promise<SentMessage> {
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
    return startReply(context, { chat, model, question, isNew: false, prompt, send });
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
  const mac = createHmac('sha256', context.settings.secretKey).update(JSON.stringify(input)).digest('hex');
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

interface ReplyStart {
  chat: ConversationView;
  model: ModelRow;
  question: MessageView;
  /** Whether the question was not sent before. */
  isNew: boolean;
  /** All messages to send to the model. */
  prompt: PromptMessage[];
  /** Idempotency key and MAC of the input. */
  send: { key: string; mac: string };
}

/** Stores question and reply if they are to be stored, starts to write the reply, and returns its id. */
async function startReply(context: MessageContext, start: ReplyStart): Promise<string> {
  const { chat, model, question, isNew, prompt, send } = start;
  const { playground, userId, em } = context;
  playground.checkRunningReplies(userId);
  const key = await announcedKey(em, userId, context);
  const unstored = playground.localChat(userId, chat.id);
  const message: MessageView = {
    ...emptyMessage(chat.id, question.id),
    role: 'ASSISTANT',
    state: 'STREAMING',
    modelName: model.name,
  };
  const mayStore = !chat.temporary && !unstored?.begun && (await isStoring(em, userId));
  const contentKey = mayStore ? await playground.keys.of(userId) : undefined;
  const rows = contentKey && {
    chat: { ...chat, title: chat.title || titleFrom(question.content) },
    isNew,
    question,
    reply: message,
    send,
    contentKey,
  };
  const stored = rows !== undefined && (await insertQuestionAndReply(em, rows));
  if (stored) playground.dropChat(chat.id);
  // A stored chat whose user turned all switches off keeps its rows and is not held in memory.
  else if (unstored) updateUnstored(unstored, question, message);
  const body = requestBody(model.name, prompt);
  const reply = new RunningReply({ userId, question, message });
  const storedUnder = stored ? contentKey : undefined;
  playground.run(reply, () => writeReply(reply, { context, key, body, storedUnder }));
  return message.id;
}

/** Replaces the messages of an unstored chat by the last question and its reply. */
function updateUnstored(chat: UnstoredChat, question: MessageView, reply: MessageView): void {
  Object.assign(chat, {
    begun: true,
    modelName: reply.modelName ?? chat.modelName,
    updatedAt: new Date(),
    messages: [question, reply],
  });
}

interface ReplyWriting {
  context: MessageContext;
  key: { id: string; secret: string };
  body: string;
  /** The key under which the reply is stored; undefined if it is not stored. */
  storedUnder: ContentKey | undefined;
}

/** Requests the reply, and stores its end. Never rejects. */
async function writeReply(reply: RunningReply, writing: ReplyWriting): Promise<void> {
  const { context, key, body, storedUnder: contentKey } = writing;
  const { settings, ip, playground } = context;
  const request = { dataUrl: settings.dataUrl, passKey: passKeyOf(settings), key, ip, body };
  const failure = await requestReply(
    { ...request, signal: reply.abort.signal },
    {
      onStart: (requestId) => {
        reply.message.requestId = requestId;
      },
      onPart: (kind, text) => reply.append(kind, text),
    },
  ).catch(() => 'stopped' as const);
  const state = failure === undefined ? 'COMPLETE' : failure === 'stopped' ? 'STOPPED' : 'FAILED';
  const reason = failure === 'stopped' ? undefined : failure;
  if (contentKey)
    await updateReply(playground.session(), { ...reply.message, state }, { failure: reason, contentKey });
  reply.end(state, reason);
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

function emptyMessage(conversationId: string, parentId: string | null) {
  return {
    id: newId('msg'),
    conversationId,
    parentId,
    content: '',
    reasoning: null,
    attachments: [],
    errorCode: null,
    error: null,
    modelName: null,
    requestId: null,
    createdAt: new Date(),
    usedItems: [],
  };
}
