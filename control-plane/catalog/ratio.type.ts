/** GraphQL types of the price ratios of billing groups. */
import 'reflect-metadata';
import { Field, InputType, Int, ObjectType } from 'type-graphql';
import type { Group } from '@gateway/shared/catalog';
import { BillingGroup } from '../graphql/enums.ts';
import { UserError } from '../graphql/errors.ts';
import { DateTime, Decimal } from '../graphql/scalars.ts';

/** Price ratio of a billing group. */
@ObjectType({ description: 'Price ratio of a billing group.' })
export class GroupRatio {
  @Field(() => BillingGroup, { description: 'The group.' })
  group!: Group;

  @Field(() => Decimal, { description: 'Factor by which every price is multiplied.' })
  ratio!: string;

  @Field(() => String, { nullable: true, description: 'Who belongs to the group.' })
  description?: string | null;

  @Field(() => DateTime, { description: 'When it was last changed.' })
  updatedAt!: Date;

  @Field(() => Int, { description: 'Number of the version. Send it with adminGroupRatioSet.' })
  version!: number;
}

/** Input of `adminGroupRatioSet`. */
@InputType({ description: 'A new ratio of a billing group.' })
export class AdminGroupRatioInput {
  @Field(() => BillingGroup, { description: 'The group.' })
  group!: Group;

  @Field(() => Decimal, { description: 'The new ratio: at most 10, with at most four fraction digits.' })
  ratio!: string;

  @Field(() => Int, { description: 'Version of the ratio when it was read.' })
  version!: number;

  @Field(() => String, { description: 'Reason, kept in the audit log.' })
  reason!: string;
}

/** Result of a change of a ratio. */
@ObjectType({ description: 'Result of a change of a ratio.' })
export class GroupRatioPayload {
  @Field(() => GroupRatio, { nullable: true, description: 'The ratio; null if the mutation failed.' })
  groupRatio?: GroupRatio | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}
