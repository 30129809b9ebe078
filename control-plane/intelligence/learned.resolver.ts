/** GraphQL operations of the notices about learned items. Only their user can read or change them. */
import 'reflect-metadata';
import { Arg, Ctx, FieldResolver, Mutation, Resolver, Root } from 'type-graphql';
import { Authorized } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { changed, requireFew } from './item.resolver.ts';
import { learnedOf, markSeen, undoLearned } from './learned.service.ts';
import { LearnedItem, LearnedItemsSeenInput, LearnedItemsUndoInput } from './learned.type.ts';
import { PersonalIntelligence, PersonalIntelligencePayload } from './switch.type.ts';

/** Notices about recently learned items, and their mutations. */
@Resolver(() => PersonalIntelligence)
export class LearnedItemsResolver {
  @FieldResolver(() => [LearnedItem], {
    description:
      'What was learned or changed since the user saw it last, the newest first: for 7 days until a page ' +
      'has shown it, and for 10 minutes after that. Rewritten summaries are left out.',
  })
  async learned(
    @Root() { userId }: PersonalIntelligence,
    @Ctx() { em, playground }: Context,
  ): Promise<LearnedItem[]> {
    return learnedOf(em, await playground.keys.find(userId), userId);
  }

  @Authorized('USER')
  @Mutation(() => PersonalIntelligencePayload, {
    description:
      'Undoes what was learned: deletes new items, and restores texts that were replaced. What is undone ' +
      'is not learned again.',
  })
  learnedItemsUndo(
    @Ctx() context: Context,
    @Arg('input', () => LearnedItemsUndoInput, { description: 'The items.' }) { ids }: LearnedItemsUndoInput,
  ): Promise<PersonalIntelligencePayload> {
    return changed(context, async (items) => {
      requireFew(ids);
      await undoLearned(items, ids);
    });
  }

  @Authorized('USER')
  @Mutation(() => PersonalIntelligencePayload, {
    description: 'Notes that a page shows what was learned, or that the user has dismissed it.',
  })
  learnedItemsSeen(
    @Ctx() context: Context,
    @Arg('input', () => LearnedItemsSeenInput, { description: 'The items.' }) input: LearnedItemsSeenInput,
  ): Promise<PersonalIntelligencePayload> {
    return changed(context, async (items) => {
      requireFew(input.ids);
      await markSeen(items, input);
    });
  }
}
