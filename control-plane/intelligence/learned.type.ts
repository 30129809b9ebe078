/** GraphQL types of the notices about learned items. */
import 'reflect-metadata';
import { Field, ID, InputType, ObjectType } from 'type-graphql';
import { DateTime } from '../graphql/scalars.ts';
import { DerivedItem } from './item.type.ts';

/** An item that was learned, or changed by learning. */
@ObjectType({ description: 'An item that was learned, or changed by learning, since the user saw it last.' })
export class LearnedItem {
  @Field(() => DerivedItem, { description: 'The item with its new text.' })
  item!: DerivedItem;

  @Field(() => String, {
    nullable: true,
    description: 'The text that the user saw last, and that `learnedItemsUndo` restores. Null if it is new.',
  })
  replacedText?: string | null;

  @Field(() => DateTime, { description: 'When it was learned or changed.' })
  learnedAt!: Date;
}

/** Input of `learnedItemsUndo`. */
@InputType({ description: 'Learned items to undo.' })
export class LearnedItemsUndoInput {
  @Field(() => [ID], { description: 'The items, at most 100.' })
  ids!: string[];
}

/** Input of `learnedItemsSeen`. */
@InputType({ description: 'Learned items that a page shows, or that the user has dismissed.' })
export class LearnedItemsSeenInput {
  @Field(() => [ID], { description: 'The items, at most 100.' })
  ids!: string[];

  @Field(() => Boolean, {
    defaultValue: false,
    description:
      'Whether the notices disappear now; otherwise they do 10 minutes after they were shown first.',
  })
  dismiss!: boolean;
}
