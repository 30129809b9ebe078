/** A chat without a database row, and its form as JSON between instances of the control plane. */
import type { MessageView } from './running-reply.ts';

/**
 * A chat without a row: new, temporary, or used while all switches are off. It is sent as JSON between
 * instances of different releases: member names must not change.
 */
export interface UnstoredChat {
  id: string;
  userId: string;
  title: string;
  modelName: string;
  temporary: boolean;
  createdAt: Date;
  updatedAt: Date;
  /** Whether it has messages that were not stored. If so, later messages are not stored either. */
  begun: boolean;
  /** The last question and its reply, so that a page can be reloaded; dropped soon after the reply ended. */
  messages: MessageView[];
}

/** A message received as JSON, with its time as a Date. An earlier release sends no `usedItems`. */
export function messageFromJson(message: MessageView): MessageView {
  const { usedItems } = message as { usedItems?: MessageView['usedItems'] };
  return { ...message, usedItems: usedItems ?? [], createdAt: new Date(message.createdAt) };
}

/** A chat received as JSON, with its times as Dates. */
export function chatFromJson(chat: UnstoredChat): UnstoredChat {
  return {
    ...chat,
    createdAt: new Date(chat.createdAt),
    updatedAt: new Date(chat.updatedAt),
    messages: chat.messages.map(messageFromJson),
  };
}
