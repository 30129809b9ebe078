/** GraphQL types of dedicated pools, their periods, and the inputs and payloads of their mutations. */
import 'reflect-metadata';
import { ArgsType, Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { connectionOf, LongPageArguments, PageArguments } from '../graphql/connections.ts';
import { describeEnum, SortDirection } from '../graphql/enums.ts';
import { UserError } from '../graphql/errors.ts';
import { DateRange } from '../graphql/inputs.ts';
import { GlobalObject } from '../graphql/global-object.ts';
import { DateTime, Money } from '../graphql/scalars.ts';
import { UsageBucket } from '../usage/usage.types.ts';
import { LedgerEntry, Wallet } from '../wallet/wallet.types.ts';
import type { PoolState } from './pool.entity.ts';

export const PoolStateEnum = describeEnum<PoolState>('PoolState', 'State of a pool.', {
  ACTIVE: 'Serves requests, and ends in more than a week.',
  EXPIRING: 'Serves requests, and ends within a week.',
  EXPIRED: 'Has ended: its keys are refused. A renewal within 14 days makes them work again.',
  CANCELLED: 'Ended by an administrator, with a refund of the unused part.',
});

/** A dedicated pool. */
@ObjectType({
  implements: GlobalObject,
  description: 'A dedicated pool: frozen models with their own subdomain and keys, for a paid period.',
})
export class Pool extends GlobalObject {
  @Field(() => String, { description: 'Display name.' })
  name!: string;

  @Field(() => String, { description: 'First label of the host name.' })
  subdomain!: string;

  @Field(() => Int, {
    description: 'Maximum number of requests in any 60 seconds, over all keys of the pool.',
  })
  rpmCap!: number;

  @Field(() => DateTime, { description: 'When the pool was bought.' })
  startsAt!: Date;

  @Field(() => DateTime, { description: 'End of the last paid period.' })
  endsAt!: Date;

  @Field(() => Boolean, {
    description: 'Whether the pool is renewed automatically a day before its end, from cash only.',
  })
  autoRenew!: boolean;

  @Field(() => Int, { description: 'Increases with every change; send it back with an update.' })
  version!: number;
}

export const PoolConnection = connectionOf('Pool', Pool);

/** A frozen model of a pool. */
@ObjectType({
  description: 'Frozen copy of a model, made at the purchase; changes of the catalog do not affect it.',
})
export class PoolModel {
  @Field(() => String, { description: 'Name that clients send as `model`.' })
  modelName!: string;

  @Field(() => String, { description: 'Display name.' })
  displayName!: string;

  @Field(() => DateTime, { description: 'When the copy was made.' })
  frozenAt!: Date;

  /** Used by the field `currentModel`. */
  modelId!: string;
}

/** A paid period of a pool. */
@ObjectType({ implements: GlobalObject, description: 'A paid period of a pool.' })
export class PoolPeriod extends GlobalObject {
  @Field(() => Int, { description: '1 for the purchase, counting up with each renewal.' })
  number!: number;

  @Field(() => DateTime, { description: 'Start of the period.' })
  startsAt!: Date;

  @Field(() => DateTime, { description: 'End of the period.' })
  endsAt!: Date;

  @Field(() => Money, { description: 'Cash paid.' })
  paid!: bigint;

  @Field(() => Money, { description: 'Gift credit that came with the period.' })
  giftGranted!: bigint;

  @Field(() => Money, { description: 'Cash refunded when the pool was cancelled.' })
  refunded!: bigint;

  /** Used by the field `ledgerEntries`. */
  poolId!: string;
}

export const PoolOrderField = describeEnum('PoolOrderField', 'What pools are sorted by.', {
  CREATED_AT: 'When it was bought.',
  NAME: 'Name.',
  ENDS_AT: 'End of the paid time.',
});

/** Order of a list of pools. */
@InputType({ description: 'Order of a list of pools.' })
export class PoolOrder {
  @Field(() => PoolOrderField, { description: 'What to sort by.' })
  field!: keyof typeof PoolOrderField;

  @Field(() => SortDirection, { description: 'Direction.' })
  direction!: keyof typeof SortDirection;
}

/** Filter and page of a user's pools. */
@ArgsType()
export class PoolListArguments extends PageArguments {
  @Field(() => [PoolStateEnum], { nullable: true, description: 'Only pools in these states.' })
  state?: PoolState[] | null;
}

/** Filter, order and page of all pools. */
@ArgsType()
export class AdminPoolArguments extends LongPageArguments {
  @Field(() => PoolOrder, { nullable: true, description: 'Order; newest first by default.' })
  orderBy?: PoolOrder | null;

  @Field(() => [PoolStateEnum], { nullable: true, description: 'Only pools in these states.' })
  state?: PoolState[] | null;

  @Field(() => String, {
    nullable: true,
    description: "Part of the name, the subdomain or the owner's e-mail address, or a whole id.",
  })
  search?: string | null;
}

/** Range and buckets of a pool's summary. */
@ArgsType()
export class PoolSummaryArguments {
  @Field(() => DateRange, { description: 'The range, at most 400 days.' })
  range!: DateRange;

  @Field(() => UsageBucket, { nullable: true, description: 'Width of the points of `series`.' })
  bucket?: UsageBucket | null;
}

/** The purchase of a pool. */
@InputType({ description: 'Buys a pool.' })
export class PoolPurchaseInput {
  @Field(() => ID, { description: 'A quote of the caller.' })
  quoteId!: string;

  @Field(() => String, { description: 'Display name, at most 80 characters.' })
  name!: string;

  @Field(() => String, { description: '3 to 32 characters of a–z, 0–9 and hyphens inside; unique.' })
  subdomain!: string;

  @Field(() => Boolean, {
    defaultValue: false,
    description: 'Whether to renew automatically a day before the end, from cash only.',
  })
  autoRenew!: boolean;

  @Field(() => Money, { description: 'The total that the buyer has agreed to.' })
  expectedTotal!: bigint;

  @Field(() => String, { description: 'A repeated key returns the first result and buys no second pool.' })
  idempotencyKey!: string;
}

/** The purchase of another period. */
@InputType({ description: 'Buys another period of a pool, from its end on.' })
export class PoolRenewInput {
  @Field(() => ID, { description: 'The pool.' })
  poolId!: string;

  @Field(() => ID, { description: 'A renewal quote of the pool.' })
  quoteId!: string;

  @Field(() => Money, { description: 'The total that the buyer has agreed to.' })
  expectedTotal!: bigint;

  @Field(() => String, { description: 'A repeated key returns the first result and buys no second period.' })
  idempotencyKey!: string;
}

/** A change of a pool by its owner. */
@InputType({ description: 'Changes a pool. Fields that are left out stay as they are.' })
export class PoolUpdateInput {
  @Field(() => ID, { description: 'The pool.' })
  id!: string;

  @Field(() => Int, { description: 'The version that was read.' })
  version!: number;

  @Field(() => String, { nullable: true, description: 'A new name.' })
  name?: string | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether to renew automatically a day before the end, from cash only.',
  })
  autoRenew?: boolean | null;
}

