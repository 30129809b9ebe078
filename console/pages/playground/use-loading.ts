/** Loads the chat that the address names. */
import { useEffect, useState } from 'react';
import { type Client, type CombinedError, useClient } from 'urql';
import { ChatQuery } from './documents.ts';
import { type ChatView, EMPTY } from './thread.ts';

export interface Loading {
  /** `gone` where there is no such chat (any more); undefined once it is loaded or none is asked for. */
  state: 'loading' | 'gone' | CombinedError | undefined;
  retry: () => void;
  /** Nothing is asked for any more. */
  forget: () => void;
}

interface Asked {
  chatId: string | undefined;
  /** The chat that is on the page. */
  known: React.RefObject<string | undefined>;
  setChat: React.Dispatch<React.SetStateAction<ChatView>>;
}

/** The service keeps 500 messages of a chat at hand, and hands out 100 at a time. */
const PAGES_MAX = 5;

/** Loads the chat of the address, unless it is the one that this page just began. */
export function useLoading({ chatId, known, setChat }: Asked): Loading {
  const client = useClient();
  const [state, setState] = useState<Loading['state']>();
  const [tries, setTries] = useState(0);
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
  }, [chatId, client, known, setChat, tries]);
  const retry = () => {
    known.current = undefined;
    setTries((count) => count + 1);
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
