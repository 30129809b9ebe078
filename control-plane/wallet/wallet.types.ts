/** Wallets, entries and leases on the API. */
import 'reflect-metadata';
import { ArgsType, Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { connectionOf, LongPageArguments } from '../connections.ts';
import { describeEnum } from '../enums.ts';
import { UserError } from '../errors.ts';
import { DateRange } from '../inputs.ts';
import { NodeInterface } from '../node-interface.ts';
import { DateTime, Money } from '../scalars.ts';
import type { LeaseState } from './lease.rows.ts';
import type { Bucket } from './ledger.ts';

export const LedgerKind = describeEnum('LedgerKind', 'Why money moved.', {
  TOP_UP_CARD: 'Paid in by card.',
  TOP_UP_CRYPTO: 'Paid in on a blockchain.',
  GIFT_POOL: 'Gift for buying a pool.',
  GIFT_ADMIN: 'Gift by an administrator.',
  USAGE: 'Requests.',
  USAGE_REVERSAL: 'Requests taken back.',
  POOL_PURCHASE: 'A dedicated pool.',
  POOL_RENEWAL: 'Another period of a dedicated pool.',
  REFUND: 'Paid back.',
  DISPUTE_HOLD: 'Withdrawn by a dispute.',
  DISPUTE_RELEASE: 'Returned from a dispute.',
  ADJUSTMENT: 'Changed by an administrator.',
  GIFT_EXPIRY: 'Gift credit that ran out.',
});
export type LedgerKind = keyof typeof LedgerKind;

export const CreditBucket = describeEnum<Bucket>('CreditBucket', 'Kinds of credit.', {
  CASH: 'Paid for: can be refunded, and buys pools.',
  GIFT: 'Given: spent first, never refunded.',
});

export const LeaseStateEnum = describeEnum<LeaseState>('LeaseState', 'Where a lease stands.', {
  ACTIVE: 'The node may spend from it.',
  ORPHANED: 'The node has not been heard of for a minute.',
  CLOSED: 'Given back.',
  RECLAIMED: 'Taken back after the node must have stopped spending.',
});

/** Credit of a user. */
@ObjectType({ implements: NodeInterface, description: 'Credit of a user.' })
export class Wallet extends NodeInterface {
  @Field(() => Money, { description: 'Cash and gift together, what nodes hold included.' })
  balance!: bigint;

  @Field(() => Money, { description: 'Cash that no node holds.' })
  cash!: bigint;

  @Field(() => Money, { description: 'Gift credit that no node holds.' })
  gift!: bigint;

  @Field(() => Money, { description: 'In leases of nodes.' })
  held!: bigint;

  @Field(() => Money, { description: 'Owed after a clawback beyond the balance; repaid first.' })
  receivable!: bigint;

  @Field(() => Money, { description: 'What new leases and purchases can take; 0 while frozen.' })
  available!: bigint;

  @Field(() => Boolean, { description: 'Frozen wallets pay for nothing.' })
  frozen!: boolean;

  @Field(() => String, { description: 'Always USD.' })
  currency!: string;

  @Field(() => Money, {
    nullable: true,
    description: 'Below this balance the owner is warned; null for never.',
  })
  lowBalanceThreshold!: bigint | null;
}

/** Credit of a wallet that a node may spend. */
@ObjectType({ description: 'Credit of a wallet that a node may spend.' })
export class WalletLease {
  @Field(() => ID, { description: 'Its id.' })
  id!: string;

  /** For the field `node`, which the nodes' own domain adds. */
  nodeId!: string;

  @Field(() => Money, { description: 'What was granted.' })
  granted!: bigint;

  @Field(() => Money, { description: 'What was charged so far.' })
  spent!: bigint;

  @Field(() => LeaseStateEnum, { description: 'Where it stands.' })
  state!: LeaseState;
}

/** One signed line of the ledger. */
@ObjectType({
  implements: NodeInterface,
  description: 'One signed line of the ledger. Append-only: corrections are new entries.',
})
export class LedgerEntry extends NodeInterface {
  @Field(() => Int, { description: 'Grows with every entry of the gateway.' })
  seq!: number;

  @Field(() => LedgerKind, { description: 'Why money moved.' })
  kind!: LedgerKind;

  @Field(() => CreditBucket, { description: 'The kind of credit.' })
  bucket!: Bucket;

  @Field(() => Money, { description: 'Above zero: in. Below zero: out.' })
  amount!: bigint;

  @Field(() => Money, { description: 'Cash or gift afterwards, what nodes hold included.' })
  balanceAfter!: bigint;

  @Field(() => String, { description: 'What it was for.' })
  description!: string;

  @Field(() => DateTime, { description: 'When.' })
  createdAt!: Date;
}

export const LedgerEntryConnection = connectionOf('LedgerEntry', LedgerEntry);

/** Which entries, and which page of them. */
@ArgsType()
export class LedgerArguments extends LongPageArguments {
  @Field(() => [LedgerKind], { nullable: true, description: 'Only of these kinds.' })
  kinds?: LedgerKind[] | null;

  @Field(() => DateRange, { nullable: true, description: 'Only from this span.' })
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
    description: 'Above zero to give, below zero to take; never more than what no node holds.',
  })
  amount!: bigint;

  @Field(() => String, { description: 'Why: stands in the ledger and in the audit log.' })
  reason!: string;

  @Field(() => String, {
    description: 'The same key again answers with the first result; at most 64 characters.',
  })
  idempotencyKey!: string;
}

/** A wallet after an adjustment. */
@ObjectType({ description: 'A wallet after an adjustment.' })
export class AdminWalletPayload {
  @Field(() => Wallet, { nullable: true, description: 'The wallet.' })
  wallet!: Wallet | null;

  @Field(() => LedgerEntry, { nullable: true, description: 'The entry.' })
  entry!: LedgerEntry | null;

  @Field(() => Boolean, { description: 'Whether the key had been used and nothing changed now.' })
  replayed!: boolean;

  @Field(() => [UserError], { description: 'Why nothing changed.' })
  userErrors!: UserError[];
}

/** Changes how the wallet warns. */
@InputType({ description: 'Changes how the wallet warns.' })
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
