/** Watches one chain: finds deposits, follows reorganisations, and credits what is deep enough. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { inTransaction, query, sql } from '../../database/sql.ts';
import { decryptSecret } from '../../upstreams/stored-secrets.ts';
import type { Address } from './address.rules.ts';
import { TokenSchema } from './chain.entity.ts';
import type { ChainRow } from './chain.entity.ts';
import {
  claimChain,
  ClaimLost,
  freezeChain,
  holdClaim,
  releaseChain,
  storeHead,
  storeScan,
  storeTrouble,
  storedBlocks,
} from './chain.rows.ts';
import type { ClaimedChain } from './chain.rows.ts';
import { rpcLocation } from './chain.settings.ts';
import { creditDeposits } from './credit.ts';
import { apply, bury, depositsIn, lockDeposit, sight, tellOwners } from './deposit.rows.ts';
import type { DepositRow } from './deposit.rows.ts';
import type { BlockId } from './deposit.rules.ts';
import type { Pass, WatcherParts } from './pass.ts';
import { openRpc } from './rpc.client.ts';
import { ChainError, openPair } from './rpc.pair.ts';
import type { ChainHead } from './rpc.pair.ts';
import { findFork, nextRange, nextSize } from './scan.rules.ts';
import type { BlockRange } from './scan.rules.ts';
import { transfersOf } from './transfers.ts';
import type { Transfer } from './transfers.ts';

/** Blocks before the last scanned one that are read again, because logs of new blocks may appear late. */
const OVERLAP_BLOCKS = 12;
/** Addresses in one request for transfers; services refuse much longer lists. */
const RECIPIENTS_MAX = 500;
/** Ranges that one pass scans, so that other chains get their turn. */
const RANGES_PER_PASS = 50;

/** Job: reads all chains that are due, one after the other. */
export async function watchChains(parts: WatcherParts): Promise<void> {
  for (;;) {
    const claimed = await claimChain(parts.em());
    if (!claimed) return;
    try {
      await watch(parts, claimed);
    } finally {
      await releaseChain(parts.em(), claimed);
    }
  }
}

async function watch(parts: WatcherParts, claimed: ClaimedChain): Promise<void> {
  const { row } = claimed;
  const { secretKey, allowPrivateUpstreams } = parts.settings;
  const open = (at: 0 | 1) =>
    openRpc(
      decryptSecret(secretKey, row.rpcSealed[at] ?? '', rpcLocation(row.chainId, at)),
      allowPrivateUpstreams,
    );
  const services = [open(0), open(1)] as const;
  try {
    const tokens = await parts.em().find(TokenSchema, { chainId: row.chainId });
    const decimals = new Map(tokens.map((token) => [token.contract, token.decimals]));
    const terms = { chainId: row.chainId, decimals };
    await runPass({ ...parts, claimed, terms, chain: openPair(services, row) });
  } catch (error) {
    await onFailure(parts, claimed, error);
  } finally {
    await Promise.all(services.map((service) => service.close()));
  }
}

/** Stores the trouble of a chain. Rejects with errors that are no trouble of a chain. */
async function onFailure({ em, log }: WatcherParts, claimed: ClaimedChain, error: unknown): Promise<void> {
  if (error instanceof ClaimLost) return;
  if (!(error instanceof ChainError)) throw error;
  const { chainId, scanSize, trouble } = claimed.row;
  const isRefused = error.trouble === 'REFUSED';
  const next = isRefused ? nextSize(scanSize, true) : scanSize;
  await storeTrouble(em(), claimed, { error, scanSize: next });
  if (trouble !== error.trouble)
    log?.({ level: 'warn', message: error.message, chainId, trouble: error.trouble });
}

async function runPass(pass: Pass): Promise<void> {
  const { em, claimed, chain } = pass;
  const { row } = claimed;
  const head = await chain.head();
  const stored = await storedBlocks(em(), row.chainId, head.number);
  const fork = await findFork(stored, async ({ number, hash }) => (await chain.hashAt(number)) === hash);
  const scanSize = await scan(pass, head, { cursor: row.cursor ?? null, fork });
  await inTransaction(em(), async (inner) => {
    await holdClaim(inner, claimed);
    await storeHead(inner, row.chainId, { head, scanSize });
    await bury(inner, row.chainId, head.number);
    if (head.number !== row.head) await tellOwners(inner, row.chainId);
  });
  await creditDeposits(pass, head);
}

