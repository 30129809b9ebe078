/** GraphQL type of spend alerts. */
import 'reflect-metadata';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime, Money } from '../graphql/scalars.ts';

/** A key or account that has spent a part of its monthly cap or budget. */
@ObjectType({ description: 'A key or account that has spent 50, 80 or 100 % of its monthly cap or budget.' })
export class SpendAlert {
  @Field(() => ID, { description: 'Id of the alert, for `spendAlertDismiss`.' })
  id!: string;

  @Field(() => ID, { nullable: true, description: 'The key; null for the monthly budget of the account.' })
  keyId!: string | null;

  @Field(() => String, { nullable: true, description: 'Name of the key; null for the account.' })
  keyName!: string | null;

  @Field(() => Int, { description: 'The highest percentage that was reached: 50, 80 or 100.' })
  percent!: number;

  @Field(() => Money, { description: 'Cost of the requests of this calendar month (UTC).' })
  spent!: bigint;

  @Field(() => Money, { description: 'The monthly cap of the key, or the monthly budget of the account.' })
  limit!: bigint;

  @Field(() => DateTime, { description: 'When the percentage was noticed.' })
  at!: Date;
}
