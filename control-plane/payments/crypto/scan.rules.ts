/** Which blocks the watcher of a chain reads next, and what a token's amount is worth. */
import type { BlockId } from './deposit.rules.ts';

/** Largest number of blocks in one request for logs; public RPC services refuse more. */
export const RANGE_BLOCKS_MAX = 2000;
/** Decimals of the micro-dollar. */
const MICRO_DECIMALS = 6;
/** Smallest and largest decimals of a token that the gateway accepts. */
export const DECIMALS_MIN = 6;
export const DECIMALS_MAX = 18;

/** Blocks from `from` to `to`, both included. */
export interface BlockRange {
  from: number;
  to: number;
}

/** State at the start of a scan. */
export interface ScanStart {
  /** Last block that was scanned; null before the first scan. */
  cursor: number | null;
  /** Highest stored block that is still on the chain; null if none is. */
  fork: number | null;
  /** First block that is ever scanned. */
  startBlock: number;
  /** Blocks before the cursor that are read again, because logs of new blocks may appear late. */
  overlap: number;
}

/**
 * The next range up to `head`, at most `size` blocks; null if the chain is shorter than the first block. It
 * begins up to `overlap` blocks before the end of what is both scanned and on the chain, but always reaches
 * at least one block further, so that a scan in small ranges arrives at the head.
 */
export function nextRange(start: ScanStart, head: number, size: number): BlockRange | null {
  const { cursor, fork, startBlock } = start;
  const known = cursor === null || fork === null ? startBlock - 1 : Math.min(cursor, fork, head);
  const overlap = Math.min(start.overlap, size - 1);
  const from = Math.max(startBlock, known - overlap + 1);
  return from > head ? null : { from, to: Math.min(head, from + size - 1) };
}

/** The number of blocks of the next request: half after a refusal, else double, from 1 to the maximum. */
export function nextSize(size: number, isRefused: boolean): number {
  const next = isRefused ? Math.floor(size / 2) : size * 2;
  return Math.min(RANGE_BLOCKS_MAX, Math.max(1, next));
}

/**
 * The highest stored block that is still on the chain, found by bisection: a block on the chain has all
 * stored blocks before it on the chain as well. Null if none is. `stored` is in ascending order.
 */
export async function findFork(
  stored: readonly BlockId[],
  isOnChain: (block: BlockId) => Promise<boolean>,
): Promise<number | null> {
  let low = 0;
  let high = stored.length;
  // The newest block nearly always is, and one request is enough.
  let at = high - 1;
  while (low < high) {
    const block = stored[at];
    if (block && (await isOnChain(block))) low = at + 1;
    else high = at;
    at = Math.floor((low + high) / 2);
  }
  return stored[low - 1]?.number ?? null;
}

/**
 * The value of a token's amount in micro-USD, one token being one dollar. Parts of a micro-dollar, which only
 * tokens of more than six decimals have, are cut off.
 */
export function microsOf(amount: bigint, decimals: number): bigint {
  return amount / 10n ** BigInt(decimals - MICRO_DECIMALS);
}
