/** GraphQL types with which nodes request and close leases. */
import 'reflect-metadata';
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { UserError } from '../graphql/errors.ts';
import { Decimal, Money } from '../graphql/scalars.ts';

/** Requests credit of one wallet. */
@InputType({ description: 'Requests credit of one wallet.' })
export class NodeLeaseRequestInput {
  @Field(() => ID, { description: 'The calling node.' })
  nodeId!: string;

  @Field(() => ID, { description: 'The journal of the node.' })
  journalId!: string;

  @Field(() => Int, {
    description: 'Number of the request within the journal; the same number returns the same lease.',
  })
  requestNo!: number;

  @Field(() => Decimal, {
    nullable: true,
    description: 'The number if it exceeds the Int range (above 2147483647); requestNo is then 0.',
  })
  requestNumber?: string | null;

  @Field(() => ID, { description: 'The wallet.' })
  walletId!: string;

  @Field(() => ID, {
    nullable: true,
    description: 'The key if it has a spend limit, and therefore its own leases.',
  })
  keyId?: string | null;

  @Field(() => Money, { description: 'Amount that the node prefers.' })
  want!: bigint;

  @Field(() => Money, { description: 'Minimum amount that is of use: the price of one request.' })
  need!: bigint;

  @Field(() => Money, {
    nullable: true,
    description: 'Total price of the requests that wait for this lease; granted if the wallet holds it.',
  })
  waiting?: bigint | null;
}

/** Credit for a node. */
@ObjectType({ description: 'Credit for a node.' })
export class NodeLeasePayload {
  @Field(() => ID, { nullable: true, description: 'The lease; null if none was granted.' })
  leaseId!: string | null;

  @Field(() => Money, { description: 'Amount that the node may spend.' })
  granted!: bigint;

  @Field(() => Money, { description: 'The part in cash.' })
  cash!: bigint;

  @Field(() => Money, { description: 'The part in gift credit, which is spent first.' })
  gift!: bigint;

  @Field(() => Int, {
    description:
      'How long the node may spend without contact, in milliseconds from the moment it sent the request.',
  })
  deadlineMs!: number;

  @Field(() => [UserError], {
    description:
      'INSUFFICIENT_BALANCE, SPEND_LIMIT_REACHED and WALLET_FROZEN are final; after CONFLICT, retry.',
  })
  userErrors!: UserError[];
}

/** Returns a lease. */
@InputType({ description: 'Returns a lease.' })
export class NodeLeaseCloseInput {
  @Field(() => ID, { description: 'The calling node.' })
  nodeId!: string;

  @Field(() => ID, { description: 'The journal to which the lease was granted.' })
  journalId!: string;

  @Field(() => ID, { description: 'The lease.' })
  leaseId!: string;

  @Field(() => Int, { description: 'Number of charges on the lease in the journal.' })
  count!: number;

  @Field(() => Money, { description: 'Sum of these charges.' })
  sum!: bigint;
}
