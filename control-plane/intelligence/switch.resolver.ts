/** GraphQL operations of the switches of Personal Intelligence. Only the user can read and change them. */
import 'reflect-metadata';
import { Arg, Ctx, FieldResolver, Mutation, Resolver, Root, Subscription } from 'type-graphql';
import { User } from '../accounts/user.type.ts';
import { actorOf, Authorized, viewerOf } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome, requestError } from '../graphql/errors.ts';
import { personalIntelligenceOf, setSwitch } from './switch.service.ts';
import { PersonalIntelligence, PersonalIntelligencePayload, PersonalSwitchInput } from './switch.type.ts';

/** Personal Intelligence of the signed-in user. */
@Resolver(() => User)
export class PersonalIntelligenceResolver {
  @FieldResolver(() => PersonalIntelligence, {
    description: 'Personal Intelligence of the user. Only the user may read it; administrators may not.',
  })
  personalIntelligence(@Root() user: User, @Ctx() context: Context): Promise<PersonalIntelligence> {
    if (user.id !== viewerOf(context).id)
      throw requestError('FORBIDDEN', 'Only the user may read their Personal Intelligence settings.');
    return personalIntelligenceOf(context.em, user.id);
  }

  @Authorized('USER')
  @Mutation(() => PersonalIntelligencePayload, {
    description: 'Turns a switch on or off. While all are off, no chats of the Playground are stored.',
  })
  personalSwitchSet(
    @Ctx() context: Context,
    @Arg('input', () => PersonalSwitchInput, { description: 'The switch.' }) input: PersonalSwitchInput,
  ): Promise<PersonalIntelligencePayload> {
    return outcome({ personalIntelligence: null }, async () => {
      const { id } = viewerOf(context);
      await setSwitch(context.em, { userId: id, actor: actorOf(context) }, input);
      return { personalIntelligence: await personalIntelligenceOf(context.em, id) };
    });
  }

  @Authorized('USER')
  @Subscription(() => PersonalIntelligence, {
    topics: 'personalIntelligenceUpdated',
    topicId: ({ context }: { context: Context }) => viewerOf(context).id,
    description: "The caller's switches and items, whenever one of them changes or is learned.",
  })
  personalIntelligenceUpdated(@Ctx() context: Context): Promise<PersonalIntelligence> {
    return personalIntelligenceOf(context.em, viewerOf(context).id);
  }
}
