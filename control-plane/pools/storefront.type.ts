/** API types of the storefront and of quotes. */
import 'reflect-metadata';
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { describeEnum } from '../enums.ts';
import { UserError, UserErrorCode } from '../errors.ts';
import { NodeInterface } from '../node-interface.ts';
import { DateTime, Money } from '../scalars.ts';

export const StorefrontState = describeEnum('StorefrontState', 'Whether dedicated pools are on sale.', {
  OPEN: 'Pools can be bought.',
  CLOSED: 'Pools cannot be bought; those that exist can be renewed.',
});

/** What is on sale, and on which terms. */
@ObjectType({ description: 'Whether dedicated pools are on sale, and on which terms.' })
export class PoolStorefront {
  @Field(() => StorefrontState, { description: 'Whether pools can be bought now.' })
  state!: keyof typeof StorefrontState;

  @Field(() => String, { nullable: true, description: 'What the administrators say about it.' })
  message?: string | null;

  @Field(() => Money, { description: 'Price of a period with at most `includedModels` models.' })
  basePrice!: bigint;

  @Field(() => Int, { description: 'Models that the base price covers.' })
  includedModels!: number;

  @Field(() => Money, { description: 'Added to it for each further model.' })
  extraModelPrice!: bigint;

  @Field(() => Int, { description: 'Length of a period in days.' })
  periodDays!: number;

  @Field(() => Int, { description: 'Requests a minute that a new pool admits, over all of its keys.' })
  rpmCap!: number;

  @Field(() => Money, { description: 'Gift credit that comes with each period bought.' })
  giftCredit!: bigint;

  @Field(() => Int, { description: 'Models that a pool has at most.' })
  maxModels!: number;

  @Field(() => Boolean, {
    name: 'poolRequestsFree',
    description: "Whether requests with a pool's key cost nothing, for the period is paid.",
  })
  requestsFree!: boolean;

  @Field(() => DateTime, { description: 'Last change.' })
  changedAt!: Date;

  @Field(() => Int, { description: 'Counts changes; send it back with a change.' })
  version!: number;

  /** For the fields `offeredModels` and `pricesConfirmed`; not fields themselves. */
  offeredModelIds?: string[] | null;
  pricesConfirmedAt?: Date | null;
}

/** Whether a subdomain can be had. */
@ObjectType({ description: 'Whether a subdomain can be had.' })
export class SubdomainAvailability {
  @Field(() => String, { description: 'The subdomain in lower case.' })
  subdomain!: string;

  @Field(() => Boolean, { description: 'Whether the caller could have it now.' })
  available!: boolean;

  @Field(() => UserErrorCode, { nullable: true, description: 'Why not.' })
  reason!: UserErrorCode | null;

  @Field(() => String, { nullable: true, description: 'A similar one that is free.' })
  suggestion!: string | null;
}

/** One line of a quote. */
@ObjectType({ description: 'One line of a quote.' })
export class QuoteLine {
  @Field(() => String, { description: 'What it is for.' })
  label!: string;

  @Field(() => Int, { description: 'How many.' })
  quantity!: number;

  @Field(() => Money, { description: 'Price of one.' })
  unitPrice!: bigint;

  @Field(() => Money, { description: 'Price of all.' })
  amount!: bigint;
}

/** A price that holds for fifteen minutes. */
@ObjectType({
  implements: NodeInterface,
  description: 'A price that holds for fifteen minutes, for a new pool or another period of one.',
})
export class PoolQuote extends NodeInterface {
  @Field(() => Money, { description: 'Send it back as `expectedTotal`.' })
  total!: bigint;

  @Field(() => Money, { description: 'Gift credit that comes with it.' })
  giftCredit!: bigint;

  @Field(() => Int, { description: 'Requests a minute that the pool will admit.' })
  rpmCap!: number;

  @Field(() => Int, { description: 'Length of the period in days.' })
  periodDays!: number;

  @Field(() => DateTime, {
    description: 'When the period begins: at the purchase, or at the end of the pool that is renewed.',
  })
  startsAt!: Date;

  @Field(() => DateTime, { description: 'When the period ends.' })
  endsAt!: Date;

  @Field(() => DateTime, { description: 'Until when the price holds.' })
  expiresAt!: Date;

  /** For the fields that are looked up. */
  userId!: string;
  modelIds!: string[];
}

/** Asks for a quote. */
@InputType({ description: 'Asks for a quote.' })
export class PoolQuoteInput {
  @Field(() => [ID], {
    defaultValue: [],
    description: 'Models of a new pool. A renewal keeps the models of its pool: leave them out.',
  })
  modelIds!: string[];

  @Field(() => ID, { nullable: true, description: "The caller's pool that is to be renewed." })
  renewPoolId?: string | null;
}

/** A quote. */
@ObjectType({ description: 'Result of asking for a quote.' })
export class PoolQuotePayload {
  @Field(() => PoolQuote, { nullable: true, description: 'The quote.' })
  quote?: PoolQuote | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Changes of the storefront. */
@InputType({ description: 'Changes of the storefront: what is left out stays.' })
export class AdminStorefrontInput {
  @Field(() => Int, { description: 'Its version as read.' })
  version!: number;

  @Field(() => StorefrontState, { nullable: true, description: 'Whether pools can be bought.' })
  state?: keyof typeof StorefrontState | null;

  @Field(() => String, { nullable: true, description: 'Shown on the page; null takes it away.' })
  message?: string | null;

  @Field(() => Money, { nullable: true, description: 'Price of a period with the included models.' })
  basePrice?: bigint | null;

  @Field(() => Money, { nullable: true, description: 'Price of each further model.' })
  extraModelPrice?: bigint | null;

  @Field(() => Int, { nullable: true, description: 'Requests a minute of new pools, 1 to 100,000.' })
  rpmCap?: number | null;

  @Field(() => Money, { nullable: true, description: 'Gift credit for each period bought.' })
  giftCredit?: bigint | null;

  @Field(() => [ID], { nullable: true, description: 'Models on offer; null offers every published one.' })
  offeredModelIds?: string[] | null;

  @Field(() => Boolean, {
    nullable: true,
    description: "Whether requests with a pool's key cost nothing; nodes follow within a second.",
  })
  poolRequestsFree?: boolean | null;

  @Field(() => Boolean, {
    defaultValue: false,
    description: 'That the prices are meant; needed for opening the first time.',
  })
  confirmPrices!: boolean;

  @Field(() => String, { description: 'Why; kept in the audit log.' })
  reason!: string;
}

/** Result of a change of the storefront. */
@ObjectType({ description: 'Result of a change of the storefront.' })
export class StorefrontPayload {
  @Field(() => PoolStorefront, { nullable: true, description: 'The storefront.' })
  storefront?: PoolStorefront | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}
