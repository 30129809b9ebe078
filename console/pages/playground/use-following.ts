/** Follows the reply that is being written. */
import { useEffect, useRef } from 'react';
import { useClient } from 'urql';
import { type ChatMessage, MessageStream } from './documents.ts';
import { type ChatView, withEvent } from './thread.ts';

/** Follows the reply with this id to its end; after a lost connection it starts over by itself. */
export function useFollowing(
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
        if (event) setChat((now) => ({ ...now, tree: withEvent(now.tree, id, event) }));
        if (error) setChat((now) => ({ ...now, tree: withoutReply(now.tree, id) }));
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
