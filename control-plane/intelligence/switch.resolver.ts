/** The switches of Personal Intelligence on the API: nobody but the user sees or turns them. */
import 'reflect-metadata';
import { Arg, Ctx, FieldResolver, Mutation, Resolver, Root, Subscription } from 'type-graphql';
import { User } from '../accounts/user.type.ts';
import { Authorized, viewerOf } from '../context.ts';
import type { Context } from '../context.ts';
import { outcome, requestError } from '../errors.ts';
import { setSwitch, switchesOf } from './switch.service.ts';
import { PersonalIntelligence, PersonalIntelligencePayload, PersonalSwitchInput } from './switch.type.ts';

/** Personal Intelligence of the signed-in user. */
@Resolver(() => User)
export class PersonalIntelligenceResolver {
  @FieldResolver(() => PersonalIntelligence, {
    description: 'Personal Intelligence; for the user alone, administrators are refused.',
  })
  personalIntelligence(@Root() user: User, @Ctx() context: Context): Promise<PersonalIntelligence> {
    if (user.id !== viewerOf(context).id)
      throw requestError('FORBIDDEN', 'Personal Intelligence is for its user alone.');
    return personalIntelligenceOf(context, user.id);
  }

  @Authorized('USER')
  @Mutation(() => PersonalIntelligencePayload, {
    description: 'Turns a switch. With the last one off, nothing more of the Playground is stored.',
  })
  personalSwitchSet(
    @Ctx() context: Context,
    @Arg('input', () => PersonalSwitchInput, { description: 'The switch.' }) input: PersonalSwitchInput,
  ): Promise<PersonalIntelligencePayload> {
    return outcome({ personalIntelligence: null }, async () => {
      const { id } = viewerOf(context);
      await setSwitch(context.em, id, input);
      return { personalIntelligence: await personalIntelligenceOf(context, id) };
    });
  }

  @Authorized('USER')
  @Subscription(() => PersonalIntelligence, {
    topics: 'personalIntelligenceUpdated',
    topicId: ({ context }: { context: Context }) => viewerOf(context).id,
    description: "The caller's switches whenever one is turned, in whichever browser.",
  })
  personalIntelligenceUpdated(@Ctx() context: Context): Promise<PersonalIntelligence> {
    return personalIntelligenceOf(context, viewerOf(context).id);
  }
}

async function personalIntelligenceOf({ em }: Context, userId: string): Promise<PersonalIntelligence> {
  const switches = await switchesOf(em, userId);
  return { userId, storing: switches.some((item) => item.enabled), switches };
}