/** A change of a pool by an administrator. */
@InputType({ description: 'Changes a pool as an administrator. Fields that are left out stay as they are.' })
export class AdminPoolInput {
  @Field(() => ID, { description: 'The pool.' })
  id!: string;

  @Field(() => Int, { description: 'The version that was read.' })
  version!: number;

  @Field(() => Int, { nullable: true, description: 'Requests a minute, 1 to 100,000.' })
  rpmCap?: number | null;

  @Field(() => Int, { nullable: true, description: 'Days to add at the end, 1 to 365; free of charge.' })
  extendDays?: number | null;

  @Field(() => Boolean, {
    nullable: true,
    description:
      'Ends the pool now and refunds the unused part, minus the share of its gift credit that was spent.',
  })
  cancel?: boolean | null;

  @Field(() => String, { description: 'The reason, for the audit log.' })
  reason!: string;
}

/** Result of a change of a pool. */
@ObjectType({ description: 'Result of a change of a pool.' })
export class PoolPayload {
  @Field(() => Pool, { nullable: true, description: 'The pool.' })
  pool?: Pool | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Result of a purchase or a renewal. */
@ObjectType({ description: 'Result of a purchase or a renewal.' })
export class PoolPurchasePayload extends PoolPayload {
  @Field(() => PoolPeriod, { nullable: true, description: 'The bought period.' })
  period?: PoolPeriod | null;

  @Field(() => Wallet, { nullable: true, description: "The buyer's wallet after the purchase." })
  wallet?: Wallet | null;

  @Field(() => [LedgerEntry], { nullable: true, description: 'The ledger entries of payment and gift.' })
  ledgerEntries?: LedgerEntry[] | null;

  @Field(() => Boolean, {
    description: 'Whether an earlier call with this idempotency key made the purchase.',
  })
  replayed!: boolean;
}
