/** Loads the chat that the address names. */
import { useEffect, useState } from 'react';
import { type Client, type CombinedError, useClient } from 'urql';
import { ChatQuery } from './documents.ts';
import { type ChatView, EMPTY } from './thread.ts';

export interface Loading {
  /** `gone` if there is no such chat; undefined once it is loaded, or if the address names none. */
  state: 'loading' | 'gone' | CombinedError | undefined;
  retry: () => void;
  /** Clears the state. */
  forget: () => void;
}

interface LoadingOptions {
  chatId: string | undefined;
  /** The id of the chat that is on the page. */
  known: React.RefObject<string | undefined>;
  setChat: React.Dispatch<React.SetStateAction<ChatView>>;
}

/** Pages of 100 messages to load. The service returns at most 500 messages of a chat. */
const PAGES_MAX = 5;

/** Loads the chat, unless this page has just created it. */
export function useLoading({ chatId, known, setChat }: LoadingOptions): Loading {
  const client = useClient();
  const [state, setState] = useState<Loading['state']>();
  const [attempts, setAttempts] = useState(0);
  useEffect(() => {
    if (chatId === known.current) return;
    known.current = chatId;
    setChat(EMPTY);
    setState(chatId === undefined ? undefined : 'loading');
    if (chatId === undefined) return;
    void loaded(client, chatId).then((found) => {
      if (known.current !== chatId) return;
      if (typeof found === 'object' && 'tree' in found) setChat(found);
      setState(typeof found === 'object' && 'tree' in found ? undefined : found);
    });
  }, [chatId, client, known, setChat, attempts]);
  const retry = () => {
    known.current = undefined;
    setAttempts((count) => count + 1);
  };
  return { state, retry, forget: () => setState(undefined) };
}

async function loaded(client: Client, id: string): Promise<ChatView | 'gone' | CombinedError> {
  const tree: ChatView['tree'] = [];
  let after: string | null = null;
  for (let page = 1; ; page += 1) {
    const { data, error } = await pageOf(client, id, after);
    const node = data?.node;
    if (!node || !('messages' in node)) return error ?? 'gone';
    tree.push(...node.messages.nodes);
    after = node.messages.pageInfo.endCursor;
    if (node.messages.pageInfo.hasNextPage && page < PAGES_MAX) continue;
    const { title, stored, temporary, model } = node;
    return { id, title, stored, temporary, modelName: model?.name, tree, end: undefined };
  }
}

function pageOf(client: Client, id: string, after: string | null) {
  return client.query(ChatQuery, { id, after }, { requestPolicy: 'network-only' }).toPromise();
}
