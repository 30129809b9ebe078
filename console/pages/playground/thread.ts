/** A chat as its reader sees it: one branch of the tree of messages, and how events change it. */
import type { ChatMessage, StreamEvent } from './documents.ts';

/** A chat on the page. */
export interface ChatView {
  id: string | undefined;
  title: string;
  stored: boolean;
  temporary: boolean;
  modelName: string | undefined;
  /** Every message that is known, of all branches, oldest first. */
  tree: ChatMessage[];
  /** The message at the end of the branch that is shown; the newest one while undefined. */
  end: string | undefined;
}

/** A chat that has not begun. */
export const EMPTY: ChatView = {
  id: undefined,
  title: '',
  stored: false,
  temporary: false,
  modelName: undefined,
  tree: [],
  end: undefined,
};

/** The branch that ends in this message, from the beginning; in the newest message where it is not there. */
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

/** Where a message stands among those that answer, or ask, the same: `at` counts from 0. */
export interface Versions {
  ids: string[];
  at: number;
}

/** The versions of a message, oldest first; it is one of them. */
export function versionsOf(messages: readonly ChatMessage[], { id, parentId }: ChatMessage): Versions {
  const known = new Set(messages.map((message) => message.id));
  const isRoot = !known.has(parentId ?? '');
  const ids = messages
    .filter((other) => (isRoot ? !known.has(other.parentId ?? '') : other.parentId === parentId))
    .map((other) => other.id);
  return { ids, at: ids.indexOf(id) };
}

/** The newest message of the branches that go through this one: where its reader goes on. */
export function newestEnd(messages: readonly ChatMessage[], id: string): string {
  const through = (end: string): boolean => branchTo(messages, end).some((message) => message.id === id);
  return messages.findLast((message) => through(message.id))?.id ?? id;
}

/** What came before this message, as a chat that is not stored sends it along. */
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

/** The messages after an event of a reply. Text that starts over replaces what was there. */
export function withEvent(messages: readonly ChatMessage[], id: string, event: StreamEvent): ChatMessage[] {
  return messages.map((message) => {
    if (message.id !== id) return message;
    switch (event.__typename) {
      case 'MessageCompleted':
      case 'MessageFailed':
        // Where the chat is not stored, this page alone knows what the reply follows.
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

/** The same request as a command for a terminal. */
export function curlOf(baseAddress: string, model: string, messages: readonly ChatMessage[]): string {
  const turns = messages
    .filter((message) => message.role === 'USER' || message.content !== '')
    .map(({ role, content, attachments }) => ({
      role: role.toLowerCase(),
      content:
        attachments.length === 0
          ? content
          : [
              { type: 'text', text: content },
              ...attachments.map(({ mimeType, dataBase64 }) => ({
                type: 'image_url',
                image_url: { url: `data:${mimeType};base64,${dataBase64}` },
              })),
            ],
    }));
  const body = JSON.stringify({ model, stream: true, messages: turns }, null, 2).replaceAll("'", "'\\''");
  return [
    `curl ${baseAddress}/v1/chat/completions \\`,
    '  -H "Authorization: Bearer $GATEWAY_API_KEY" \\',
    "  -H 'content-type: application/json' \\",
    `  -d '${body}'`,
  ].join('\n');
}
