/** API types of dedicated pools, their periods, and the inputs and payloads of their mutations. */
import 'reflect-metadata';
import { ArgsType, Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { connectionOf, LongPageArguments, PageArguments } from '../connections.ts';
import { describeEnum } from '../enums.ts';
import { UserError } from '../errors.ts';
import { DateRange } from '../inputs.ts';
import { NodeInterface } from '../node-interface.ts';
import { DateTime, Money } from '../scalars.ts';
import { UsageBucket } from '../usage/usage.types.ts';
import { LedgerEntry, Wallet } from '../wallet/wallet.types.ts';
import type { PoolState } from './pool.entity.ts';

export const PoolStateEnum = describeEnum<PoolState>('PoolState', 'Where the paid period of a pool stands.', {
  ACTIVE: 'Serves requests for more than a week yet.',
  EXPIRING: 'Serves requests, and ends within a week.',
  EXPIRED: 'Past its end: keys are refused. For 14 days it can be renewed, and they work again.',
  CANCELLED: 'Ended by an administrator, with the unused part paid back.',
});

/** A dedicated pool. */
@ObjectType({
  implements: NodeInterface,
  description: 'A dedicated pool: frozen models under a subdomain and keys of its own, for a paid period.',
})
export class Pool extends NodeInterface {
  @Field(() => String, { description: 'A name for people.' })
  name!: string;

  @Field(() => String, { description: 'First label of its host.' })
  subdomain!: string;

  @Field(() => Int, { description: 'Requests admitted in any 60 seconds, over all of its keys.' })
  rpmCap!: number;

  @Field(() => DateTime, { description: 'When it was bought.' })
  startsAt!: Date;

  @Field(() => DateTime, { description: 'Until when it is paid.' })
  endsAt!: Date;

  @Field(() => Boolean, { description: 'Whether it renews itself before the end, from cash alone.' })
  autoRenew!: boolean;

  @Field(() => Int, { description: 'Counts changes; send it back with an update.' })
  version!: number;
}

export const PoolConnection = connectionOf('Pool', Pool);

/** A model of a pool. */
@ObjectType({ description: 'Frozen copy of a model, taken at the purchase; catalog edits do not change it.' })
export class PoolModel {
  @Field(() => String, { description: 'Exact name that clients send as model.' })
  modelName!: string;

  @Field(() => String, { description: 'Name for people.' })
  displayName!: string;

  @Field(() => DateTime, { description: 'When the copy was taken.' })
  frozenAt!: Date;

  /** For the field `currentModel`. */
  modelId!: string;
}

/** A period that was paid. */
@ObjectType({ implements: NodeInterface, description: 'A period of a pool that was paid.' })
export class PoolPeriod extends NodeInterface {
  @Field(() => Int, { description: '1 is the purchase.' })
  number!: number;

  @Field(() => DateTime, { description: 'First moment.' })
  startsAt!: Date;

  @Field(() => DateTime, { description: 'First moment after it.' })
  endsAt!: Date;

  @Field(() => Money, { description: 'What was paid from cash.' })
  paid!: bigint;

  @Field(() => Money, { description: 'Gift credit that came with it.' })
  giftGranted!: bigint;

  @Field(() => Money, { description: 'Cash that came back when the pool was cancelled.' })
  refunded!: bigint;

  /** For the field `ledgerEntries`. */
  poolId!: string;
}

/** Which pools of a user, and which page of them. */
@ArgsType()
export class PoolListArguments extends PageArguments {
  @Field(() => [PoolStateEnum], { nullable: true, description: 'Only in these states.' })
  state?: PoolState[] | null;
}

/** Which pools of everybody, and which page of them. */
@ArgsType()
export class AdminPoolArguments extends LongPageArguments {
  @Field(() => [PoolStateEnum], { nullable: true, description: 'Only in these states.' })
  state?: PoolState[] | null;

  @Field(() => String, {
    nullable: true,
    description: "Part of the name, the subdomain or the owner's address, or a whole id.",
  })
  search?: string | null;
}

/** What a pool's summary is about. */
@ArgsType()
export class PoolSummaryArguments {
  @Field(() => DateRange, { description: 'The span, at most 400 days.' })
  range!: DateRange;

  @Field(() => UsageBucket, { nullable: true, description: 'Width of the points of `series`.' })
  bucket?: UsageBucket | null;
}

/** Buys a pool. */
@InputType({ description: 'Buys a pool.' })
export class PoolPurchaseInput {
  @Field(() => ID, { description: 'A quote of the caller.' })
  quoteId!: string;

  @Field(() => String, { description: 'A name for people, at most 80 characters.' })
  name!: string;

  @Field(() => String, { description: '3 to 32 of a–z, 0–9 and hyphens inside; unique.' })
  subdomain!: string;

  @Field(() => Boolean, { defaultValue: false, description: 'Renew before the end, from cash alone.' })
  autoRenew!: boolean;

  @Field(() => Money, { description: 'The total that the buyer saw.' })
  expectedTotal!: bigint;

  @Field(() => String, { description: 'Repeating the call with the same key buys no second pool.' })
  idempotencyKey!: string;
}

/** Buys another period. */
@InputType({ description: 'Buys another period of a pool, from its end on.' })
export class PoolRenewInput {
  @Field(() => ID, { description: 'The pool.' })
  poolId!: string;

  @Field(() => ID, { description: 'A quote for renewing it.' })
  quoteId!: string;

  @Field(() => Money, { description: 'The total that the buyer saw.' })
  expectedTotal!: bigint;

  @Field(() => String, { description: 'Repeating the call with the same key buys no second period.' })
  idempotencyKey!: string;
}

/** Changes of a pool: what is left out stays. */
@InputType({ description: 'Changes of a pool: what is left out stays.' })
export class PoolUpdateInput {
  @Field(() => ID, { description: 'The pool.' })
  id!: string;

  @Field(() => Int, { description: 'Its version as read.' })
  version!: number;

  @Field(() => String, { nullable: true, description: 'A new name.' })
  name?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'Renew before the end, from cash alone.' })
  autoRenew?: boolean | null;
}

/** What an administrator does with a pool. */
@InputType({ description: 'What an administrator does with a pool: what is left out stays.' })
export class AdminPoolInput {
  @Field(() => ID, { description: 'The pool.' })
  id!: string;

  @Field(() => Int, { description: 'Its version as read.' })
  version!: number;

  @Field(() => Int, { nullable: true, description: 'Requests a minute, 1 to 100,000.' })
  rpmCap?: number | null;

  @Field(() => Int, { nullable: true, description: 'Days to add at the end, 1 to 365; free of charge.' })
  extendDays?: number | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Ends the pool now. The unused part is paid back, after its gift credit is taken back.',
  })
  cancel?: boolean | null;

  @Field(() => String, { description: 'Why; kept in the audit log.' })
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
  @Field(() => PoolPeriod, { nullable: true, description: 'The period that was bought.' })
  period?: PoolPeriod | null;

  @Field(() => Wallet, { nullable: true, description: "The buyer's wallet afterwards." })
  wallet?: Wallet | null;

  @Field(() => [LedgerEntry], { nullable: true, description: 'What was paid, and what was given.' })
  ledgerEntries?: LedgerEntry[] | null;

  @Field(() => Boolean, { description: 'Whether an earlier call with this idempotency key did it.' })
  replayed!: boolean;
}
