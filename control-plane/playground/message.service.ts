/** Sending, repeating and stopping messages of the Playground. */
import { createHmac } from 'node:crypto';
import { groupRatios } from '../catalog/catalog.service.ts';
import type { ModelRow } from '../catalog/model.entity.ts';
import { pricesOf } from '../catalog/model.record.ts';
import { UserFailure } from '../errors.ts';
import { newId } from '../ids.ts';
import { isStoring } from '../intelligence/switch.service.ts';
import type { Settings } from '../settings.ts';
import type { Attachment } from './conversation.entity.ts';
import {
  findConversation,
  messagesOf,
  noSuchChat,
  offeredModel,
  storedMessage,
  titleFrom,
} from './conversation.service.ts';
import type { ConversationView, Place } from './conversation.service.ts';
import { askDataPlane } from './data-plane.ts';
import { announcedKey, passKeyOf } from './hidden-key.ts';
import { LiveReply } from './live-reply.ts';
import type { MessageView } from './live-reply.ts';
import { earlierReply, insertTurn, updateReply } from './message.rows.ts';
import { mismatch } from './live.ts';
import type { LiveChat } from './live-chat.ts';
import { checkAttachments, checkContent, checkHistory, pathTo, requestBody } from './prompt.ts';
import type { Turn } from './prompt.ts';

const IDEMPOTENCY_KEY_MAX = 64;

export interface Scene extends Place {
  settings: Settings;
  /** Address of the person's browser. */
  ip: string | null;
}

export interface MessageDraft {
  conversationId: string;
  content: string;
  attachments?: Attachment[] | null;
  modelName?: string | null;
  /** A message of the user that this one takes the place of: the chat branches there. */
  replacesId?: string | null;
  /** The message that this one follows, in a stored chat with branches; the newest one when left out. */
  parentId?: string | null;
  /** What came before, where the chat is not stored. */
  history?: Turn[] | null;
  idempotencyKey: string;
}

export interface RepeatDraft {
  messageId: string;
  modelName?: string | null;
  idempotencyKey: string;
}

export interface Sent {
  userMessage: MessageView | null;
  reply: MessageView;
  price: bigint;
  replayed: boolean;
}

/**
 * Sends a message and begins its reply, which goes on by itself. Stored only while a switch is on, the chat
 * is not temporary and none of it went unstored. Throws NOT_FOUND, MODEL_UNAVAILABLE, INVALID, LIMIT_REACHED,
 * and CONVERSATION_FULL or STORAGE_FULL where it should be stored and there is no room.
 */
export async function sendMessage(scene: Scene, draft: MessageDraft): Promise<Sent> {
  const attachments = checkAttachments(draft.attachments ?? []);
  checkContent(draft.content, attachments.length > 0);
  const history = checkHistory(draft.history ?? []);
  return once(scene, draft, async (mac) => {
    const chat = await chatOf(scene, draft.conversationId);
    const model = await offeredModel(scene.em, draft.modelName ?? chat.modelName);
    if (attachments.length > 0) checkSight(model);
    const known = await messagesOf(scene, chat.id);
    const replaced = known.find((message) => message.id === draft.replacesId);
    const followed = known.find((message) => message.id === draft.parentId) ?? known.at(-1);
    const parentId = replaced ? replaced.parentId : (followed?.id ?? null);
    const question: MessageView = {
      ...blank(chat.id, parentId),
      role: 'USER',
      content: draft.content,
      attachments,
      state: 'COMPLETE',
    };
    const before = chat.stored && history.length === 0 ? pathTo(known, parentId) : history;
    const turns: Turn[] = [...before, { role: 'USER', content: draft.content, attachments }];
    const call = { key: draft.idempotencyKey, mac };
    return begin(scene, { chat, model, question, isNew: true, turns, call });
  });
}

/**
 * Writes another reply to a stored question, by another model if wanted; the earlier one stays. Throws
 * NOT_FOUND, CONVERSATION_FULL, STORAGE_FULL, CONFLICT where the chat is not stored: then the question has to
 * be sent again.
 */
export async function repeatReply(scene: Scene, draft: RepeatDraft): Promise<Sent> {
  return once(scene, draft, async (mac) => {
    const reply = await messageById(scene, draft.messageId);
    const chat = await chatOf(scene, reply.conversationId);
    const known = await messagesOf(scene, chat.id);
    const question = known.find((message) => message.id === reply.parentId);
    const model = await offeredModel(scene.em, draft.modelName ?? reply.modelName ?? chat.modelName);
    if (reply.role !== 'ASSISTANT' || !question || !chat.stored)
      throw new UserFailure('CONFLICT', 'This chat is not kept. Send the message again.', 'messageId');
    const turns = pathTo(known, question.id);
    if (turns.some((turn) => (turn.attachments ?? []).length > 0)) checkSight(model);
    const call = { key: draft.idempotencyKey, mac };
    return begin(scene, { chat, model, question, isNew: false, turns, call });
  });
}

/** Stops a reply that is being written; what was written stays. Repeats are harmless. Throws NOT_FOUND. */
export async function stopReply(scene: Scene, messageId: string): Promise<MessageView> {
  await scene.playground.stop(scene.userId, messageId);
  return messageById(scene, messageId);
}

