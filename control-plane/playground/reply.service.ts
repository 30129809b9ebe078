/** Starts a reply of the Playground, and writes it while the model sends it. */
import type { ModelRow } from '../catalog/model.entity.ts';
import type { NodeFeed } from '../database/config-log.ts';
import { newId } from '../database/ids.ts';
import type { ContentKey } from '../intelligence/content-keys.ts';
import { countUse, injectionFor } from '../intelligence/injection/injection.service.ts';
import type { Injection } from '../intelligence/injection/injection.service.ts';
import { isStoring } from '../intelligence/switch.service.ts';
import type { Settings } from '../process/settings.ts';
import { titleFrom } from './conversation.service.ts';
import type { ChatContext, ConversationView } from './conversation.service.ts';
import { requestReply } from './data-plane.ts';
import { announcedKey, passKeyOf } from './hidden-key.ts';
import { insertQuestionAndReply, updateReply } from './message.rows.ts';
import { requestBody } from './prompt.ts';
import type { PromptMessage } from './prompt.ts';
import type { ReplySettings } from './reply-settings.ts';
import type { Playground } from './playground.ts';
import { RunningReply } from './running-reply.ts';
import type { MessageView, ReplyFailure } from './running-reply.ts';
import type { UnstoredChat } from './unstored-chat.ts';

/** The services and the address of the browser for operations on messages. */
export interface MessageContext extends ChatContext {
  settings: Settings;
  nodeFeed: NodeFeed;
  /** IP address of the user's browser. */
  ip: string | null;
}

/** A question whose reply is to be written. */
export interface ReplyStart {
  chat: ConversationView;
  model: ModelRow;
  question: MessageView;
  /** Whether the question was not sent before. */
  isNew: boolean;
  /** All messages to send to the model. */
  prompt: PromptMessage[];
  /** Idempotency key and MAC of the input. */
  send: { key: string; mac: string };
  /** Whether items of Personal Intelligence may be sent. */
  useItems: boolean;
  settings: ReplySettings;
}

/** Stores question and reply if they are to be stored, starts to write the reply, and returns its id. */
export async function startReply(context: MessageContext, start: ReplyStart): Promise<string> {
  const { chat, model, question, isNew, prompt, send } = start;
  const { playground, userId, em } = context;
  playground.checkRunningReplies(userId);
  const key = await announcedKey(em, userId, context);
  const unstored = playground.localChat(userId, chat.id);
  const injection = await injected(context, start);
  const message: MessageView = {
    ...emptyMessage(chat.id, question.id),
    role: 'ASSISTANT',
    state: 'STREAMING',
    modelName: model.name,
    usedItems: injection?.lines ?? [],
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
  const body = requestBody(model.name, prompt, { aboutUser: injection?.text, settings: start.settings });
  const reply = new RunningReply({ userId, question, message });
  const storedUnder = stored ? contentKey : undefined;
  const providerIds = injection?.text ? injection.providerIds : null;
  playground.run(reply, () => writeReply(reply, { context, key, body, providerIds, storedUnder }));
  return message.id;
}

/** Chooses the lines about the user for the message; undefined if none may be sent. */
async function injected(
  { em, playground, userId }: MessageContext,
  { chat, model, question, prompt, useItems }: ReplyStart,
): Promise<Injection | undefined> {
  if (!useItems || chat.temporary) return undefined;
  const request = { userId, model, draft: question.content, conversationId: chat.id };
  const isFirst = prompt.length === 1;
  const injection = await injectionFor({ em, keys: playground.keys }, { ...request, isFirst });
  await countUse(
    em,
    injection.lines.map(({ itemId }) => itemId),
  );
  return injection;
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
  /** The only upstreams that may get the request; null for all. */
  providerIds: readonly string[] | null;
  /** The key under which the reply is stored; undefined if it is not stored. */
  storedUnder: ContentKey | undefined;
}

/** Requests the reply, and stores its end. Never rejects. */
async function writeReply(reply: RunningReply, writing: ReplyWriting): Promise<void> {
  const { context, key, body, providerIds, storedUnder: contentKey } = writing;
  const { settings, ip, playground } = context;
  const pass = { passKey: passKeyOf(settings), key, ip, source: 'PLAYGROUND' as const };
  const request = { dataUrl: settings.dataUrl, ...pass, providerIds, body };
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
  const isStored =
    !contentKey || (await storeEnd(playground, { ...reply.message, state }, { reason, contentKey }));
  if (isStored || reason) reply.end(state, reason);
  else reply.end('FAILED', NOT_STORED);
}

const NOT_STORED: ReplyFailure = {
  code: 'NOT_STORED',
  message: 'The reply could not be stored. Copy its text now, because it will be lost.',
  retryable: false,
};

/** Stores the end of a reply. Returns false, and logs why, if that fails. */
async function storeEnd(
  playground: Playground,
  message: MessageView,
  { reason: failure, contentKey }: { reason: ReplyFailure | undefined; contentKey: ContentKey },
): Promise<boolean> {
  try {
    await updateReply(playground.session(), message, { failure, contentKey });
    return true;
  } catch (error) {
    playground.log?.({
      level: 'error',
      message: 'A reply of the Playground could not be stored. The page asked its user to copy it.',
      messageId: message.id,
      reason: error instanceof Error ? error.message : String(error),
    });
    return false;
  }
}

/** A message without content, with a new id. */
export function emptyMessage(conversationId: string, parentId: string | null) {
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
