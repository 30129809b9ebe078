/** GraphQL types of the monthly budget of an account. */
import 'reflect-metadata';
import { Field, InputType, ObjectType } from 'type-graphql';
import { Money } from '../graphql/scalars.ts';

/** The budget of an account, and what was spent of it. */
@ObjectType({ description: 'The monthly budget of an account. It only warns: requests above it still work.' })
export class WalletBudget {
  @Field(() => Money, {
    nullable: true,
    description: 'Mails are sent at 50, 80 and 100 % of this per calendar month (UTC); null for none.',
  })
  monthly!: bigint | null;

  @Field(() => Money, { description: 'Cost of all requests in this calendar month (UTC).' })
  spentThisMonth!: bigint;
}

/** A new budget. */
@InputType({ description: 'A new monthly budget.' })
export class WalletBudgetInput {
  @Field(() => Money, { nullable: true, description: 'The budget; null for none.' })
  monthly?: bigint | null;
}
