/** State and actions of one chat: send, follow the reply, stop, reply again, switch branches. */
import { useRef, useState } from 'react';
import { type CombinedError, useClient } from 'urql';
import type { Refusal } from '../answer-fields.ts';
import { useFailureWords } from '../failure-words.ts';
import { randomKey } from '../idempotency.ts';
import {
  ChatCreate,
  type ChatMessage,
  MessageRegenerate,
  MessageSend,
  MessageStop,
  type Picture,
} from './documents.ts';
import { branchTo, type ChatView, EMPTY, historyBefore, newestEnd } from './thread.ts';
import { useFollowing } from './use-following.ts';
import type { settingsFor } from './settings.ts';
import { useLoading } from './use-loading.ts';

export interface Outgoing {
  content: string;
  pictures: Picture[];
  model: string;
  /** The earlier message that this one replaces; the chat branches there. */
  replaces?: ChatMessage | undefined;
}

/** Why an operation failed: a text, and the service's error code if there is one. */
export interface Refused {
  sentence: string;
  code: string | undefined;
}

interface Options {
  chatId: string | undefined;
  /** Whether new chats are temporary. */
  temporary?: boolean;
  /** The settings of replies of this model. */
  settingsOf: (model: string) => ReturnType<typeof settingsFor>;
  /** Whether new chats are stored. */
  storing: boolean;
  onCreated: (id: string) => void;
  onChanged: () => void;
}

/** Returns the chat that the address names, or a new one, and its actions. */
export function useChat(options: Options) {
  const [view, setChat] = useState<ChatView>({ ...EMPTY, temporary: options.temporary ?? false });
  const [failure, setFailure] = useState<Refused>();
  const [busy, setBusy] = useState(false);
  const known = useRef<string>(undefined);
  const chat = { ...view, messages: branchTo(view.tree, view.end) };
  const running = chat.messages.find((message) => message.state === 'STREAMING');
  const loading = useLoading({ chatId: options.chatId, known, setChat });
  useFollowing(running?.id, setChat, options.onChanged);
  const actions = useActions({ ...options, chat, known, setChat, setFailure });
  const reset = (temporary = false) => {
    known.current = undefined;
    setFailure(undefined);
    loading.forget();
    setChat({ ...EMPTY, temporary });
  };
  const whileBusy = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    setBusy(true);
    try {
      return await work();
    } finally {
      setBusy(false);
    }
  };
  return {
    ...{ chat, running, busy, failure, loading, reset },
    send: (outgoing: Outgoing) => whileBusy(() => actions.send(outgoing)),
    again: (reply: ChatMessage, model: string) => whileBusy(() => actions.again(reply, model)),
    stop: () => (running ? actions.stop(running.id) : Promise.resolve()),
    /** Shows the branch of this version of a message, to its newest message. */
    show: (id: string) => setChat((now) => ({ ...now, end: newestEnd(now.tree, id) })),
  };
}

interface ActionContext extends Options {
  chat: ChatView & { messages: ChatMessage[] };
  known: React.RefObject<string | undefined>;
  setChat: React.Dispatch<React.SetStateAction<ChatView>>;
  setFailure: (refused: Refused | undefined) => void;
}

/** Returns a function that shows the error of an operation, or clears the previous one. */
function useReport({ setFailure }: ActionContext) {
  const words = useFailureWords();
  return (error: CombinedError | undefined, userErrors: readonly Refusal[] | undefined) => {
    const sentence = words(error, userErrors);
    const code = error ? undefined : userErrors?.[0]?.code;
    setFailure(sentence === undefined ? undefined : { sentence, code });
  };
}

function useActions(context: ActionContext) {
  const { chat, storing } = context;
  const client = useClient();
  const report = useReport(context);
  const sendQuestion = useSend(context);
  const append = (...added: (ChatMessage | null)[]) => {
    const fresh = added.filter((message) => message !== null);
    context.setChat((now) => ({ ...now, tree: [...now.tree, ...fresh], end: fresh.at(-1)?.id }));
  };
  const send = async (outgoing: Outgoing): Promise<boolean> => {
    const sent = await sendQuestion(outgoing);
    if (sent) append(sent.userMessage, sent.reply);
    if (sent) context.onChanged();
    return sent !== undefined;
  };
  // The service knows the question of a stored chat. For other chats it is sent again, and only this page
  // knows the branches.
  const again = async (reply: ChatMessage, model: string): Promise<void> => {
    const question = chat.tree.find((message) => message.id === reply.parentId);
    if (!question) return;
    if (!chat.stored || !storing) {
      const { content, attachments: pictures } = question;
      const sent = await sendQuestion({ content, pictures, model, replaces: question });
      if (sent) append({ ...sent.reply, parentId: question.id });
      return;
    }
    const settings = context.settingsOf(model);
    const input = { messageId: reply.id, modelName: model, settings, idempotencyKey: randomKey() };
    const { data, error } = await client.mutation(MessageRegenerate, { input }).toPromise();
    report(error, data?.messageRegenerate.userErrors);
    append(data?.messageRegenerate.reply ?? null);
  };
  const stop = async (id: string): Promise<void> => {
    const { data, error } = await client.mutation(MessageStop, { input: { id } }).toPromise();
    report(error, data?.messageStop.userErrors);
  };
  return { send, again, stop };
}

/** Returns a function that sends a question, creating the chat if necessary; undefined on failure. */
function useSend(context: ActionContext) {
  const { chat, storing } = context;
  const client = useClient();
  const report = useReport(context);
  const conversation = useConversation(context);
  return async ({ content, pictures, model, replaces }: Outgoing) => {
    const conversationId = await conversation(model);
    if (conversationId === undefined) return undefined;
    const keeps = chat.stored && storing;
    const parentId = (replaces ? replaces.parentId : chat.messages.at(-1)?.id) ?? null;
    const input = {
      conversationId,
      content,
      attachments: pictures.map(({ mimeType, dataBase64 }) => ({ mimeType, dataBase64 })),
      modelName: model,
      history: keeps ? [] : historyBefore(chat.messages, replaces?.id),
      parentId: keeps ? parentId : null,
      replacesId: keeps ? (replaces?.id ?? null) : null,
      settings: context.settingsOf(model),
      idempotencyKey: randomKey(),
    };
    const { data, error } = await client.mutation(MessageSend, { input }).toPromise();
    report(error, data?.messageSend.userErrors);
    const { userMessage, reply } = data?.messageSend ?? {};
    if (!userMessage || !reply) return undefined;
    return { userMessage: keeps ? userMessage : { ...userMessage, parentId }, reply };
  };
}

/** Returns a function that gives the chat's id, and creates the chat before its first message. */
function useConversation(context: ActionContext) {
  const { chat, storing, known, setChat, onCreated } = context;
  const client = useClient();
  const report = useReport(context);
  return async (model: string): Promise<string | undefined> => {
    if (chat.id !== undefined) return chat.id;
    const input = { modelName: model, temporary: chat.temporary };
    const { data, error } = await client.mutation(ChatCreate, { input }).toPromise();
    report(error, data?.conversationCreate.userErrors);
    const id = data?.conversationCreate.conversation?.id;
    if (id === undefined) return undefined;
    known.current = id;
    setChat((now) => ({ ...now, id, stored: storing && !now.temporary }));
    onCreated(id);
    return id;
  };
}
