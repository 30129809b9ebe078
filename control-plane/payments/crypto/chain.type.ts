/** GraphQL types of the settings of blockchains, for administrators. */
import 'reflect-metadata';
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { UserError } from '../../graphql/errors.ts';
import { DateTime, Money, WebAddress } from '../../graphql/scalars.ts';
import { ChainTroubleEnum } from './crypto.type.ts';
import type { ChainTrouble } from './rpc.pair.ts';

/** A token of a chain. */
@ObjectType({ description: 'A token that is accepted on a blockchain.' })
export class ChainToken {
  @Field(() => String, { description: 'Its contract.' })
  contract!: string;

  @Field(() => String, { description: 'Its symbol.' })
  symbol!: string;

  @Field(() => Int, { description: 'Its decimals, as the contract stated them when the token was added.' })
  decimals!: number;

  @Field(() => Money, { description: 'Smallest sum of deposits that is credited.' })
  minimum!: bigint;

  @Field(() => Boolean, { description: 'Whether new addresses are given for it.' })
  enabled!: boolean;
}

/** A chain with its settings and the state of its watcher. */
@ObjectType({ description: 'A blockchain with its settings and the state of its watcher.' })
export class Chain {
  @Field(() => Int, { description: 'Its id.' })
  chainId!: number;

  @Field(() => String, { description: 'Its name.' })
  name!: string;

  @Field(() => Boolean, { description: 'Whether it is watched.' })
  enabled!: boolean;

  @Field(() => Int, { description: 'Blocks that must hold a deposit or follow it before it is credited.' })
  confirmations!: number;

  @Field(() => Boolean, { description: 'Whether a credit also waits until the block is final.' })
  needsFinality!: boolean;

  @Field(() => WebAddress, { nullable: true, description: 'Address of an explorer.' })
  explorerUrl?: string | null;

  @Field(() => [String], { description: 'Hosts of the two RPC services.' })
  rpcHosts!: string[];

  @Field(() => Int, {
    name: 'scannedBlock',
    nullable: true,
    description: 'Last block that was searched for deposits; null before the first one.',
  })
  cursor?: number | null;

  @Field(() => Int, {
    name: 'newestBlock',
    nullable: true,
    description: 'Newest block that both RPC services had.',
  })
  head?: number | null;

  @Field(() => DateTime, { nullable: true, description: 'When it was last read up to its newest block.' })
  readAt?: Date | null;

  @Field(() => ChainTroubleEnum, { nullable: true, description: 'Why it cannot be read; null if it can.' })
  trouble?: ChainTrouble | null;

  @Field(() => String, { nullable: true, description: 'More about the trouble.' })
  troubleDetail?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When the trouble began.' })
  troubleSince?: Date | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When its credits were stopped; null if they are not.',
  })
  frozenAt?: Date | null;

  @Field(() => String, { nullable: true, description: 'Why its credits were stopped, in English.' })
  frozenReason?: string | null;
}

/** An extended public key. */
@ObjectType({ description: 'An extended public key from which deposit addresses are derived.' })
export class DepositKey {
  @Field(() => ID, { description: 'Its id.' })
  id!: string;

  @Field(() => String, { description: 'First characters of the SHA-256 digest of the key.' })
  fingerprint!: string;

  @Field(() => Boolean, { description: 'Whether new addresses are derived from it.' })
  active!: boolean;

  @Field(() => Int, { description: 'Number of addresses that were derived from it.' })
  addresses!: number;

  @Field(() => DateTime, { description: 'When it was added.' })
  createdAt!: Date;
}

/** A chain to add or to change. */
@InputType({ description: 'A blockchain to add or to change. Fields that are left out stay.' })
export class AdminChainInput {
  @Field(() => Int, { description: 'Its id.' })
  chainId!: number;

  @Field(() => String, { nullable: true, description: 'Its name.' })
  name?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether it is watched; true for a new one.' })
  enabled?: boolean | null;

  @Field(() => Int, { nullable: true, description: 'Confirmations that a credit requires, 1 to 1,000.' })
  confirmations?: number | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether a credit also waits until the block is final; true for a new one.',
  })
  needsFinality?: boolean | null;

  @Field(() => Int, {
    nullable: true,
    description: 'First block to scan, for a new chain only; its newest block by default.',
  })
  startBlock?: number | null;

  @Field(() => String, { nullable: true, description: 'Address of an explorer, without /tx.' })
  explorerUrl?: string | null;

  @Field(() => [String], {
    nullable: true,
    description: 'Addresses of two RPC services of different providers. They are stored encrypted.',
  })
  rpcAddresses?: string[] | null;

  @Field(() => String, { description: 'Reason, kept in the audit log.' })
  reason!: string;
}

/** A token to add or to change. */
@InputType({ description: 'A token to add or to change. Fields that are left out stay.' })
export class AdminChainTokenInput {
  @Field(() => Int, { description: 'Id of the chain.' })
  chainId!: number;

  @Field(() => String, { description: 'Contract of the token. It states the decimals, which never change.' })
  contract!: string;

  @Field(() => String, { nullable: true, description: 'Its symbol.' })
  symbol?: string | null;

  @Field(() => Money, { nullable: true, description: 'Smallest sum of deposits that is credited.' })
  minimum?: bigint | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether new addresses are given for it.' })
  enabled?: boolean | null;

  @Field(() => String, { description: 'Reason, kept in the audit log.' })
  reason!: string;
}

/** A frozen chain to resume. */
@InputType({ description: 'A frozen blockchain whose deposits are to be credited again.' })
export class AdminChainResumeInput {
  @Field(() => Int, { description: 'Id of the chain.' })
  chainId!: number;

  @Field(() => String, { description: 'Reason, kept in the audit log.' })
  reason!: string;
}

/** An extended public key to use. */
@InputType({ description: 'An extended public key to derive new addresses from.' })
export class AdminDepositKeyInput {
  @Field(() => String, { description: "The extended public key (xpub…) of m/44'/60'/0'/0." })
  extendedKey!: string;

  @Field(() => String, { description: 'Reason, kept in the audit log.' })
  reason!: string;
}

/** A chain after a change. */
@ObjectType({ description: 'A blockchain after a change.' })
export class ChainPayload {
  @Field(() => Chain, { nullable: true, description: 'The chain.' })
  chain!: Chain | null;

  @Field(() => [UserError], { description: 'Why nothing changed.' })
  userErrors!: UserError[];
}

/** The keys after a change. */
@ObjectType({ description: 'The extended public keys after a change.' })
export class DepositKeysPayload {
  @Field(() => [DepositKey], { nullable: true, description: 'All keys, oldest first.' })
  keys!: DepositKey[] | null;

  @Field(() => [UserError], { description: 'Why nothing changed.' })
  userErrors!: UserError[];
}
