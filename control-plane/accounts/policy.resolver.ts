/** Publishing the privacy policy on the API. */
import 'reflect-metadata';
import {
  Arg,
  Ctx,
  Field,
  FieldResolver,
  InputType,
  Mutation,
  ObjectType,
  Query,
  Resolver,
} from 'type-graphql';
import { AdminQuery } from '../admin-query.ts';
import { actorOf, Authorized, Public } from '../context.ts';
import type { Context } from '../context.ts';
import { outcome, UserError } from '../errors.ts';
import { DateTime } from '../scalars.ts';
import { policyVersions, publicPolicyVersions, publishPolicy } from './policy.service.ts';
import { PolicyVersion } from './user.type.ts';

/** A new version of the privacy policy. */
@InputType({ description: 'A new version of the privacy policy.' })
export class AdminPolicyInput {
  @Field(() => String, { description: 'Its number, e.g. 2.0.' })
  version!: string;

  @Field(() => String, { description: 'The text in Markdown.' })
  markdown!: string;

  @Field(() => String, { description: 'What changed; stands in the audit log too.' })
  changeSummary!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Why; kept in the audit log. When left out, what changed is the reason.',
  })
  reason?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'From when it is in force; at once when left out.' })
  effectiveAt?: Date | null;

  @Field(() => Boolean, { description: 'Whether those who accepted an earlier one have to accept this one.' })
  requireReacceptance!: boolean;
}

/** Result of publishing. */
@ObjectType({ description: 'Result of publishing.' })
export class PolicyPayload {
  @Field(() => PolicyVersion, { nullable: true, description: 'The version.' })
  policy?: PolicyVersion | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** The policy's history, and what administrators do with it. */
@Resolver()
export class PolicyResolver {
  @Public()
  @Query(() => [PolicyVersion], {
    description: 'The latest 50 versions of the privacy policy that are or were in force, newest first.',
  })
  privacyPolicyVersions(@Ctx() context: Context): Promise<PolicyVersion[]> {
    return publicPolicyVersions(context.em);
  }

  @Authorized('ADMIN')
  @Mutation(() => PolicyPayload, { description: 'Publishes a version of the privacy policy.' })
  adminPolicyPublish(
    @Ctx() context: Context,
    @Arg('input', () => AdminPolicyInput, { description: 'The version.' }) input: AdminPolicyInput,
  ): Promise<PolicyPayload> {
    return outcome({ policy: null }, async () => ({
      policy: await publishPolicy(context.em, input, actorOf(context)),
    }));
  }
}

/** Every version, for administrators. */
@Resolver(() => AdminQuery)
export class PolicyVersionsResolver {
  @FieldResolver(() => [PolicyVersion], {
    description: 'The latest 100 versions of the privacy policy, newest first; those not yet in force too.',
  })
  policyVersions(@Ctx() context: Context): Promise<PolicyVersion[]> {
    return policyVersions(context.em);
  }
}
