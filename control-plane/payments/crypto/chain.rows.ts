/** Claims chains for a watcher, and stores its progress. One control plane at a time watches a chain. */
import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, queryOne, sql } from '../../database/sql.ts';
import { ChainSchema } from './chain.entity.ts';
import type { ChainRow } from './chain.entity.ts';
import type { BlockId } from './deposit.rules.ts';
import type { ChainError, ChainHead } from './rpc.pair.ts';

/** Time after which another process may take over, in seconds: longer than the requests of one step. */
const CLAIM_SECONDS = 120;
/** Time between two readings of a chain, in seconds. */
const PAUSE_SECONDS = 5;
/** Largest time until a chain with trouble is read again, in seconds. */
const PAUSE_MAX_SECONDS = 300;
/** Stored blocks of a chain, with which the block is found at which a reorganisation begins. */
const BLOCKS_KEPT = 128;

/** A chain that this process watches now. */
export interface ClaimedChain {
  row: ChainRow;
  claim: string;
}

/** Another process watches the chain now, or its settings were changed. Nothing was stored. */
export class ClaimLost extends Error {}

/** Claims a chain that is due; null if none is. */
export async function claimChain(em: EntityManager): Promise<ClaimedChain | null> {
  const claim = randomUUID();
  const found = await queryOne<{ chain_id: string }>(
    em,
    sql`update crypto_chain set claim = ${claim},
      claimed_until = now() + make_interval(secs => ${CLAIM_SECONDS})
    where chain_id = (
      select chain_id from crypto_chain
      where enabled and due_at <= now() and (claimed_until is null or claimed_until < now())
      order by due_at limit 1 for update skip locked)
    returning chain_id::text`,
  );
  if (!found) return null;
  const chainId = Number(found.chain_id);
  return { claim, row: await em.findOneOrFail(ChainSchema, { chainId }, { refresh: true }) };
}

/**
 * Locks the chain until the transaction ends, prolongs the claim, and returns the present row. Throws
 * ClaimLost.
 */
export async function holdClaim(em: EntityManager, { row, claim }: ClaimedChain): Promise<ChainRow> {
  const { chainId } = row;
  const held = await queryOne(
    em,
    sql`update crypto_chain set claimed_until = now() + make_interval(secs => ${CLAIM_SECONDS})
    where chain_id = ${chainId} and claim = ${claim} and enabled returning chain_id`,
  );
  if (!held) throw new ClaimLost(`Chain ${chainId} is watched by another process.`);
  return em.findOneOrFail(ChainSchema, { chainId }, { refresh: true });
}

/** The newest stored blocks that are not above `head`, in ascending order. */
export async function storedBlocks(em: EntityManager, chainId: number, head: number): Promise<BlockId[]> {
  const rows = await query<{ number: string; hash: string }>(
    em,
    // The column, because the plain name would be the text, in which 10 comes before 9.
    sql`select number::text, hash from crypto_block
    where chain_id = ${chainId} and number <= ${head} order by crypto_block.number`,
  );
  return rows.map(({ number, hash }) => ({ number: Number(number), hash }));
}

/** Stores that the chain was scanned up to this block. Forgets blocks above it, and the oldest ones. */
export async function storeScan(em: EntityManager, chainId: number, last: BlockId): Promise<void> {
  await query(em, sql`update crypto_chain set cursor = ${last.number} where chain_id = ${chainId}`);
  await query(
    em,
    sql`delete from crypto_block where chain_id = ${chainId} and (number >= ${last.number} or number < (
      select number from crypto_block where chain_id = ${chainId}
      order by number desc offset ${BLOCKS_KEPT - 1} limit 1))`,
  );
  await query(
    em,
    sql`insert into crypto_block (chain_id, number, hash) values (${chainId}, ${last.number}, ${last.hash})`,
  );
}

/**
 * Stores the head that was read, and the size of the next request. Ends trouble, except that one service
 * lags: then the chain was not read up to its newest block.
 */
export async function storeHead(
  em: EntityManager,
  chainId: number,
  { head, scanSize }: { head: ChainHead; scanSize: number },
): Promise<void> {
  const { number, isLagging } = head;
  const detail = `An RPC service has no block after ${number}, which the other one has.`;
  await query(
    em,
    sql`update crypto_chain set head = ${number}, scan_size = ${scanSize}, failures = 0,
      read_at = case when ${isLagging} then read_at else now() end,
      trouble = case when ${isLagging} then 'LAGGING' end,
      trouble_detail = case when ${isLagging} then ${detail} end,
      trouble_since = case when ${isLagging} then coalesce(trouble_since, now()) end
    where chain_id = ${chainId}`,
  );
}

/** Stores why the chain could not be read, and the size of the next request. */
export async function storeTrouble(
  em: EntityManager,
  { row, claim }: ClaimedChain,
  { error, scanSize }: { error: ChainError; scanSize: number },
): Promise<void> {
  await query(
    em,
    sql`update crypto_chain set failures = failures + 1, scan_size = ${scanSize},
      trouble_since = case when trouble is null then now() else trouble_since end,
      trouble = ${error.trouble}, trouble_detail = ${error.message}
    where chain_id = ${row.chainId} and claim = ${claim}`,
  );
}

/** Stops the credits of a chain, because it lost a block, until an administrator resumes them. */
export async function freezeChain(
  em: EntityManager,
  chainId: number,
  { block, reason }: { block: number; reason: string },
): Promise<void> {
  await query(
    em,
    sql`update crypto_chain set frozen_at = now(), frozen_reason = ${reason}, frozen_block = ${block}
    where chain_id = ${chainId} and frozen_at is null`,
  );
}

/** Gives the chain free, and plans its next reading: later after each failure. */
export async function releaseChain(em: EntityManager, { row, claim }: ClaimedChain): Promise<void> {
  await query(
    em,
    sql`update crypto_chain set claim = null, claimed_until = null,
      due_at = now() + make_interval(
        secs => least(${PAUSE_MAX_SECONDS}, ${PAUSE_SECONDS} * 2 ^ least(failures, 10)))
    where chain_id = ${row.chainId} and claim = ${claim}`,
  );
}
