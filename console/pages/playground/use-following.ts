/** Receives the reply that is being written. */
import { useEffect, useRef } from 'react';
import { useClient } from 'urql';
import { type ChatMessage, MessageStream } from './documents.ts';
import { type ChatView, withEvent } from './thread.ts';

/** Subscribes to the reply with this id until its end. After a lost connection, the stream starts again. */
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

/** Marks a reply as lost, if its stream no longer exists on the service. */
function withoutReply(messages: readonly ChatMessage[], id: string): ChatMessage[] {
  return messages.map((message) =>
    message.id === id ? { ...message, state: 'FAILED', errorCode: 'LOST' } : message,
  );
}
