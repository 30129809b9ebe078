/** GraphQL types of messages in the Playground, and of the events of a reply that is being written. */
import 'reflect-metadata';
import { createUnionType, Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { connectionOf } from '../graphql/connections.ts';
import { describeEnum } from '../graphql/enums.ts';
import { UserError } from '../graphql/errors.ts';
import { GlobalObject } from '../graphql/global-object.ts';
import { DateTime, Money } from '../graphql/scalars.ts';
import { UsedItem } from '../intelligence/item.type.ts';
import type { MessageRole, MessageState } from './conversation.entity.ts';
import { ReplySettingsInput } from './reply-settings.type.ts';

export const MessageRoleEnum = describeEnum<MessageRole>('MessageRole', 'Who wrote a message.', {
  USER: 'The user.',
  ASSISTANT: 'The model.',
});

export const MessageStateEnum = describeEnum<MessageState>('MessageState', 'Progress of a message.', {
  STREAMING: 'The reply is being written. Subscribe to messageStream to follow it.',
  COMPLETE: 'The message is complete.',
  STOPPED: 'The user stopped the reply. The text so far is kept, and the request is charged.',
  FAILED: 'The reply failed and was not charged.',
});

/** A picture with its media type. */
@ObjectType({ description: 'A picture that is attached to a message.' })
export class MessageAttachment {
  @Field(() => String, { description: 'Media type, e.g. image/png.' })
  mimeType!: string;

  @Field(() => String, { description: 'The picture in base64.' })
  dataBase64!: string;
}

/** A question or a reply of a chat. */
@ObjectType({ implements: GlobalObject, description: 'A message of a chat.' })
export class Message extends GlobalObject {
  @Field(() => MessageRoleEnum, { description: 'Who wrote the message.' })
  role!: MessageRole;

  @Field(() => String, { description: 'The text so far, in Markdown.' })
  content!: string;

  @Field(() => String, { nullable: true, description: 'Reasoning of the model before its answer.' })
  reasoning?: string | null;

  @Field(() => [MessageAttachment], { description: 'Pictures of the message.' })
  attachments!: MessageAttachment[];

  @Field(() => MessageStateEnum, { description: 'Progress of the message.' })
  state!: MessageState;

  @Field(() => String, {
    nullable: true,
    description: 'Why the reply failed and what to do next, as a text to show; null if it did not fail.',
  })
  error?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Stable code of the failure; null if the reply did not fail.',
  })
  errorCode?: string | null;

  @Field(() => String, { nullable: true, description: 'Name of the model that wrote the reply.' })
  modelName?: string | null;

  @Field(() => ID, { nullable: true, description: 'The previous message; null for the first.' })
  parentId?: string | null;

  @Field(() => String, { nullable: true, description: 'x-request-id of the request, as in the usage log.' })
  requestId?: string | null;

  @Field(() => DateTime, { description: 'When the message was sent, or the reply was started.' })
  createdAt!: Date;

  @Field(() => [UsedItem], { description: 'On replies: what was sent about the user with the question.' })
  usedItems!: UsedItem[];
}

export const MessageConnection = connectionOf('Message', Message);

/** A picture with its media type, to send. */
@InputType({ description: 'A picture to send.' })
export class AttachmentInput {
  @Field(() => String, { description: 'image/png, image/jpeg, image/webp or image/gif.' })
  mimeType!: string;

  @Field(() => String, { description: 'The picture in base64, at most 1,400,000 characters (about 1 MB).' })
  dataBase64!: string;
}

/** A question or a reply that the server does not store. */
@InputType({ description: 'An earlier message of an unstored chat.' })
export class HistoryMessageInput {
  @Field(() => MessageRoleEnum, { description: 'Who wrote the message.' })
  role!: MessageRole;

  @Field(() => String, { description: 'The text.' })
  content!: string;

  @Field(() => [AttachmentInput], { nullable: true, description: 'Pictures of the message.' })
  attachments?: AttachmentInput[] | null;
}

/** Input of `messageSend`. */
@InputType({ description: 'A message to send.' })
export class MessageSendInput {
  @Field(() => ID, { description: 'The chat.' })
  conversationId!: string;

  @Field(() => String, { description: 'The text.' })
  content!: string;

