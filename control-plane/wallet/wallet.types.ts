/** GraphQL types of wallets, ledger entries and leases. */
import 'reflect-metadata';
import { ArgsType, Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { connectionOf, LongPageArguments } from '../graphql/connections.ts';
import { describeEnum } from '../graphql/enums.ts';
import { UserError } from '../graphql/errors.ts';
import { DateRange } from '../graphql/inputs.ts';
import { GlobalObject } from '../graphql/global-object.ts';
import { DateTime, Money } from '../graphql/scalars.ts';
import type { LeaseState } from './lease.rows.ts';
import type { Bucket } from './ledger.ts';

export const LedgerKind = describeEnum('LedgerKind', 'Why money moved.', {
  TOP_UP_CARD: 'Paid in by card.',
  TOP_UP_CRYPTO: 'Paid in on a blockchain.',
  GIFT_POOL: 'Gift for buying a pool.',
  GIFT_ADMIN: 'Gift by an administrator.',
  USAGE: 'Charged requests.',
  USAGE_REVERSAL: 'Reversed charges of requests.',
  POOL_PURCHASE: 'Purchase of a dedicated pool.',
  POOL_RENEWAL: 'Another period of a dedicated pool.',
  REFUND: 'Refund.',
  DISPUTE_HOLD: 'Withdrawn by a dispute.',
  DISPUTE_RELEASE: 'Returned from a dispute.',
  ADJUSTMENT: 'Changed by an administrator.',
  GIFT_EXPIRY: 'Expired gift credit.',
});
export type LedgerKind = keyof typeof LedgerKind;

export const CreditBucket = describeEnum<Bucket>('CreditBucket', 'Kinds of credit.', {
  CASH: 'Paid credit: refundable, and can buy pools.',
  GIFT: 'Given credit: spent first, never refunded.',
});

export const LeaseStateEnum = describeEnum<LeaseState>('LeaseState', 'State of a lease.', {
  ACTIVE: 'The node may spend from it.',
  ORPHANED: 'The node has had no contact for a minute.',
  CLOSED: 'Returned by the node.',
  RECLAIMED: 'Ended without the node, after it must have stopped spending.',
});

/** The credit of a user. */
@ObjectType({ implements: GlobalObject, description: 'The credit of a user.' })
export class Wallet extends GlobalObject {
  @Field(() => Money, { description: 'Cash and gift together, including leases.' })
  balance!: bigint;

  @Field(() => Money, { description: 'Cash, without leases.' })
  cash!: bigint;

  @Field(() => Money, { description: 'Gift credit, without leases.' })
  gift!: bigint;

  @Field(() => Money, { description: 'Uncharged credit in leases of nodes.' })
  held!: bigint;

  @Field(() => Money, { description: 'Debt after a clawback beyond the balance; repaid first.' })
  receivable!: bigint;

  @Field(() => Money, { description: 'Credit available to new leases and purchases; 0 while frozen.' })
  available!: bigint;

  @Field(() => Boolean, {
    description: 'Whether the wallet is frozen. A frozen wallet pays for nothing until its debt is repaid.',
  })
  frozen!: boolean;

  @Field(() => String, { description: 'Always USD.' })
  currency!: string;

  @Field(() => Money, {
    nullable: true,
    description: 'The owner is warned below this balance; null for never.',
  })
  lowBalanceThreshold!: bigint | null;
}

/** Credit of a wallet that a node may spend. */
@ObjectType({ description: 'Credit of a wallet that a node may spend.' })
export class WalletLease {
  @Field(() => ID, { description: 'Id of the lease.' })
  id!: string;

  /** Used by the field `node`, which the domain of nodes adds. */
  nodeId!: string;

  @Field(() => Money, { description: 'Amount granted.' })
  granted!: bigint;

  @Field(() => Money, { description: 'Amount charged so far.' })
  spent!: bigint;

  @Field(() => LeaseStateEnum, { description: 'State of the lease.' })
  state!: LeaseState;
}

/** One signed line of the ledger. */
@ObjectType({
  implements: GlobalObject,
  description: 'One signed line of the ledger. Append-only: corrections are new entries.',
})
export class LedgerEntry extends GlobalObject {
  @Field(() => Int, { description: 'Increases with every entry of the gateway.' })
  seq!: number;

  @Field(() => LedgerKind, { description: 'Why money moved.' })
  kind!: LedgerKind;

  @Field(() => CreditBucket, { description: 'The kind of credit.' })
  bucket!: Bucket;

  @Field(() => Money, { description: 'Positive for credits, negative for debits.' })
  amount!: bigint;

  @Field(() => Money, { description: 'Balance of the bucket after this entry, including leases.' })
  balanceAfter!: bigint;

  @Field(() => String, { description: 'What the money was moved for.' })
  description!: string;

  @Field(() => DateTime, { description: 'When the entry was made.' })
  createdAt!: Date;
}

export const LedgerEntryConnection = connectionOf('LedgerEntry', LedgerEntry);

/** Filter and page of ledger entries. */
@ArgsType()
export class LedgerArguments extends LongPageArguments {
  @Field(() => [LedgerKind], { nullable: true, description: 'Only entries of these kinds.' })
  kinds?: LedgerKind[] | null;

  @Field(() => DateRange, { nullable: true, description: 'Only entries in this range.' })
  range?: DateRange | null;
}

/** Changes a balance by hand. */
@InputType({ description: 'Changes a balance by hand.' })
export class AdminWalletAdjustInput {
  @Field(() => ID, { description: 'Owner of the wallet.' })
  userId!: string;

  @Field(() => CreditBucket, { description: 'The kind of credit.' })
  bucket!: Bucket;

  @Field(() => Money, {
    description: 'Positive to credit, negative to debit; a debit is limited to the balance without leases.',
  })
  amount!: bigint;

  @Field(() => String, { description: 'The reason, shown in the ledger and in the audit log.' })
  reason!: string;

  @Field(() => String, { description: 'A repeated key returns the first result; at most 64 characters.' })
  idempotencyKey!: string;
}

/** A wallet after an adjustment. */
@ObjectType({ description: 'A wallet after an adjustment.' })
export class AdminWalletPayload {
  @Field(() => Wallet, { nullable: true, description: 'The wallet.' })
  wallet!: Wallet | null;

  @Field(() => LedgerEntry, { nullable: true, description: 'The entry.' })
  entry!: LedgerEntry | null;

  @Field(() => Boolean, { description: 'Whether the key was used before, so that nothing changed now.' })
  replayed!: boolean;

  @Field(() => [UserError], { description: 'Why nothing changed.' })
  userErrors!: UserError[];
}

/** Settings of the low-balance warning. */
@InputType({ description: 'Settings of the low-balance warning.' })
export class WalletSettingsInput {
  @Field(() => Money, { nullable: true, description: 'Warn below this balance; null for never.' })
  lowBalanceThreshold?: bigint | null;
}

/** A wallet after a change. */
@ObjectType({ description: 'A wallet after a change.' })
export class WalletPayload {
  @Field(() => Wallet, { nullable: true, description: 'The wallet.' })
  wallet!: Wallet | null;

  @Field(() => [UserError], { description: 'Why nothing changed.' })
  userErrors!: UserError[];
}
