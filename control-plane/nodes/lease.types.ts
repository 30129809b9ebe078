/** What nodes send and receive about leases. */
import 'reflect-metadata';
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { UserError } from '../errors.ts';
import { Decimal, Money } from '../scalars.ts';

/** Asks for credit of one wallet. */
@InputType({ description: 'Asks for credit of one wallet.' })
export class NodeLeaseRequestInput {
  @Field(() => ID, { description: 'The node itself.' })
  nodeId!: string;

  @Field(() => ID, { description: 'Its journal.' })
  journalId!: string;

  @Field(() => Int, {
    description: 'Numbers the requests of a journal: the same number gives the same lease.',
  })
  requestNo!: number;

  @Field(() => Decimal, {
    nullable: true,
    description: 'That number where it is too large for an Int, above 2147483647: then requestNo is 0.',
  })
  requestNumber?: string | null;

  @Field(() => ID, { description: 'The wallet.' })
  walletId!: string;

  @Field(() => ID, {
    nullable: true,
    description: 'The key, where it has a spend limit and so leases of its own.',
  })
  keyId?: string | null;

  @Field(() => Money, { description: 'As much as the node would like.' })
  want!: bigint;

  @Field(() => Money, { description: 'What it cannot do without: the price of one request.' })
  need!: bigint;

  @Field(() => Money, {
    nullable: true,
    description: 'What the requests that wait for it cost together: granted where it is there.',
  })
  waiting?: bigint | null;
}

/** Credit for a node. */
@ObjectType({ description: 'Credit for a node.' })
export class NodeLeasePayload {
  @Field(() => ID, { nullable: true, description: 'The lease; null where none was granted.' })
  leaseId!: string | null;

  @Field(() => Money, { description: 'What may be spent.' })
  granted!: bigint;

  @Field(() => Money, { description: 'The part in cash.' })
  cash!: bigint;

  @Field(() => Money, { description: 'The part in gift credit, which is spent first.' })
  gift!: bigint;

  @Field(() => Int, {
    description: 'How long after sending the request the node may spend without contact, in milliseconds.',
  })
  deadlineMs!: number;

  @Field(() => [UserError], {
    description:
      'INSUFFICIENT_BALANCE, SPEND_LIMIT_REACHED and WALLET_FROZEN are final; CONFLICT means: ask again.',
  })
  userErrors!: UserError[];
}

/** Gives a lease back. */
@InputType({ description: 'Gives a lease back.' })
export class NodeLeaseCloseInput {
  @Field(() => ID, { description: 'The node itself.' })
  nodeId!: string;

  @Field(() => ID, { description: 'The journal the lease was granted to.' })
  journalId!: string;

  @Field(() => ID, { description: 'The lease.' })
  leaseId!: string;

  @Field(() => Int, { description: 'How many charges the journal holds of it.' })
  count!: number;

  @Field(() => Money, { description: 'Their sum.' })
  sum!: bigint;
}