  @Field(() => [AttachmentInput], { nullable: true, description: 'At most four pictures.' })
  attachments?: AttachmentInput[] | null;

  @Field(() => String, { nullable: true, description: 'Name of the model; by default that of the chat.' })
  modelName?: string | null;

  @Field(() => ID, {
    nullable: true,
    description:
      'An earlier message of the user that this message replaces. ' +
      'The replacement starts a branch of the chat.',
  })
  replacesId?: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'The message of a stored chat that this message follows; by default the newest.',
  })
  parentId?: string | null;

  @Field(() => [HistoryMessageInput], {
    nullable: true,
    description: 'Earlier messages of an unstored chat, which the server does not keep.',
  })
  history?: HistoryMessageInput[] | null;

  @Field(() => Boolean, {
    defaultValue: true,
    description: 'Whether items of Personal Intelligence may be sent with the message.',
  })
  useItems!: boolean;

  @Field(() => ReplySettingsInput, { nullable: true, description: 'System prompt and parameters.' })
  settings?: ReplySettingsInput | null;

  @Field(() => String, {
    description: 'Idempotency key: a repeated mutation with the same key sends no second message.',
  })
  idempotencyKey!: string;
}

/** Input of `messageRegenerate`. */
@InputType({ description: 'Selects a reply of a stored chat that the model writes again.' })
export class MessageRegenerateInput {
  @Field(() => ID, { description: 'The reply to write again.' })
  messageId!: string;

  @Field(() => String, { nullable: true, description: 'Name of the model; by default that of the reply.' })
  modelName?: string | null;

  @Field(() => Boolean, {
    defaultValue: true,
    description: 'Whether items of Personal Intelligence may be sent with the message.',
  })
  useItems!: boolean;

  @Field(() => ReplySettingsInput, { nullable: true, description: 'System prompt and parameters.' })
  settings?: ReplySettingsInput | null;

  @Field(() => String, {
    description: 'Idempotency key: a repeated mutation with the same key writes no second reply.',
  })
  idempotencyKey!: string;
}

/** Result of `messageSend`. */
@ObjectType({ description: 'Result of sending a message.' })
export class MessageSendPayload {
  @Field(() => Message, { nullable: true, description: 'The sent message.' })
  userMessage?: Message | null;

  @Field(() => Message, {
    nullable: true,
    description: 'The reply, which is being written: subscribe to messageStream(messageId:).',
  })
  reply?: Message | null;

  @Field(() => Money, { nullable: true, description: 'Price of the reply if it succeeds.' })
  price?: bigint | null;

  @Field(() => Boolean, {
    description: 'Whether an earlier mutation with this idempotency key sent the message.',
  })
  replayed!: boolean;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Result of `messageStop`. */
@ObjectType({ description: 'Result of stopping a reply.' })
export class MessagePayload {
  @Field(() => Message, { nullable: true, description: 'The reply; null if the mutation failed.' })
  message?: Message | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Event: text to append to the reply. */
@ObjectType({ description: 'New text of the reply.' })
export class MessageTextDelta {
  @Field(() => Int, { description: 'seq of the event before this text; 0 for the first.' })
  after!: number;

  @Field(() => Int, {
    description: 'Number of this event. To continue after it, pass it to messageStream as afterSeq.',
  })
  seq!: number;

  @Field(() => String, { description: 'The text to append.' })
  text!: string;
}

/** Event: text to append to the reasoning. */
@ObjectType({ description: "New text of the model's reasoning." })
export class MessageReasoningDelta extends MessageTextDelta {}

/** Event: the reply has ended. */
@ObjectType({ description: 'The reply is complete or was stopped.' })
export class MessageCompleted {
  @Field(() => Int, { description: 'Number of this event, after the last text.' })
  seq!: number;

  @Field(() => Message, { description: 'The reply.' })
  message!: Message;
}

/** Event: the reply has failed. */
@ObjectType({ description: 'The reply failed and was not charged.' })
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
  description: 'An event of a reply that is being written.',
  types: () => [MessageTextDelta, MessageReasoningDelta, MessageCompleted, MessageFailed] as const,
  // Derived classes first, because their objects are instances of the base classes too.
  resolveType: (event) =>
    [MessageReasoningDelta, MessageTextDelta, MessageFailed, MessageCompleted].find(
      (type) => event instanceof type,
    ),
});