/** A message of this user, from memory or stored. Throws NOT_FOUND. */
export async function messageById({ em, playground, userId }: Place, id: string): Promise<MessageView> {
  const stored = playground.reply(userId, id) ? undefined : await storedMessage(em, userId, id);
  const live = stored && stored.state !== 'STREAMING' ? undefined : await playground.findReply(userId, id);
  const found = live?.message ?? stored;
  if (!found) throw new UserFailure('NOT_FOUND', 'There is no such message, or it is not kept.', 'messageId');
  return found;
}

/** What a message to this model costs in the group that the Playground uses. */
async function priceOf(scene: Place, model: ModelRow): Promise<bigint> {
  const prices = pricesOf(model, await groupRatios(scene.em));
  return prices.find((item) => item.group === 'default')?.price ?? model.price;
}

/** An equal call never sends twice: recognised in memory, and by the stored reply itself. */
async function once(
  scene: Scene,
  draft: MessageDraft | RepeatDraft,
  work: (mac: string) => Promise<string>,
): Promise<Sent> {
  const { idempotencyKey, ...input } = draft;
  if (!idempotencyKey || idempotencyKey.length > IDEMPOTENCY_KEY_MAX)
    throw new UserFailure('INVALID', 'An idempotency key has 1 to 64 characters.', 'idempotencyKey');
  const mac = createHmac('sha256', scene.settings.secretKey).update(JSON.stringify(input)).digest('hex');
  const guard = { key: `${scene.userId} ${idempotencyKey}`, mac };
  let stored = false;
  const { replyId, replayed } = await scene.playground.once(guard, async () => {
    const earlier = await earlierReply(scene.em, scene.userId, idempotencyKey);
    if (earlier && earlier.inputMac !== mac) throw mismatch();
    stored = earlier !== undefined;
    return earlier?.id ?? work(mac);
  });
  const reply = await messageById(scene, replyId);
  const userMessage =
    scene.playground.reply(scene.userId, replyId)?.question ??
    (await storedMessage(scene.em, scene.userId, reply.parentId ?? '')) ??
    (await scene.playground.findReply(scene.userId, replyId))?.question;
  const model = await offeredModel(scene.em, reply.modelName ?? '');
  return {
    reply,
    userMessage: userMessage ?? null,
    price: await priceOf(scene, model),
    replayed: replayed || stored,
  };
}

interface Beginning {
  chat: ConversationView;
  model: ModelRow;
  question: MessageView;
  /** Whether the question was not sent before. */
  isNew: boolean;
  turns: Turn[];
  call: { key: string; mac: string };
}

async function begin(scene: Scene, beginning: Beginning): Promise<string> {
  const { chat, model, question, isNew, turns, call } = beginning;
  const { playground, userId, em, settings } = scene;
  playground.checkRoom(userId);
  const key = await announcedKey(em, userId, settings);
  const live = playground.chat(userId, chat.id);
  const message: MessageView = {
    ...blank(chat.id, question.id),
    role: 'ASSISTANT',
    state: 'STREAMING',
    modelName: model.name,
  };
  const wanted = !chat.temporary && !live?.begun && (await isStoring(em, userId));
  const rows = {
    chat: { ...chat, title: chat.title || titleFrom(question.content) },
    isNew,
    question,
    reply: message,
    call,
  };
  const stored = wanted && (await insertTurn(em, rows));
  if (stored) playground.nowStored(chat.id);
  // A stored chat whose user turned every switch off stays as it is; it has no place in memory.
  else if (live) keepInMemory(live, question, message);
  const body = requestBody(model.name, turns);
  const reply = new LiveReply({ userId, question, message });
  playground.run(reply, () => write(reply, { scene, key, body, stored }));
  return message.id;
}

/** The chat as it goes on in memory: this question and its reply, nothing older. */
function keepInMemory(live: LiveChat, question: MessageView, reply: MessageView): void {
  Object.assign(live, {
    begun: true,
    modelName: reply.modelName ?? live.modelName,
    updatedAt: new Date(),
    messages: [question, reply],
  });
}

interface Writing {
  scene: Scene;
  key: { id: string; secret: string };
  body: string;
  stored: boolean;
}

/** Writes the reply to its end, whatever that is. Never rejects. */
async function write(reply: LiveReply, { scene, key, body, stored }: Writing): Promise<void> {
  const { settings, ip, playground } = scene;
  const call = { dataUrl: settings.dataUrl, passKey: passKeyOf(settings), key, ip, body };
  const failure = await askDataPlane(
    { ...call, signal: reply.abort.signal },
    {
      began: (requestId) => {
        reply.message.requestId = requestId;
      },
      part: (kind, text) => reply.append(kind, text),
    },
  ).catch(() => 'stopped' as const);
  const state = failure === undefined ? 'COMPLETE' : failure === 'stopped' ? 'STOPPED' : 'FAILED';
  const reason = failure === 'stopped' ? undefined : failure;
  if (stored) await updateReply(playground.session(), { ...reply.message, state }, reason);
  reply.end(state, reason);
}

async function chatOf(scene: Scene, id: string): Promise<ConversationView> {
  const chat = await findConversation(scene, id);
  if (!chat) throw noSuchChat();
  return chat;
}

function checkSight(model: ModelRow): void {
  if (model.inputModalities.includes('image')) return;
  throw new UserFailure(
    'MODEL_UNAVAILABLE',
    'This model does not see pictures. Choose another.',
    'modelName',
  );
}

function blank(conversationId: string, parentId: string | null) {
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
  };
}
