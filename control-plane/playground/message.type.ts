/** API types of messages in the Playground, and the events of a reply being written. */
import 'reflect-metadata';
import { createUnionType, Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { connectionOf } from '../connections.ts';
import { describeEnum } from '../enums.ts';
import { UserError } from '../errors.ts';
import { NodeInterface } from '../node-interface.ts';
import { DateTime, Money } from '../scalars.ts';
import type { MessageRole, MessageState } from './conversation.entity.ts';

export const MessageRoleEnum = describeEnum<MessageRole>('MessageRole', 'Who wrote a message.', {
  USER: 'The user.',
  ASSISTANT: 'The model.',
});

export const MessageStateEnum = describeEnum<MessageState>('MessageState', 'How far a message is.', {
  STREAMING: 'Being written; follow it by messageStream.',
  COMPLETE: 'Whole.',
  STOPPED: 'Stopped by the user; what was written stays and is charged.',
  FAILED: 'Broken off, and not charged.',
});

/** A picture that goes with a message. */
@ObjectType({ description: 'A picture that goes with a message.' })
export class MessageAttachment {
  @Field(() => String, { description: 'Its type, e.g. image/png.' })
  mimeType!: string;

  @Field(() => String, { description: 'Its bytes in base64.' })
  dataBase64!: string;
}

/** One message of a chat. */
@ObjectType({ implements: NodeInterface, description: 'One message of a chat.' })
export class Message extends NodeInterface {
  @Field(() => MessageRoleEnum, { description: 'Who wrote it.' })
  role!: MessageRole;

  @Field(() => String, { description: 'Its text so far, in Markdown.' })
  content!: string;

  @Field(() => String, { nullable: true, description: 'What the model thought aloud before it answered.' })
  reasoning?: string | null;

  @Field(() => [MessageAttachment], { description: 'Pictures that go with it.' })
  attachments!: MessageAttachment[];

  @Field(() => MessageStateEnum, { description: 'How far it is.' })
  state!: MessageState;

  @Field(() => String, { nullable: true, description: 'Why it failed and what to do, for people.' })
  error?: string | null;

  @Field(() => String, { nullable: true, description: 'Stable code of the failure.' })
  errorCode?: string | null;

  @Field(() => String, { nullable: true, description: 'The model that wrote it.' })
  modelName?: string | null;

  @Field(() => ID, { nullable: true, description: 'The message that it follows.' })
  parentId?: string | null;

  @Field(() => String, { nullable: true, description: 'The x-request-id under which it was billed.' })
  requestId?: string | null;

  @Field(() => DateTime, { description: 'When it was sent or begun.' })
  createdAt!: Date;
}

export const MessageConnection = connectionOf('Message', Message);

/** A picture to send. */
@InputType({ description: 'A picture to send.' })
export class AttachmentInput {
  @Field(() => String, { description: 'image/png, image/jpeg, image/webp or image/gif.' })
  mimeType!: string;

  @Field(() => String, { description: 'Its bytes in base64, at most 1 MB.' })
  dataBase64!: string;
}

/** A message of what came before. */
@InputType({ description: 'A message of what came before, for chats that are not stored.' })
export class HistoryMessageInput {
  @Field(() => MessageRoleEnum, { description: 'Who wrote it.' })
  role!: MessageRole;

  @Field(() => String, { description: 'Its text.' })
  content!: string;

  @Field(() => [AttachmentInput], { nullable: true, description: 'Pictures that went with it.' })
  attachments?: AttachmentInput[] | null;
}

/** A message to send. */
@InputType({ description: 'A message to send.' })
export class MessageSendInput {
  @Field(() => ID, { description: 'The chat.' })
  conversationId!: string;

  @Field(() => String, { description: 'The text.' })
  content!: string;

  @Field(() => [AttachmentInput], { nullable: true, description: 'At most four pictures.' })
  attachments?: AttachmentInput[] | null;

  @Field(() => String, { nullable: true, description: "The model to answer; the chat's own when left out." })
  modelName?: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'A message of the user that this one takes the place of; the chat branches there.',
  })
  replacesId?: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'The message of a stored chat that this one follows; the newest one when left out.',
  })
  parentId?: string | null;

  @Field(() => [HistoryMessageInput], {
    nullable: true,
    description: 'What came before, where the chat is not stored: it is kept nowhere here.',
  })
  history?: HistoryMessageInput[] | null;

  @Field(() => String, { description: 'Repeating the call with the same key sends nothing more.' })
  idempotencyKey!: string;
}

/** Asks for another reply. */
@InputType({ description: 'Asks for another reply to the same question of a stored chat.' })
export class MessageRegenerateInput {
  @Field(() => ID, { description: 'The reply to write again.' })
  messageId!: string;

  @Field(() => String, { nullable: true, description: 'Another model; the same one when left out.' })
  modelName?: string | null;

  @Field(() => String, { description: 'Repeating the call with the same key writes no second one.' })
  idempotencyKey!: string;
}

/** Result of sending a message. */
@ObjectType({ description: 'Result of sending a message.' })
export class MessageSendPayload {
  @Field(() => Message, { nullable: true, description: 'The message as sent.' })
  userMessage?: Message | null;

  @Field(() => Message, {
    nullable: true,
    description: 'The reply, being written: subscribe to messageStream(messageId:).',
  })
  reply?: Message | null;

  @Field(() => Money, { nullable: true, description: 'What the reply costs if it succeeds.' })
  price?: bigint | null;

  @Field(() => Boolean, { description: 'Whether an earlier call with this idempotency key did it.' })
  replayed!: boolean;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Result of stopping a reply. */
@ObjectType({ description: 'Result of stopping a reply.' })
export class MessagePayload {
  @Field(() => Message, { nullable: true, description: 'The message.' })
  message?: Message | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** More text of the reply. */
@ObjectType({ description: 'More text of the reply.' })
export class MessageTextDelta {
  @Field(() => Int, { description: 'The place that this text follows; 0 is the beginning.' })
  after!: number;

  @Field(() => Int, { description: 'Its place: pass the last one as afterSeq to go on there.' })
  seq!: number;

  @Field(() => String, { description: 'The text to append.' })
  text!: string;
}

/** More of what the model thinks aloud. */
@ObjectType({ description: 'More of what the model thinks aloud.' })
export class MessageReasoningDelta extends MessageTextDelta {}

/** The reply has ended. */
@ObjectType({ description: 'The reply has ended, whole or stopped.' })
export class MessageCompleted {
  @Field(() => Int, { description: 'Its place, after the last text.' })
  seq!: number;

  @Field(() => Message, { description: 'The reply.' })
  message!: Message;
}

/** The reply broke off. */
@ObjectType({ description: 'The reply broke off, and was not charged.' })
export class MessageFailed extends MessageCompleted {
  @Field(() => String, { description: 'Stable code of the failure, as in `error`.' })
  errorCode!: string;

  @Field(() => UserError, { description: 'What went wrong and what to do next.' })
  error!: UserError;

  @Field(() => Boolean, { description: 'Whether trying again may help.' })
  retryable!: boolean;
}

export const MessageStreamEvent = createUnionType({
  name: 'MessageStreamEvent',
  description: 'What happens to a reply while it is written.',
  types: () => [MessageTextDelta, MessageReasoningDelta, MessageCompleted, MessageFailed] as const,
  // The derived ones first: each of them is one of the others too.
  resolveType: (event) =>
    [MessageReasoningDelta, MessageTextDelta, MessageFailed, MessageCompleted].find(
      (type) => event instanceof type,
    ),
});
