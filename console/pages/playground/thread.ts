/** A chat as a tree of messages with one visible branch, and how stream events change it. */
import type { ChatMessage, StreamEvent } from './documents.ts';

/** The state of a chat on the page. */
export interface ChatView {
  id: string | undefined;
  title: string;
  stored: boolean;
  temporary: boolean;
  modelName: string | undefined;
  /** The messages of all branches, oldest first. */
  tree: ChatMessage[];
  /** The last message of the visible branch; undefined for the newest message. */
  end: string | undefined;
}

/** A new chat. */
export const EMPTY: ChatView = {
  id: undefined,
  title: '',
  stored: false,
  temporary: false,
  modelName: undefined,
  tree: [],
  end: undefined,
};

/**
 * The branch that ends with this message, from its first message. Ends with the newest message if unknown.
 */
export function branchTo(messages: readonly ChatMessage[], leaf: string | undefined): ChatMessage[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const branch: ChatMessage[] = [];
  let at = byId.get(leaf ?? '') ?? messages.at(-1);
  while (at && branch.length < messages.length) {
    branch.unshift(at);
    at = byId.get(at.parentId ?? '');
  }
  return branch;
}

/** The versions of a message: messages with the same parent. `at` is the index of this message. */
export interface Versions {
  ids: string[];
  at: number;
}

/** The versions of a message, oldest first, including itself. */
export function versionsOf(messages: readonly ChatMessage[], { id, parentId }: ChatMessage): Versions {
  const known = new Set(messages.map((message) => message.id));
  const isRoot = !known.has(parentId ?? '');
  const ids = messages
    .filter((other) => (isRoot ? !known.has(other.parentId ?? '') : other.parentId === parentId))
    .map((other) => other.id);
  return { ids, at: ids.indexOf(id) };
}

/** The newest message in the branches that contain this message. */
export function newestEnd(messages: readonly ChatMessage[], id: string): string {
  const through = (end: string): boolean => branchTo(messages, end).some((message) => message.id === id);
  return messages.findLast((message) => through(message.id))?.id ?? id;
}

/** The messages before this one, which chats that are not stored send with each request. */
export function historyBefore(messages: readonly ChatMessage[], id: string | undefined) {
  const end = id === undefined ? messages.length : messages.findIndex((message) => message.id === id);
  return messages
    .slice(0, Math.max(0, end))
    .filter((message) => message.role === 'USER' || message.content !== '')
    .map(({ role, content, attachments }) => ({
      role,
      content,
      attachments: attachments.map(({ mimeType, dataBase64 }) => ({ mimeType, dataBase64 })),
    }));
}

/**
 * Applies a stream event of a reply. If the text starts again (`after` is 0), it replaces the earlier text.
 */
export function withEvent(messages: readonly ChatMessage[], id: string, event: StreamEvent): ChatMessage[] {
  return messages.map((message) => {
    if (message.id !== id) return message;
    switch (event.__typename) {
      case 'MessageCompleted':
      case 'MessageFailed':
        // Only this page has the parent of the reply if the chat is not stored.
        return { ...event.message, parentId: message.parentId };
      case 'MessageTextDelta': {
        const fresh = event.after === 0 ? { ...message, content: '', reasoning: null } : message;
        return { ...fresh, content: fresh.content + event.text };
      }
      case 'MessageReasoningDelta': {
        const fresh = event.after === 0 ? { ...message, content: '', reasoning: null } : message;
        return { ...fresh, reasoning: (fresh.reasoning ?? '') + event.text };
      }
    }
  });
}
