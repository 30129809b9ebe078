/** Rows of chats that are stored because their user has a switch of Personal Intelligence on. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';

export type MessageRole = 'USER' | 'ASSISTANT';
export type MessageState = 'STREAMING' | 'COMPLETE' | 'STOPPED' | 'FAILED';

/** A picture that goes with a message. */
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
    title: p.text(),
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
    /** What it follows: messages of a chat are a tree, for an edited or repeated one makes a branch. */
    parentId: p.text().nullable(),
    role: p.text().$type<MessageRole>(),
    content: p.text(),
    reasoning: p.text().nullable(),
    attachments: p.json<Attachment[]>(),
    state: p.text().$type<MessageState>(),
    errorCode: p.text().nullable(),
    error: p.text().nullable(),
    modelName: p.text().nullable(),
    /** The x-request-id of the answer, which the usage log knows too. */
    requestId: p.text().nullable(),
    /** On replies: what made them, so that a repeated call makes no second one. */
    idempotencyKey: p.text().nullable(),
    inputMac: p.text().nullable(),
    createdAt: p.datetime(),
  },
});
export type ConversationMessageRow = InferEntity<typeof ConversationMessageSchema>;
