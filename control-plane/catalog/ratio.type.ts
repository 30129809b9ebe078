/** API types of the ratios of billing groups. */
import 'reflect-metadata';
import { Field, InputType, Int, ObjectType } from 'type-graphql';
import type { Group } from '@gateway/shared/catalog';
import { BillingGroup } from '../enums.ts';
import { UserError } from '../errors.ts';
import { DateTime, Decimal } from '../scalars.ts';

/** The ratio of a billing group. */
@ObjectType({ description: 'The ratio of a billing group.' })
export class GroupRatio {
  @Field(() => BillingGroup, { description: 'The group.' })
  group!: Group;

  @Field(() => Decimal, { description: 'Every price is multiplied by it.' })
  ratio!: string;

  @Field(() => String, { nullable: true, description: 'Who is in the group.' })
  description?: string | null;

  @Field(() => DateTime, { description: 'Last change.' })
  updatedAt!: Date;

  @Field(() => Int, { description: 'Counts changes; send it back with an update.' })
  version!: number;
}

/** A group's new ratio. */
@InputType({ description: "A group's new ratio." })
export class AdminGroupRatioInput {
  @Field(() => BillingGroup, { description: 'The group.' })
  group!: Group;

  @Field(() => Decimal, { description: 'At most four fraction digits, at most 10.' })
  ratio!: string;

  @Field(() => Int, { description: 'Version as read.' })
  version!: number;

  @Field(() => String, { description: 'Why; kept in the audit log.' })
  reason!: string;
}

/** Result of a change of a ratio. */
@ObjectType({ description: 'Result of a change of a ratio.' })
export class GroupRatioPayload {
  @Field(() => GroupRatio, { nullable: true, description: 'The ratio.' })
  groupRatio?: GroupRatio | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}
