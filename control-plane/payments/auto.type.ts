/** GraphQL types of automatic top-ups and of the saved card. */
import 'reflect-metadata';
import { Field, InputType, Int, ObjectType } from 'type-graphql';
import { describeEnum } from '../graphql/enums.ts';
import { UserError } from '../graphql/errors.ts';
import { DateTime, Money } from '../graphql/scalars.ts';
import { Wallet } from '../wallet/wallet.types.ts';

/** Why automatic top-ups were switched off without their owner. */
export type AutoOffReason = 'FAILURES' | 'NO_CARD';

export const AutoOffReasonEnum = describeEnum<AutoOffReason>(
  'AutoTopUpOffReason',
  'Why automatic top-ups were switched off.',
  { FAILURES: 'Three attempts in a row failed.', NO_CARD: 'The saved card was removed.' },
);

/** A card that the processor keeps. */
@ObjectType({ description: 'A card that the processor keeps for automatic top-ups.' })
export class SavedCard {
  @Field(() => String, { description: 'Its brand, e.g. visa.' })
  brand!: string;

  @Field(() => String, { description: 'Its last four digits.' })
  last4!: string;

  @Field(() => Int, { description: 'Month in which it expires, 1 to 12.' })
  expiresMonth!: number;

  @Field(() => Int, { description: 'Year in which it expires.' })
  expiresYear!: number;
}

/** Settings and present state of automatic top-ups. */
@ObjectType({ description: 'Settings of automatic top-ups, which pay with the saved card. Off by default.' })
export class AutoTopUp {
  @Field(() => Boolean, { description: 'Whether they are switched on.' })
  enabled!: boolean;

  @Field(() => Money, { description: 'A balance below this begins a top-up.' })
  threshold!: bigint;

  @Field(() => Money, { description: 'Amount of each top-up.' })
  amount!: bigint;

  @Field(() => Money, { description: 'Largest sum within a calendar month (UTC).' })
  monthlyCap!: bigint;

  @Field(() => Money, { description: 'Sum of this month, without failed attempts.' })
  spentThisMonth!: bigint;

  @Field(() => Int, { description: 'Failed attempts in a row; the third switches them off.' })
  failures!: number;

  @Field(() => DateTime, { nullable: true, description: 'When the last of these attempts failed.' })
  failedAt!: Date | null;

  @Field(() => Boolean, { description: 'Whether an attempt is under way.' })
  inFlight!: boolean;

  @Field(() => AutoOffReasonEnum, {
    nullable: true,
    description: 'Why they were switched off by the gateway.',
  })
  offReason!: AutoOffReason | null;
}

/** Settings of automatic top-ups. */
@InputType({ description: 'Settings of automatic top-ups.' })
export class AutoTopUpInput {
  @Field(() => Boolean, { description: 'Whether they are switched on; needs a saved card.' })
  enabled!: boolean;

  @Field(() => Money, { description: 'A balance below this begins a top-up.' })
  threshold!: bigint;

  @Field(() => Money, { description: 'Amount of each, in whole cents, within the limits of paymentOptions.' })
  amount!: bigint;

  @Field(() => Money, { description: 'Largest sum within a calendar month (UTC), at least the amount.' })
  monthlyCap!: bigint;
}

/** The wallet after a change of its automatic top-ups. */
@ObjectType({ description: 'The wallet after a change of its automatic top-ups.' })
export class AutoTopUpPayload {
  @Field(() => Wallet, { nullable: true, description: 'The wallet.' })
  wallet!: Wallet | null;

  @Field(() => [UserError], { description: 'Why nothing changed.' })
  userErrors!: UserError[];
}
