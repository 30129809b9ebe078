/** API types of chats in the Playground, and the inputs and payloads of their mutations. */
import 'reflect-metadata';
import { ArgsType, Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { connectionOf } from '../connections.ts';
import { UserError } from '../errors.ts';
import { PersonalIntelligence } from '../intelligence/switch.type.ts';
import { NodeInterface } from '../node-interface.ts';
import { DateTime } from '../scalars.ts';

/** A chat. */
@ObjectType({ implements: NodeInterface, description: 'A chat of the Playground.' })
export class Conversation extends NodeInterface {
  /** For the model and the messages; no fields themselves. */
  userId!: string;
  modelName!: string;

  @Field(() => String, { description: 'A title, from the first message unless renamed; may be empty.' })
  title!: string;

  @Field(() => Boolean, { description: 'Whether it was begun as one that is never stored.' })
  temporary!: boolean;

  @Field(() => Boolean, { description: 'Whether it is stored.' })
  stored!: boolean;

  @Field(() => DateTime, { description: 'When it was begun.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was last written in.' })
  updatedAt!: Date;
}

export const ConversationConnection = connectionOf('Conversation', Conversation);

/** The Playground of a user. */
@ObjectType({ description: 'The Playground of a user.' })
export class PlaygroundHome {
  /** Not a field: whose it is. */
  userId!: string;

  @Field(() => Boolean, { description: 'Whether new chats are stored, unless they are temporary.' })
  storing!: boolean;
}

/** Page and search of stored chats. */
@ArgsType()
export class ConversationArguments {
  @Field(() => Int, { defaultValue: 30, description: 'How many items, 1 to 100.' })
  first!: number;

  @Field(() => String, { nullable: true, description: 'Cursor of the item before the page.' })
  after?: string | null;

  @Field(() => String, { nullable: true, description: 'Words in the title or in a message.' })
  search?: string | null;
}

/** A new chat. */
@InputType({ description: 'A new chat.' })
export class ConversationCreateInput {
  @Field(() => String, { description: 'The model that answers unless a message names another.' })
  modelName!: string;

  @Field(() => Boolean, { defaultValue: false, description: 'Never store it, whatever is switched on.' })
  temporary!: boolean;
}

/** Renames something. */
@InputType({ description: 'Renames something.' })
export class RenameInput {
  @Field(() => ID, { description: 'Its id.' })
  id!: string;

  @Field(() => String, { description: 'The new title, at most 80 characters.' })
  title!: string;
}

/** Names a chat to delete. */
@InputType({ description: 'Names a chat to delete.' })
export class ConversationDeleteInput {
  @Field(() => ID, { description: 'The chat.' })
  id!: string;
}

/** Deletes all chats. */
@InputType({ description: 'Deletes all chats.' })
export class ConversationsDeleteAllInput {
  @Field(() => String, { description: 'The word DELETE, so that it does not happen by accident.' })
  confirm!: string;
}

/** Result of a change of a chat. */
@ObjectType({ description: 'Result of a change of a chat.' })
export class ConversationPayload {
  @Field(() => Conversation, { nullable: true, description: 'The chat.' })
  conversation?: Conversation | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Result of deleting chats. */
@ObjectType({ description: 'Result of deleting chats.' })
export class ConversationDeletePayload {
  @Field(() => [ID], { description: 'Chats that are gone.' })
  deletedIds!: string[];

  @Field(() => PersonalIntelligence, { nullable: true, description: 'Personal Intelligence after it.' })
  personalIntelligence?: PersonalIntelligence | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}
