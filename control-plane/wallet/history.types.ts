/** GraphQL types of the history of a wallet. */
import 'reflect-metadata';
import { ArgsType, Field, ID, Int, ObjectType } from 'type-graphql';
import { connectionOf, LongPageArguments } from '../graphql/connections.ts';
import { DateTime, Money } from '../graphql/scalars.ts';
import type { Bucket } from './ledger.ts';
import { CreditBucket, LedgerEntry, LedgerKind } from './wallet.types.ts';

/** The usage of one day that one bucket paid. */
@ObjectType({
  description: 'The usage of one day that one bucket paid. `Wallet.usageOfDay` lists its entries.',
})
export class WalletUsageDay {
  @Field(() => DateTime, { description: 'Start of the day in UTC.' })
  day!: Date;

  @Field(() => CreditBucket, { description: 'The kind of credit.' })
  bucket!: Bucket;

  @Field(() => Money, { description: 'Sum of the entries; negative.' })
  amount!: bigint;

  @Field(() => Money, { description: 'Balance of the bucket after the newest entry, including leases.' })
  balanceAfter!: bigint;

  @Field(() => Int, { description: 'Number of ledger entries.' })
  entryCount!: number;
}

/** One line of the history. */
@ObjectType({ description: "One line of a wallet's history: an entry, or the usage of one day." })
export class WalletHistoryLine {
  @Field(() => ID, { description: 'Unique in the history.' })
  id!: string;

  @Field(() => LedgerEntry, { nullable: true, description: 'The entry; null for a day of usage.' })
  entry!: LedgerEntry | null;

  @Field(() => WalletUsageDay, { nullable: true, description: 'The usage of a day; null for an entry.' })
  usage!: WalletUsageDay | null;
}

export const WalletHistoryConnection = connectionOf('WalletHistoryLine', WalletHistoryLine, {
  countable: false,
});

/** Filter and page of the history. */
@ArgsType()
export class HistoryArguments extends LongPageArguments {
  @Field(() => [LedgerKind], { nullable: true, description: 'Only entries of these kinds.' })
  kinds?: LedgerKind[] | null;
}

/** A day of usage, and a page of its entries. */
@ArgsType()
export class UsageDayArguments extends LongPageArguments {
  @Field(() => DateTime, { description: 'A time in the day (UTC).' })
  day!: Date;

  @Field(() => CreditBucket, { description: 'The kind of credit.' })
  bucket!: Bucket;
}
