/** GraphQL types of the items of Personal Intelligence, and inputs and payloads of their mutations. */
import 'reflect-metadata';
import { ArgsType, Field, Float, ID, InputType, Int, ObjectType } from 'type-graphql';
import { connectionOf } from '../graphql/connections.ts';
import { describeEnum } from '../graphql/enums.ts';
import { UserError } from '../graphql/errors.ts';
import { GlobalObject } from '../graphql/global-object.ts';
import { DateTime } from '../graphql/scalars.ts';
import type { ItemOrigin } from './item.rows.ts';
import type { PersonalKind } from './switch.entity.ts';
import { PersonalItemKind } from './switch.type.ts';

export const ItemOriginEnum = describeEnum<ItemOrigin>('ItemOrigin', 'Who wrote an item.', {
  DERIVED: 'It was learned from chats.',
  EDITED: 'It was learned, and the user edited it. Learning does not change it any more.',
  USER_ADDED: 'The user wrote it.',
});

/** Something that was learned about the user. */
@ObjectType({
  implements: GlobalObject,
  description: 'Something that Personal Intelligence knows about the user. Only the user can read it.',
})
export class DerivedItem extends GlobalObject {
  /** The user; not a field of the API. */
  userId!: string;

  @Field(() => PersonalItemKind, { description: 'What it is about.' })
  kind!: PersonalKind;

  @Field(() => String, { description: 'The text, at most 600 characters.' })
  text!: string;

  @Field(() => ItemOriginEnum, { description: 'Who wrote it.' })
  origin!: ItemOrigin;

  @Field(() => String, {
    nullable: true,
    description:
      'How sure it is, as a decimal from 0 to 1: it rises with each further chat. Null if the user wrote it.',
  })
  confidence?: string | null;

  @Field(() => Boolean, { description: 'Whether it is sent before all others.' })
  pinned!: boolean;

  @Field(() => Boolean, { description: 'Whether it is kept but never sent, because it is not relevant.' })
  suppressed!: boolean;

  @Field(() => DateTime, { description: 'When it was learned or written.' })
  firstSeenAt!: Date;

  @Field(() => DateTime, { description: 'When a chat last confirmed it.' })
  lastSeenAt!: Date;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When it is deleted unless a chat confirms it; null for never.',
  })
  expiresAt?: Date | null;

  @Field(() => Int, { description: 'How often it was sent with a message.' })
  timesUsed!: number;

  @Field(() => Int, { description: 'Version for `derivedItemUpdate`.' })
  version!: number;
}

export const DerivedItemConnection = connectionOf('DerivedItem', DerivedItem);

/** A message from which an item was learned. */
@ObjectType({ description: 'A message of the user from which an item was learned.' })
export class ItemSource {
  @Field(() => ID, { description: 'The chat.' })
  conversationId!: string;

  @Field(() => String, { description: 'Title of the chat. May be empty.' })
  conversationTitle!: string;

  @Field(() => ID, { description: 'The message.' })
  messageId!: string;

  @Field(() => String, { description: 'Start of the message, at most 160 characters.' })
  excerpt!: string;

  @Field(() => DateTime, { description: 'When the message was sent.' })
  sentAt!: Date;
}

/** A line that was sent with a question. */
@ObjectType({ description: 'A line about the user that was sent with a question.' })
export class UsedItem {
  @Field(() => ID, { description: 'Id of the item. Empty if it was deleted since.' })
  itemId!: string;

  @Field(() => PersonalItemKind, { description: 'What the line is about.' })
  kind!: PersonalKind;

  @Field(() => String, {
    description:
      'The line exactly as it was sent, also if the item was changed since. ' +
      'Empty if the item was deleted since.',
  })
  text!: string;
}

/** The text about the user that would be sent with a draft. */
@ObjectType({ description: 'What would be sent about the user with a message.' })
export class InjectionPreview {
  @Field(() => String, { description: 'The block exactly as it would be sent; empty if nothing would be.' })
  text!: string;

  @Field(() => Int, { description: 'Estimated size in tokens.' })
  tokens!: number;

  @Field(() => Int, { description: 'Maximum size in tokens: 600, or 2 % of the context of the model.' })
  budgetTokens!: number;