/** Scans up to the head, range by range. Returns the size of the next request. */
async function scan(
  pass: Pass,
  head: ChainHead,
  from: { cursor: number | null; fork: number | null },
): Promise<number> {
  const { startBlock } = pass.claimed.row;
  let { scanSize } = pass.claimed.row;
  let { cursor, fork } = from;
  for (let ranges = 0; ranges < RANGES_PER_PASS; ranges += 1) {
    const range = nextRange({ cursor, fork, startBlock, overlap: OVERLAP_BLOCKS }, head.number, scanSize);
    if (!range) break;
    await scanRange(pass, range);
    if (range.to - range.from + 1 === scanSize) scanSize = nextSize(scanSize, false);
    if (range.to === head.number) break;
    cursor = range.to;
    fork = range.to;
  }
  return scanSize;
}

async function scanRange(pass: Pass, range: BlockRange): Promise<void> {
  const { em, claimed, chain } = pass;
  const { chainId } = claimed.row;
  const hash = await chain.hashAt(range.to);
  if (hash === null) throw new ChainError('DISAGREEMENT', `The chain ended before block ${range.to}.`);
  const found = await findTransfers(pass, range);
  const missing = await findMissing(pass, range, found);
  await inTransaction(em(), async (inner) => {
    const row = await holdClaim(inner, claimed);
    for (const transfer of found) await sight(inner, chainId, transfer);
    for (const { reference } of missing) await lose(inner, row, reference);
    await storeScan(inner, chainId, { number: range.to, hash });
  });
}

async function findTransfers(pass: Pass, { from, to }: BlockRange): Promise<Transfer[]> {
  const { chain, terms } = pass;
  const tokens = [...terms.decimals.keys()];
  if (tokens.length === 0) return [];
  const logs = [];
  for (const recipients of await recipientGroups(pass))
    logs.push(...(await chain.transfers({ tokens, recipients, from, to })));
  return transfersOf(logs, terms);
}

/** All addresses of users, in groups for one request each. */
async function recipientGroups({ em }: Pass): Promise<Address[][]> {
  const rows = await query<{ address: Address }>(
    em(),
    sql`select address from crypto_address order by address`,
  );
  const groups: Address[][] = [];
  for (let at = 0; at < rows.length; at += RECIPIENTS_MAX)
    groups.push(rows.slice(at, at + RECIPIENTS_MAX).map(({ address }) => address));
  return groups;
}

/**
 * Deposits of the range that the chain no longer holds: another block is at their height. Throws ChainError
 * if their block is still there, because then the services have left a transfer out.
 */
async function findMissing(pass: Pass, range: BlockRange, found: Transfer[]): Promise<DepositRow[]> {
  const references = new Set(found.map(({ reference }) => reference));
  const stored = await depositsIn(pass.em(), pass.claimed.row.chainId, range);
  const missing = stored.filter(({ reference }) => !references.has(reference));
  const blocks = new Map<number, string | null>();
  for (const { blockNumber, blockHash, txHash } of missing) {
    if (!blocks.has(blockNumber)) blocks.set(blockNumber, await pass.chain.hashAt(blockNumber));
    if (blocks.get(blockNumber) === blockHash)
      throw new ChainError('WRONG', `The RPC services left out the transfer of transaction ${txHash}.`);
  }
  return missing;
}

/** Stores that a deposit left the chain. A credit is taken back, and freezes the chain. */
async function lose(em: EntityManager, { chainId }: ChainRow, reference: string): Promise<void> {
  const row = await lockDeposit(em, reference);
  const state = await apply(em, row, { type: 'MISSING' });
  if (state !== 'REVERSED') return;
  const block: BlockId = { number: row.blockNumber, hash: row.blockHash };
  const reason = `Block ${block.number} (${block.hash}) left the chain after a deposit of it was credited.`;
  await freezeChain(em, chainId, { block: block.number, reason });
}
