/** GraphQL types of deposits on blockchains. */
import 'reflect-metadata';
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { describeEnum } from '../../graphql/enums.ts';
import { UserError } from '../../graphql/errors.ts';
import { DateTime, Money, WebAddress } from '../../graphql/scalars.ts';
import type { ChainTrouble } from './rpc.pair.ts';

export const ChainTroubleEnum = describeEnum<ChainTrouble>(
  'ChainTrouble',
  'Why a blockchain cannot be read.',
  {
    REFUSED: 'An RPC service wants smaller questions. They are made smaller.',
    RATE_LIMITED: 'An RPC service wants fewer questions.',
    DOWN: 'An RPC service does not answer.',
    WRONG: 'An RPC service sent an answer that makes no sense.',
    DISAGREEMENT: 'The two RPC services differ, as they do for moments around a reorganisation.',
    LAGGING: 'An RPC service is many blocks behind the other one. Only what both have is read.',
    WRONG_CHAIN: 'An RPC service serves another chain.',
  },
);

/** A token of a chain that can be paid in. */
@ObjectType({ description: 'A token of a blockchain that can be paid in.' })
export class DepositOption {
  @Field(() => Int, { description: 'Id of the chain.' })
  chainId!: number;

  @Field(() => String, { description: 'Name of the chain.' })
  chainName!: string;

  @Field(() => String, { description: 'Symbol of the token. One token is one US dollar.' })
  asset!: string;

  @Field(() => String, { description: 'Contract of the token.' })
  tokenContract!: string;

  @Field(() => Money, { description: 'Smallest deposit; smaller ones wait until their sum reaches it.' })
  minDeposit!: bigint;

  @Field(() => Int, { description: 'Blocks that must hold a deposit or follow it before it is credited.' })
  requiredConfirmations!: number;
}

/** An address of the caller for one token of one chain. */
@ObjectType({
  description:
    'An address of the caller for one token of one blockchain. Deposits to it are always credited.',
})
export class DepositAddress extends DepositOption {
  @Field(() => ID, { description: 'Id of the address.' })
  id!: string;

  @Field(() => String, { description: 'The address, with the checksum of EIP-55.' })
  address!: string;

  @Field(() => String, { description: 'Content of a QR code: a payment request of EIP-681.' })
  qrPayload!: string;

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: Date;
}

/** A deposit that became a top-up. */
@ObjectType({ description: 'A deposit on a blockchain that became a top-up.' })
export class CryptoDeposit {
  @Field(() => Int, { description: 'Id of the chain.' })
  chainId!: number;

  @Field(() => String, { description: 'Name of the chain.' })
  chainName!: string;

  @Field(() => String, { description: 'Symbol of the token.' })
  asset!: string;

  @Field(() => String, { description: 'The address that received it, with the checksum of EIP-55.' })
  address!: string;

  @Field(() => String, { description: 'Hash of the transaction.' })
  txHash!: string;

  @Field(() => Int, { description: 'Place of its log in the block that held it last.' })
  logIndex!: number;

  @Field(() => String, { description: 'Height of the block that held it last.' })
  blockNumber!: string;

  @Field(() => Money, { description: 'Its amount.' })
  amount!: bigint;

  @Field(() => Int, { description: 'Blocks that hold it or follow it; 0 if its block left the chain.' })
  confirmations!: number;

  @Field(() => Int, { description: 'Confirmations that the credit requires.' })
  requiredConfirmations!: number;

  @Field(() => WebAddress, { nullable: true, description: 'The transaction in an explorer of the chain.' })
  explorerUrl!: string | null;
}

/** An address to make. */
@InputType({ description: 'An address to make. The same input returns the same address.' })
export class DepositAddressInput {
  @Field(() => Int, { description: 'Id of the chain, from paymentOptions.' })
  chainId!: number;

  @Field(() => String, { description: 'Symbol of the token, from paymentOptions.' })
  asset!: string;
}

/** The address. */
@ObjectType({ description: 'An address for deposits.' })
export class DepositAddressPayload {
  @Field(() => DepositAddress, { nullable: true, description: 'The address.' })
  address!: DepositAddress | null;

  @Field(() => [UserError], { description: 'Why there is none.' })
  userErrors!: UserError[];
}
