/** GraphQL types of the storefront and of quotes. */
import 'reflect-metadata';
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { describeEnum } from '../graphql/enums.ts';
import { UserError, UserErrorCode } from '../graphql/errors.ts';
import { GlobalObject } from '../graphql/global-object.ts';
import { DateTime, Money } from '../graphql/scalars.ts';

export const StorefrontState = describeEnum('StorefrontState', 'Whether dedicated pools are on sale.', {
  OPEN: 'Pools can be bought.',
  CLOSED: 'Pools cannot be bought; existing pools can be renewed.',
});

/** The storefront of dedicated pools. */
@ObjectType({ description: 'Whether dedicated pools are on sale, and on which terms.' })
export class PoolStorefront {
  @Field(() => StorefrontState, { description: 'Whether pools can be bought now.' })
  state!: keyof typeof StorefrontState;

  @Field(() => String, { nullable: true, description: 'Message of the administrators, shown on the page.' })
  message?: string | null;

  @Field(() => Money, { description: 'Price of a period with at most `includedModels` models.' })
  basePrice!: bigint;

  @Field(() => Int, { description: 'Number of models included in the base price.' })
  includedModels!: number;

  @Field(() => Money, { description: 'Price of a period for each further model.' })
  extraModelPrice!: bigint;

  @Field(() => Int, { description: 'Length of a period in days.' })
  periodDays!: number;

  @Field(() => Int, { description: 'Requests a minute that a new pool admits, over all its keys.' })
  rpmCap!: number;

  @Field(() => Money, { description: 'Gift credit that comes with each bought period.' })
  giftCredit!: bigint;

  @Field(() => Int, { description: 'Maximum number of models of a pool.' })
  maxModels!: number;

  @Field(() => Boolean, {
    name: 'poolRequestsFree',
    description: 'Whether requests with pool keys are free, because the period is paid.',
  })
  requestsFree!: boolean;

  @Field(() => DateTime, { description: 'Time of the last change.' })
  changedAt!: Date;

  @Field(() => Int, { description: 'Increases with every change; send it back with a change.' })
  version!: number;

  /** Used by the fields `offeredModels` and `pricesConfirmed`; no fields themselves. */
  offeredModelIds?: string[] | null;
  pricesConfirmedAt?: Date | null;
}

/** Whether a subdomain is available. */
@ObjectType({ description: 'Whether a subdomain is available.' })
export class SubdomainAvailability {
  @Field(() => String, { description: 'The subdomain in lower case.' })
  subdomain!: string;

  @Field(() => Boolean, { description: 'Whether the caller can take it now.' })
  available!: boolean;

  @Field(() => UserErrorCode, { nullable: true, description: 'Why it is not available.' })
  reason!: UserErrorCode | null;

  @Field(() => String, { nullable: true, description: 'A similar subdomain that is available.' })
  suggestion!: string | null;
}

/** One line of a quote. */
@ObjectType({ description: 'One line of a quote.' })
export class QuoteLine {
  @Field(() => String, { description: 'Text of the line.' })
  label!: string;

  @Field(() => Int, { description: 'Quantity.' })
  quantity!: number;

  @Field(() => Money, { description: 'Unit price.' })
  unitPrice!: bigint;

  @Field(() => Money, { description: 'Unit price × quantity.' })
  amount!: bigint;
}

/** A price that is valid for 15 minutes. */
@ObjectType({
  implements: GlobalObject,
  description: 'A price that is valid for 15 minutes, for a new pool or another period of a pool.',
})
export class PoolQuote extends GlobalObject {
  @Field(() => Money, { description: 'Total price; send it back as `expectedTotal`.' })
  total!: bigint;

  @Field(() => Money, { description: 'Gift credit that comes with the period.' })
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

  @Field(() => DateTime, { description: 'When the quote expires.' })
  expiresAt!: Date;

  /** Used by fields that are looked up. */
  userId!: string;
  modelIds!: string[];
}

/** The subject of a quote. */
@InputType({ description: 'What to quote: a new pool, or another period of a pool.' })
export class PoolQuoteInput {
  @Field(() => [ID], {
    defaultValue: [],
    description: 'Models of a new pool. Leave them out for a renewal, which keeps the models of the pool.',
  })
  modelIds!: string[];

  @Field(() => ID, { nullable: true, description: "The caller's pool to renew." })
  renewPoolId?: string | null;
}

/** Result of creating a quote. */
@ObjectType({ description: 'Result of creating a quote.' })
export class PoolQuotePayload {
  @Field(() => PoolQuote, { nullable: true, description: 'The quote.' })
  quote?: PoolQuote | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** A change of the storefront. */
@InputType({ description: 'Changes the storefront. Fields that are left out stay as they are.' })
export class AdminStorefrontInput {
  @Field(() => Int, { description: 'The version that was read.' })
  version!: number;

  @Field(() => StorefrontState, { nullable: true, description: 'Whether pools can be bought.' })
  state?: keyof typeof StorefrontState | null;

  @Field(() => String, { nullable: true, description: 'Message shown on the page; null removes it.' })
  message?: string | null;

  @Field(() => Money, { nullable: true, description: 'Price of a period with the included models.' })
  basePrice?: bigint | null;

  @Field(() => Money, { nullable: true, description: 'Price of a period for each further model.' })
  extraModelPrice?: bigint | null;

  @Field(() => Int, { nullable: true, description: 'Requests a minute of new pools, 1 to 100,000.' })
  rpmCap?: number | null;

  @Field(() => Money, { nullable: true, description: 'Gift credit for each bought period.' })
  giftCredit?: bigint | null;

  @Field(() => [ID], { nullable: true, description: 'Offered models; null offers every published model.' })
  offeredModelIds?: string[] | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether requests with pool keys are free; nodes apply it within a second.',
  })
  poolRequestsFree?: boolean | null;

  @Field(() => Boolean, {
    defaultValue: false,
    description: 'Confirms the prices; required to open the storefront for the first time.',
  })
  confirmPrices!: boolean;

  @Field(() => String, { description: 'The reason, for the audit log.' })
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
