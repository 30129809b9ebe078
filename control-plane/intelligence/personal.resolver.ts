/** GraphQL operations of the settings of Personal Intelligence for administrators, who see counts only. */
import 'reflect-metadata';
import {
  Arg,
  Ctx,
  Field,
  FieldResolver,
  ID,
  InputType,
  Int,
  Mutation,
  ObjectType,
  Resolver,
} from 'type-graphql';
import { AdminQuery } from '../graphql/admin-query.ts';
import { actorOf, Authorized } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome, UserError } from '../graphql/errors.ts';
import { Money } from '../graphql/scalars.ts';
import { queueState } from './deriving/queue.ts';
import { countLearners } from './item.queries.ts';
import { PersonalIntelligenceHealth } from './item.type.ts';
import { personalSettings, setPersonalSettings } from './personal.settings.ts';

/** Settings of Personal Intelligence. */
@ObjectType({ description: 'Settings of Personal Intelligence.' })
export class PersonalIntelligenceSettings {
  @Field(() => String, {
    nullable: true,
    description: 'The model that reads chats; null if none was chosen, then nothing is learned.',
  })
  modelName?: string | null;

  @Field(() => Money, { description: 'What reading may cost per month, at the list price of the model.' })
  monthlyBudget!: bigint;

  @Field(() => Money, { description: 'What reading cost this month (UTC), at the list price of the model.' })
  spentThisMonth!: bigint;

  @Field(() => [ID], {
    nullable: true,
    description: 'Upstreams to which items may be sent; null for all. Other models get none.',
  })
  providerIds?: string[] | null;

  @Field(() => Int, { description: 'Number of changes so far.' })
  version!: number;
}

/** Input of `adminPersonalIntelligenceSet`. */
@InputType({
  description: 'A change of the settings of Personal Intelligence. Fields that are left out stay.',
})
export class AdminPersonalIntelligenceInput {
  @Field(() => String, { nullable: true, description: 'The model that reads chats; empty for none.' })
  modelName?: string | null;

  @Field(() => Money, { nullable: true, description: 'What reading may cost per month.' })
  monthlyBudget?: bigint | null;

  @Field(() => [ID], { nullable: true, description: 'Upstreams to which items may be sent; empty for all.' })
  providerIds?: string[] | null;

  @Field(() => String, { description: 'Reason, kept in the audit log.' })
  reason!: string;
}

/** Result of `adminPersonalIntelligenceSet`. */
@ObjectType({ description: 'Result of changing the settings of Personal Intelligence.' })
export class PersonalIntelligenceSettingsPayload {
  @Field(() => PersonalIntelligenceSettings, {
    nullable: true,
    description: 'The settings; null if the mutation failed.',
  })
  settings?: PersonalIntelligenceSettings | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** The settings and the state of the queue. */
@Resolver(() => AdminQuery)
export class AdminPersonalIntelligenceResolver {
  @FieldResolver(() => PersonalIntelligenceSettings, { description: 'Settings of Personal Intelligence.' })
  personalIntelligenceSettings(@Ctx() { em }: Context): Promise<PersonalIntelligenceSettings> {
    return personalSettings(em);
  }

  @FieldResolver(() => PersonalIntelligenceHealth, {
    description: 'State of Personal Intelligence, in counts.',
  })
  async personalIntelligenceHealth(@Ctx() { em }: Context): Promise<PersonalIntelligenceHealth> {
    return { ...(await queueState(em, null)), users: await countLearners(em) };
  }

  @Authorized('ADMIN')
  @Mutation(() => PersonalIntelligenceSettingsPayload, {
    description: 'Changes the settings of Personal Intelligence; audited.',
  })
  adminPersonalIntelligenceSet(
    @Ctx() context: Context,
    @Arg('input', () => AdminPersonalIntelligenceInput, { description: 'The change.' })
    input: AdminPersonalIntelligenceInput,
  ): Promise<PersonalIntelligenceSettingsPayload> {
    return outcome({ settings: null }, async () => ({
      settings: await setPersonalSettings(context.em, input, actorOf(context)),
    }));
  }
}