  @Field(() => [DerivedItem], { description: 'The items in the block.' })
  items!: DerivedItem[];

  @Field(() => Int, { description: 'Number of items that did not fit.' })
  omitted!: number;
}

/** Arguments of the list of items. */
@ArgsType()
export class ItemArguments {
  @Field(() => Int, { defaultValue: 50, description: 'Page size, 1 to 100.' })
  first!: number;

  @Field(() => String, { nullable: true, description: 'Cursor of the item before the page.' })
  after?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Cursor of the item after the page, instead of `after`: the page ends right before it.',
  })
  before?: string | null;

  @Field(() => [PersonalItemKind], { nullable: true, description: 'Kinds; by default all.' })
  kinds?: PersonalKind[] | null;

  @Field(() => String, { nullable: true, description: 'Text that the item contains.' })
  search?: string | null;
}

/** Arguments of the preview. */
@ArgsType()
export class PreviewArguments {
  @Field(() => String, { description: 'Name of the model.' })
  modelName!: string;

  @Field(() => String, { defaultValue: '', description: 'The message.' })
  draft!: string;
}

/** Input of `derivedItemCreate`. */
@InputType({ description: 'An item that the user writes.' })
export class DerivedItemCreateInput {
  @Field(() => PersonalItemKind, { description: 'What it is about.' })
  kind!: PersonalKind;

  @Field(() => String, { description: 'The text, 1 to 600 characters.' })
  text!: string;
}

/** Input of `derivedItemUpdate`. */
@InputType({ description: 'A change of an item. Fields that are left out stay.' })
export class DerivedItemUpdateInput {
  @Field(() => ID, { description: 'The item.' })
  id!: string;

  @Field(() => Int, { description: 'The version that was read.' })
  version!: number;

  @Field(() => String, { nullable: true, description: 'The new text, 1 to 600 characters.' })
  text?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether it is sent before all others.' })
  pinned?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether it is kept but never sent.' })
  suppressed?: boolean | null;
}

/** Input of `derivedItemDelete`. */
@InputType({ description: 'Items to delete.' })
export class DerivedItemDeleteInput {
  @Field(() => [ID], { description: 'The items, at most 100.' })
  ids!: string[];

  @Field(() => Boolean, {
    defaultValue: true,
    description: 'Whether they are not learned again. For that, only hashes of their words are kept.',
  })
  neverRelearn!: boolean;
}

/** Input of `derivedItemsDeleteAll`. */
@InputType({ description: 'Confirms the deletion of all items.' })
export class DerivedItemsDeleteAllInput {
  @Field(() => [PersonalItemKind], { nullable: true, description: 'Kinds; by default all.' })
  kinds?: PersonalKind[] | null;

  @Field(() => String, { description: 'The word DELETE, to prevent an accident.' })
  confirm!: string;
}

/** Input of `personalForgetEverything`. */
@InputType({ description: 'Confirms that everything is forgotten.' })
export class ForgetEverythingInput {
  @Field(() => String, { description: 'The word FORGET, to prevent an accident.' })
  confirm!: string;
}

/** Result of writing an item. */
@ObjectType({ description: 'Result of writing an item.' })
export class DerivedItemPayload {
  @Field(() => DerivedItem, { nullable: true, description: 'The item; null if the mutation failed.' })
  item?: DerivedItem | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** State of Personal Intelligence of all users, in counts. */
@ObjectType({ description: 'State of Personal Intelligence of all users, in counts. It holds no content.' })
export class PersonalIntelligenceHealth {
  @Field(() => Int, { description: 'Chats that wait to be read.' })
  waiting!: number;

  @Field(() => Int, { description: 'Those of them that wait for the next month: the budget is spent.' })
  postponed!: number;

  @Field(() => Int, {
    description: 'Chats that could not be read. They wait until they continue, or the settings are changed.',
  })
  quarantined!: number;

  @Field(() => Float, { description: 'Time since the oldest waiting chat was due, in seconds.' })
  ageSeconds!: number;

  @Field(() => Int, { description: 'Users with a switch that is on.' })
  users!: number;
}
