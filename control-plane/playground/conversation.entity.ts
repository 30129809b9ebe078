/** Database rows of stored chats and their messages. Chats are stored while a switch of their user is on. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';

export type MessageRole = 'USER' | 'ASSISTANT';
export type MessageState = 'STREAMING' | 'COMPLETE' | 'STOPPED' | 'FAILED';

/** A picture of a message. */
export interface Attachment {
  mimeType: string;
  dataBase64: string;
}

export const ConversationSchema = defineEntity({
  name: 'Conversation',
  tableName: 'conversation',
  properties: {
    id: p.text().primary(),
    userId: p.text(),
    /** Empty once the title is encrypted. */
    title: p.text(),
    titleSealed: p.blob().nullable(),
    modelName: p.text(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
});
export type ConversationRow = InferEntity<typeof ConversationSchema>;

export const ConversationMessageSchema = defineEntity({
  name: 'ConversationMessage',
  tableName: 'conversation_message',
  properties: {
    id: p.text().primary(),
    conversationId: p.text(),
    /** Order of creation; null in rows of an earlier release, which precede all others. */
    position: p.bigint().nullable(),
    /** The previous message. Messages form a tree, because an edited or regenerated one starts a branch. */
    parentId: p.text().nullable(),
    role: p.text().$type<MessageRole>(),
    /** The encrypted texts. Null in a row of an earlier release; its texts are in the next three columns. */
    sealed: p.blob().nullable(),
    /** The encrypted pictures; null without pictures. */
    picturesSealed: p.blob().nullable(),
    content: p.text(),
    reasoning: p.text().nullable(),
    attachments: p.json<Attachment[]>(),
    state: p.text().$type<MessageState>(),
    errorCode: p.text().nullable(),
    error: p.text().nullable(),
    modelName: p.text().nullable(),
    /** x-request-id of the request to the data plane, as in the usage log. */
    requestId: p.text().nullable(),
    /** On replies: idempotency key and MAC of the input of the send, so that repeating it has no effect. */
    idempotencyKey: p.text().nullable(),
    inputMac: p.text().nullable(),
    createdAt: p.datetime(),
  },
});
export type ConversationMessageRow = InferEntity<typeof ConversationMessageSchema>;
