/** GraphQL operations that list and publish versions of the privacy policy. */
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
import { AdminQuery } from '../graphql/admin-query.ts';
import { actorOf, Authorized, Public } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome, UserError } from '../graphql/errors.ts';
import { DateTime } from '../graphql/scalars.ts';
import { policyVersions, publicPolicyVersions, publishPolicy } from './policy.service.ts';
import { PolicyVersion } from './user.type.ts';

/** Input of `adminPolicyPublish`. */
@InputType({ description: 'A new version of the privacy policy.' })
export class AdminPolicyInput {
  @Field(() => String, { description: 'Version number, e.g. 2.0.' })
  version!: string;

  @Field(() => String, { description: 'The text in Markdown.' })
  markdown!: string;

  @Field(() => String, { description: 'What changed. Also kept in the audit log.' })
  changeSummary!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Reason, kept in the audit log. Defaults to changeSummary.',
  })
  reason?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'From when it is in force. Defaults to now.' })
  effectiveAt?: Date | null;

  @Field(() => Boolean, {
    description: 'Whether users who accepted an earlier version must accept this one.',
  })
  requireReacceptance!: boolean;
}

/** Result of `adminPolicyPublish`. */
@ObjectType({ description: 'Result of publishing a version of the privacy policy.' })
export class PolicyPayload {
  @Field(() => PolicyVersion, { nullable: true, description: 'The version; null if the mutation failed.' })
  policy?: PolicyVersion | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** The public history of the policy, and its publication by administrators. */
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

/** All versions, for administrators. */
@Resolver(() => AdminQuery)
export class PolicyVersionsResolver {
  @FieldResolver(() => [PolicyVersion], {
    description: 'The latest 100 versions of the privacy policy, newest first, including future ones.',
  })
  policyVersions(@Ctx() context: Context): Promise<PolicyVersion[]> {
    return policyVersions(context.em);
  }
}
