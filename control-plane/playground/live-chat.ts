/** A chat that has no row, and how it travels from one process of the control plane to another. */
import type { MessageView } from './live-reply.ts';

/** A chat that has no row: new, temporary, or written while all switches are off. */
export interface LiveChat {
  id: string;
  userId: string;
  title: string;
  modelName: string;
  temporary: boolean;
  createdAt: Date;
  updatedAt: Date;
  /** Whether messages were sent in it that are stored nowhere: then none of it is stored later. */
  begun: boolean;
  /** The last question and its reply, for a reload; dropped soon after the end. */
  messages: MessageView[];
}

/** A message that came as JSON, with its time as one again. */
export function arrivedMessage(message: MessageView): MessageView {
  return { ...message, createdAt: new Date(message.createdAt) };
}

/** A chat that came as JSON, with its times as such again. */
export function arrivedChat(chat: LiveChat): LiveChat {
  return {
    ...chat,
    createdAt: new Date(chat.createdAt),
    updatedAt: new Date(chat.updatedAt),
    messages: chat.messages.map(arrivedMessage),
  };
}
