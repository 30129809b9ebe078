/** One chat on this page: loading, sending, following the reply, stopping and asking again. */
import { useEffect, useRef, useState } from 'react';
import { useClient, type CombinedError } from 'urql';
import { useFailureWords } from '../failure-words.ts';
import {
  ChatCreate,
  type ChatMessage,
  ChatQuery,
  MessageRegenerate,
  MessageSend,
  MessageStop,
  MessageStream,
  type Picture,
} from './documents.ts';
import { historyBefore, newestBranch, withEvent } from './thread.ts';

export interface ChatView {
  id: string | undefined;
  title: string;
  stored: boolean;
  temporary: boolean;
  modelName: string | undefined;
  messages: ChatMessage[];
}

export interface Outgoing {
  content: string;
  pictures: Picture[];
  model: string;
  /** The message that this one takes the place of. */
  replaces?: ChatMessage | undefined;
}

interface Options {
  chatId: string | undefined;
  /** Whether new chats are stored. */
  storing: boolean;
  onCreated: (id: string) => void;
  onChanged: () => void;
}

const EMPTY: ChatView = {
  id: undefined,
  title: '',
  stored: false,
  temporary: false,
  modelName: undefined,
  messages: [],
};

/** The chat in the address, or a new one. What it returns acts on it; failures come as sentences. */
export function useChat(options: Options) {
  const [chat, setChat] = useState<ChatView>(EMPTY);
  const [lost, setLost] = useState<CombinedError | 'gone'>();
  const [failure, setFailure] = useState<string>();
  const [busy, setBusy] = useState(false);
  const known = useRef<string>(undefined);
  const running = chat.messages.find((message) => message.state === 'STREAMING');
  useLoading({ chatId: options.chatId, known, setChat, setLost });
  useFollowing(running?.id, setChat, options.onChanged);
  const acts = useActs({ ...options, chat, known, setChat, setFailure });
  const reset = (temporary = false) => {
    known.current = undefined;
    setFailure(undefined);
    setLost(undefined);
    setChat({ ...EMPTY, temporary });
  };
  const send = async (outgoing: Outgoing): Promise<boolean> => {
    setBusy(true);
    const sent = await acts.send(outgoing);
    setBusy(false);
    return sent;
  };
  const stop = async (): Promise<void> => {
    if (running) await acts.stop(running.id);
  };
  return { chat, running, busy, lost, failure, send, again: acts.again, stop, reset };
}

type Change = React.Dispatch<React.SetStateAction<ChatView>>;

interface Acting extends Options {
  chat: ChatView;
  known: React.RefObject<string | undefined>;
  setChat: Change;
  setFailure: (sentence: string | undefined) => void;
}

function useActs(acting: Acting) {
  const { chat, storing, setChat, setFailure, onChanged } = acting;
  const client = useClient();
  const words = useFailureWords();
  const open = useOpen(acting);
  const append = (added: (ChatMessage | null)[], replaces?: ChatMessage) => {
    setChat((now) => ({ ...now, messages: appended(now.messages, added, replaces) }));
  };
  const send = async ({ content, pictures, model, replaces }: Outgoing): Promise<boolean> => {
    const conversationId = await open(model);
    if (conversationId === undefined) return false;
    const history = chat.stored && storing ? [] : historyBefore(chat.messages, replaces?.id);
    const attachments = pictures.map(({ mimeType, dataBase64 }) => ({ mimeType, dataBase64 }));
    const message = { conversationId, content, attachments, modelName: model, history };
    const input = { ...message, idempotencyKey: randomKey(), replacesId: replaces?.id ?? null };
    const { data, error } = await client.mutation(MessageSend, { input }).toPromise();
    setFailure(words(error, data?.messageSend.userErrors));
    if (!data?.messageSend.reply) return false;
    append([data.messageSend.userMessage, data.messageSend.reply], replaces);
    onChanged();
    return true;
  };
  // A stored chat knows the question; for any other it is sent again.
  const again = async (reply: ChatMessage, model: string): Promise<void> => {
    const question = chat.messages.find((message) => message.id === reply.parentId);
    if (!chat.stored || !storing) {
      const pictures = question?.attachments ?? [];
      if (question) await send({ content: question.content, pictures, model, replaces: question });
      return;
    }
    const input = { messageId: reply.id, modelName: model, idempotencyKey: randomKey() };
    const { data, error } = await client.mutation(MessageRegenerate, { input }).toPromise();
    setFailure(words(error, data?.messageRegenerate.userErrors));
    if (data?.messageRegenerate.reply) append([data.messageRegenerate.reply], reply);
  };
  const stop = async (id: string): Promise<void> => {
    await client.mutation(MessageStop, { input: { id } }).toPromise();
  };
  return { send, again, stop };
}

