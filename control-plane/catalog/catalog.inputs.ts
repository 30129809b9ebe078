/** GraphQL inputs that change models of the catalog. */
import 'reflect-metadata';
import { Field, ID, InputType, Int } from 'type-graphql';
import type { Family, Group, Tier, Trait } from '@gateway/shared/catalog';
import { BillingGroup, ModelTier, ModelTrait, WireFamily } from '../graphql/enums.ts';
import { DateTime, Money } from '../graphql/scalars.ts';
import { ModelState } from './catalog.type.ts';

/** Limits to change. */
@InputType({ description: 'Limits to change. Fields that are left out stay unchanged.' })
export class ModelLimitsInput {
  @Field(() => Int, { nullable: true, description: 'Maximum number of choices (n).' })
  maxChoices?: number;

  @Field(() => Int, { nullable: true, description: 'Maximum number of inputs.' })
  maxInputs?: number;

  @Field(() => Int, { nullable: true, description: 'Maximum size of the request body in bytes.' })
  maxBodyBytes?: number;

  @Field(() => [String], {
    nullable: true,
    description: 'Service tiers and other priced parts that requests may name, such as fast or mcp_servers.',
  })
  serviceTiers?: string[];
}

/** Input of `adminModelUpsert`. */
@InputType({ description: 'A new model or, with id and version, a changed one.' })
export class AdminModelInput {
  @Field(() => ID, { nullable: true, description: 'The model to change.' })
  id?: string | null;

  @Field(() => Int, {
    nullable: true,
    description: 'Version of the model when it was read; required with id.',
  })
  version?: number | null;

  @Field(() => String, { description: 'Exact name that clients send as model.' })
  name!: string;

  @Field(() => String, { description: 'Display name.' })
  displayName!: string;

  @Field(() => String, { description: 'What the model is suited for.' })
  description!: string;

  @Field(() => ModelTier, { description: 'Price tier.' })
  tier!: Tier;

  @Field(() => [ModelTrait], { description: 'Abilities of the model.' })
  traits!: Trait[];

  @Field(() => Int, { description: 'Context size in tokens.' })
  contextTokens!: number;

  @Field(() => Money, { description: 'Price of one successful request before the ratio of the group.' })
  pricePerRequest!: bigint;

  @Field(() => [BillingGroup], { description: 'Billing groups whose keys may use the model.' })
  groups!: Group[];

  @Field(() => [WireFamily], { description: 'Families that the model serves.' })
  families!: Family[];

  @Field(() => ModelLimitsInput, { nullable: true, description: 'Limits of one request.' })
  limits?: ModelLimitsInput | null;

  @Field(() => Boolean, {
    nullable: true,
    description:
      'Whether requests in the format of the upstream may have members, headers and beta flags that the ' +
      'gateway does not know. The provider may charge more for them. False for a new model.',
  })
  passUnknown?: boolean | null;

  @Field(() => Boolean, {
    nullable: true,
    description:
      'Whether the provider may store responses, conversations and cached contents if a request asks for ' +
      'that. Only for upstreams that do so. False for a new model.',
  })
  storesState?: boolean | null;

  @Field(() => Int, {
    nullable: true,
    description:
      'How long the provider stores them at most, in days: 1 to 3650. Shown in the catalog. ' +
      '30 for a new model.',
  })
  stateRetentionDays?: number | null;

  @Field(() => String, { description: 'Reason, kept in the audit log.' })
  reason!: string;
}

/** Input of `adminModelSetState`. */
@InputType({ description: 'A new state of a model.' })
export class AdminModelStateInput {
  @Field(() => ID, { description: 'The model.' })
  id!: string;

  @Field(() => ModelState, { description: 'The new state.' })
  state!: keyof typeof ModelState;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When a deprecated model is retired automatically; not in the past.',
  })
  retiresAt?: Date | null;

  @Field(() => ID, { nullable: true, description: 'Model to use instead.' })
  replacementId?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Public note on the migration for users of the model, at most 500 characters.',
  })
  note?: string | null;

  @Field(() => String, { description: 'Reason, kept in the audit log.' })
  reason!: string;
}
