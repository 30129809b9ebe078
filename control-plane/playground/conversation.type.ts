/** GraphQL types of chats in the Playground, and inputs and payloads of their mutations. */
import 'reflect-metadata';
import { ArgsType, Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { connectionOf } from '../graphql/connections.ts';
import { UserError } from '../graphql/errors.ts';
import { PersonalIntelligence } from '../intelligence/switch.type.ts';
import { GlobalObject } from '../graphql/global-object.ts';
import { DateTime } from '../graphql/scalars.ts';

/** A chat. */
@ObjectType({ implements: GlobalObject, description: 'A chat of the Playground.' })
export class Conversation extends GlobalObject {
  /** Used to resolve the model and the messages; not fields of the API. */
  userId!: string;
  modelName!: string;

  @Field(() => String, {
    description: 'Title; the first line of the first message unless renamed. May be empty.',
  })
  title!: string;

  @Field(() => Boolean, { description: 'Whether it was created as a chat that is never stored.' })
  temporary!: boolean;

  @Field(() => Boolean, { description: 'Whether it is stored.' })
  stored!: boolean;

  @Field(() => DateTime, { description: 'When it was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When its last message was sent.' })
  updatedAt!: Date;
}

export const ConversationConnection = connectionOf('Conversation', Conversation);

/** The Playground of a user. */
@ObjectType({ description: 'The Playground of a user.' })
export class PlaygroundHome {
  /** The user; not a field of the API. */
  userId!: string;

  @Field(() => Boolean, { description: 'Whether new chats are stored, unless they are temporary.' })
  storing!: boolean;
}

/** Arguments of the list of stored chats: page and search. */
@ArgsType()
export class ConversationArguments {
  @Field(() => Int, { defaultValue: 30, description: 'Number of items, 1 to 100.' })
  first!: number;

  @Field(() => String, { nullable: true, description: 'Cursor of the item before the page.' })
  after?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Cursor of the item after the page, instead of `after`: the page ends right before it.',
  })
  before?: string | null;

  @Field(() => String, { nullable: true, description: 'Text in the title or in a message.' })
  search?: string | null;
}

/** Input of `conversationCreate`. */
@InputType({ description: 'A new chat.' })
export class ConversationCreateInput {
  @Field(() => String, { description: 'Name of the model for messages that name no other.' })
  modelName!: string;

  @Field(() => Boolean, {
    defaultValue: false,
    description: 'Whether the chat is never stored, even if a switch is on.',
  })
  temporary!: boolean;
}

/** Input of `conversationRename`. */
@InputType({ description: 'A new title of a chat.' })
export class RenameInput {
  @Field(() => ID, { description: 'The chat.' })
  id!: string;

  @Field(() => String, { description: 'The new title, 1 to 80 characters.' })
  title!: string;
}

const DELETE_ITEMS = 'Whether items that were learned from deleted chats alone are deleted too.';

/** Input of `conversationDelete`. */
@InputType({ description: 'A chat to delete.' })
export class ConversationDeleteInput {
  @Field(() => ID, { description: 'The chat.' })
  id!: string;

  @Field(() => Boolean, { defaultValue: true, description: DELETE_ITEMS })
  deleteDerivedItems!: boolean;
}

/** Input of `conversationsDeleteAll`. */
@InputType({ description: 'Confirms the deletion of all chats.' })
export class ConversationsDeleteAllInput {
  @Field(() => String, { description: 'The word DELETE, to prevent an accident.' })
  confirm!: string;

  @Field(() => Boolean, { defaultValue: true, description: DELETE_ITEMS })
  deleteDerivedItems!: boolean;
}

/** Result of a change of a chat. */
@ObjectType({ description: 'Result of a change of a chat.' })
export class ConversationPayload {
  @Field(() => Conversation, { nullable: true, description: 'The chat; null if the mutation failed.' })
  conversation?: Conversation | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Result of deleting chats. */
@ObjectType({ description: 'Result of deleting chats.' })
export class ConversationDeletePayload {
  @Field(() => [ID], { description: 'Ids of the deleted chats.' })
  deletedIds!: string[];

  @Field(() => Int, { description: 'Number of items that were deleted with the chats.' })
  deletedItemCount!: number;

  @Field(() => PersonalIntelligence, {
    nullable: true,
    description: 'Personal Intelligence after the deletion.',
  })
  personalIntelligence?: PersonalIntelligence | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}
