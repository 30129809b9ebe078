/** One chat on this page: sending, following, stopping, asking again, and going between branches. */
import { useRef, useState } from 'react';
import { type CombinedError, useClient } from 'urql';
import type { Refusal } from '../answer-fields.ts';
import { useFailureWords } from '../failure-words.ts';
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
import { useLoading } from './use-loading.ts';

export interface Outgoing {
  content: string;
  pictures: Picture[];
  model: string;
  /** The message that this one takes the place of: the chat branches there. */
  replaces?: ChatMessage | undefined;
}

/** Why something was not done: a sentence, and its stable code where the service gave one. */
export interface Refused {
  sentence: string;
  code: string | undefined;
}

interface Options {
  chatId: string | undefined;
  /** Whether new chats are stored. */
  storing: boolean;
  onCreated: (id: string) => void;
  onChanged: () => void;
}

/** The chat in the address, or a new one. What it returns acts on it; failures come as sentences. */
export function useChat(options: Options) {
  const [view, setChat] = useState<ChatView>(EMPTY);
  const [failure, setFailure] = useState<Refused>();
  const [busy, setBusy] = useState(false);
  const known = useRef<string>(undefined);
  const chat = { ...view, messages: branchTo(view.tree, view.end) };
  const running = chat.messages.find((message) => message.state === 'STREAMING');
  const loading = useLoading({ chatId: options.chatId, known, setChat });
  useFollowing(running?.id, setChat, options.onChanged);
  const acts = useActs({ ...options, chat, known, setChat, setFailure });
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
    send: (outgoing: Outgoing) => whileBusy(() => acts.send(outgoing)),
    again: (reply: ChatMessage, model: string) => whileBusy(() => acts.again(reply, model)),
    stop: () => (running ? acts.stop(running.id) : Promise.resolve()),
    /** Shows the branch of this version of a message, as far as it goes. */
    show: (id: string) => setChat((now) => ({ ...now, end: newestEnd(now.tree, id) })),
  };
}

interface Acting extends Options {
  chat: ChatView & { messages: ChatMessage[] };
  known: React.RefObject<string | undefined>;
  setChat: React.Dispatch<React.SetStateAction<ChatView>>;
  setFailure: (refused: Refused | undefined) => void;
}

/** Takes what an operation answered, and says on the page what it refused; what was said before goes. */
function useTell({ setFailure }: Acting) {
  const words = useFailureWords();
  return (error: CombinedError | undefined, userErrors: readonly Refusal[] | undefined) => {
    const sentence = words(error, userErrors);
    const code = error ? undefined : userErrors?.[0]?.code;
    setFailure(sentence === undefined ? undefined : { sentence, code });
  };
}

function useActs(acting: Acting) {
  const { chat, storing } = acting;
  const client = useClient();
  const tell = useTell(acting);
  const ask = useAsk(acting);
  const append = (...added: (ChatMessage | null)[]) => {
    const fresh = added.filter((message) => message !== null);
    acting.setChat((now) => ({ ...now, tree: [...now.tree, ...fresh], end: fresh.at(-1)?.id }));
  };
  const send = async (outgoing: Outgoing): Promise<boolean> => {
    const sent = await ask(outgoing);
    if (sent) append(sent.userMessage, sent.reply);
    if (sent) acting.onChanged();
    return sent !== undefined;
  };
  // A stored chat knows the question; for any other it is sent again, and the page alone knows the branches.
  const again = async (reply: ChatMessage, model: string): Promise<void> => {
    const question = chat.tree.find((message) => message.id === reply.parentId);
    if (!question) return;
    if (!chat.stored || !storing) {
      const { content, attachments: pictures } = question;
      const sent = await ask({ content, pictures, model, replaces: question });
      if (sent) append({ ...sent.reply, parentId: question.id });
      return;
    }
    const input = { messageId: reply.id, modelName: model, idempotencyKey: randomKey() };
    const { data, error } = await client.mutation(MessageRegenerate, { input }).toPromise();
    tell(error, data?.messageRegenerate.userErrors);
    append(data?.messageRegenerate.reply ?? null);
  };
  const stop = async (id: string): Promise<void> => {
    const { data, error } = await client.mutation(MessageStop, { input: { id } }).toPromise();
    tell(error, data?.messageStop.userErrors);
  };
  return { send, again, stop };
}

/** Sends a question, in a chat that is made for it where there is none; undefined when it was refused. */
function useAsk(acting: Acting) {
  const { chat, storing } = acting;
  const client = useClient();
  const tell = useTell(acting);
  const open = useOpen(acting);
  return async ({ content, pictures, model, replaces }: Outgoing) => {
    const conversationId = await open(model);
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
      idempotencyKey: randomKey(),
    };
    const { data, error } = await client.mutation(MessageSend, { input }).toPromise();
    tell(error, data?.messageSend.userErrors);
    const { userMessage, reply } = data?.messageSend ?? {};
    if (!userMessage || !reply) return undefined;
    return { userMessage: keeps ? userMessage : { ...userMessage, parentId }, reply };
  };
}

/** Makes the chat on the service before its first message. */
function useOpen(acting: Acting) {
  const { chat, storing, known, setChat, onCreated } = acting;
  const client = useClient();
  const tell = useTell(acting);
  return async (model: string): Promise<string | undefined> => {
    if (chat.id !== undefined) return chat.id;
    const input = { modelName: model, temporary: chat.temporary };
    const { data, error } = await client.mutation(ChatCreate, { input }).toPromise();
    tell(error, data?.conversationCreate.userErrors);
    const id = data?.conversationCreate.conversation?.id;
    if (id === undefined) return undefined;
    known.current = id;
    setChat((now) => ({ ...now, id, stored: storing && !now.temporary }));
    onCreated(id);
    return id;
  };
}

function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