/** Makes the chat on the service before its first message. */
function useOpen({ chat, storing, known, setChat, setFailure, onCreated }: Acting) {
  const client = useClient();
  const words = useFailureWords();
  return async (model: string): Promise<string | undefined> => {
    if (chat.id !== undefined) return chat.id;
    const input = { modelName: model, temporary: chat.temporary };
    const { data, error } = await client.mutation(ChatCreate, { input }).toPromise();
    setFailure(words(error, data?.conversationCreate.userErrors));
    const id = data?.conversationCreate.conversation?.id;
    if (id === undefined) return undefined;
    known.current = id;
    setChat((now) => ({ ...now, id, stored: storing && !now.temporary }));
    onCreated(id);
    return id;
  };
}

function appended(
  messages: readonly ChatMessage[],
  added: readonly (ChatMessage | null)[],
  replaces: ChatMessage | undefined,
): ChatMessage[] {
  const at = replaces ? messages.findIndex((message) => message.id === replaces.id) : -1;
  return [...(at < 0 ? messages : messages.slice(0, at)), ...added.filter((message) => message !== null)];
}

interface Loading {
  chatId: string | undefined;
  known: React.RefObject<string | undefined>;
  setChat: React.Dispatch<React.SetStateAction<ChatView>>;
  setLost: (lost: CombinedError | 'gone' | undefined) => void;
}

/** Loads the chat of the address, unless it is the one that this page just began. */
function useLoading({ chatId, known, setChat, setLost }: Loading): void {
  const client = useClient();
  useEffect(() => {
    if (chatId === known.current) return;
    known.current = chatId;
    setLost(undefined);
    setChat(EMPTY);
    if (chatId === undefined) return;
    const options = { requestPolicy: 'network-only' } as const;
    void client.query(ChatQuery, { id: chatId }, options).then(({ data, error }) => {
      if (known.current !== chatId) return;
      const node = data?.node;
      if (!node || !('messages' in node)) return setLost(error ?? 'gone');
      const { id, title, stored, temporary, model } = node;
      const messages = newestBranch(node.messages.nodes);
      setChat({ id, title, stored, temporary, modelName: model?.name, messages });
    });
  }, [chatId, client, known, setChat, setLost]);
}

/** Follows the reply that is being written; after a lost connection it starts over by itself. */
function useFollowing(
  id: string | undefined,
  setChat: React.Dispatch<React.SetStateAction<ChatView>>,
  onEnd: () => void,
): void {
  const client = useClient();
  const ended = useRef(onEnd);
  ended.current = onEnd;
  useEffect(() => {
    if (id === undefined) return;
    const { unsubscribe } = client
      .subscription(MessageStream, { messageId: id, afterSeq: 0 })
      .subscribe(({ data, error }) => {
        const event = data?.messageStream;
        if (event) setChat((now) => ({ ...now, messages: withEvent(now.messages, id, event) }));
        if (error) setChat((now) => ({ ...now, messages: withoutReply(now.messages, id) }));
        if (error || (event && 'message' in event)) ended.current();
      });
    return unsubscribe;
  }, [id, client, setChat]);
}

/** A reply that is not kept any more cannot be followed: it is shown as broken off. */
function withoutReply(messages: readonly ChatMessage[], id: string): ChatMessage[] {
  return messages.map((message) =>
    message.id === id ? { ...message, state: 'FAILED', errorCode: 'LOST' } : message,
  );
}

function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
