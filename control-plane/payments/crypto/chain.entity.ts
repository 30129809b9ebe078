/** Database rows of blockchains and their tokens. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';
import type { Address } from './address.rules.ts';
import type { ChainTrouble } from './rpc.pair.ts';

/** Only `chain.settings.ts` and `chain.rows.ts` change these rows, with SQL. */
export const ChainSchema = defineEntity({
  name: 'Chain',
  tableName: 'crypto_chain',
  properties: {
    chainId: p.bigint('number').primary(),
    name: p.text(),
    enabled: p.boolean(),
    /** Blocks that must hold a deposit or follow it before the credit. */
    confirmations: p.integer(),
    /** Whether a credit also waits until the block is final. */
    needsFinality: p.boolean(),
    /** First block that is ever scanned. */
    startBlock: p.bigint('number'),
    explorerUrl: p.text().nullable(),
    /** Sealed addresses of the two RPC services. */
    rpcSealed: p.array(),
    /** Hosts of the two RPC services, for administrators. */
    rpcHosts: p.array(),
    version: p.integer(),
    /** Last scanned block; null before the first scan. */
    cursor: p.bigint('number').nullable(),
    /** Newest block that both services had. */
    head: p.bigint('number').nullable(),
    /** Blocks of the next request for transfers. */
    scanSize: p.integer(),
    /** When the chain was last read to its head. */
    readAt: p.datetime().nullable(),
    trouble: p.text().$type<ChainTrouble>().nullable(),
    troubleDetail: p.text().nullable(),
    troubleSince: p.datetime().nullable(),
    /** When credits stopped; null if they are made. */
    frozenAt: p.datetime().nullable(),
    frozenReason: p.text().nullable(),
    /** Number of the block that left the chain after a deposit of it was credited. */
    frozenBlock: p.bigint('number').nullable(),
    failures: p.integer(),
  },
});
export type ChainRow = InferEntity<typeof ChainSchema>;

/** A token that is accepted on a chain, pinned by contract and decimals. */
export const TokenSchema = defineEntity({
  name: 'Token',
  tableName: 'crypto_token',
  properties: {
    chainId: p.bigint('number').primary(),
    /** Contract in lower case. */
    contract: p.text().$type<Address>().primary(),
    symbol: p.text(),
    decimals: p.integer(),
    /** Smallest sum of deposits that is credited, in micro-USD. */
    minimum: p.bigint('bigint'),
    enabled: p.boolean(),
  },
});
export type TokenRow = InferEntity<typeof TokenSchema>;
