/**
 * Reads a chain through two RPC services of different providers. Only equal answers of both count: if they
 * differ, the watcher waits, so that no single service can invent or hide a deposit.
 */
import type { LogFilter, Receipt, Rpc, RpcFault, TransferLog } from './rpc.client.ts';
import { RpcError } from './rpc.client.ts';

/** Difference of the two heads from which a service counts as lagging, in blocks. */
const LAG_BLOCKS_MAX = 50;

/**
 * Why a chain cannot be read. DISAGREEMENT: the services differ, as they do for moments around a
 * reorganisation. LAGGING: one service is many blocks behind, and the chain is read only up to there.
 * WRONG_CHAIN: a service is of another chain. The others are faults of one service.
 */
export type ChainTrouble = RpcFault | 'DISAGREEMENT' | 'LAGGING' | 'WRONG_CHAIN';

/** The chain cannot be read now; nothing may be concluded from that. */
export class ChainError extends Error {
  readonly trouble: ChainTrouble;

  constructor(trouble: ChainTrouble, message: string) {
    super(message);
    this.trouble = trouble;
  }
}

/** The part of the chain that both services have. */
export interface ChainHead {
  number: number;
  hash: string;
  /**
   * Height of the newest block that both call final, -1 if none is; null if credits do not wait for finality.
   */
  finalized: number | null;
  /** Whether one service is many blocks behind the other. */
  isLagging: boolean;
}

/** A chain. All methods throw ChainError. */
export interface Chain {
  head(): Promise<ChainHead>;
  /** Hash of the block at this height; null if the chain is shorter. */
  hashAt(height: number): Promise<string | null>;
  /** Transfers in a range, by their place in the chain. */
  transfers(filter: LogFilter): Promise<TransferLog[]>;
  /** Null if no block holds the transaction. */
  receipt(txHash: string): Promise<Receipt | null>;
}

/** Known properties of a chain. */
export interface ChainNature {
  chainId: number;
  /** Whether credits wait until the block is final. Both services must know the tag `finalized`. */
  needsFinality: boolean;
}

/** A chain as both services show it. */
export function openPair(services: readonly [Rpc, Rpc], { chainId, needsFinality }: ChainNature): Chain {
  const both = <T>(question: (rpc: Rpc) => Promise<T>): Promise<[T, T]> =>
    Promise.all([
      question(services[0]).catch((cause: unknown) => fail(1, cause)),
      question(services[1]).catch((cause: unknown) => fail(2, cause)),
    ]);
  const agreed = async <T>(what: string, question: (rpc: Rpc) => Promise<T>): Promise<T> => {
    const [one, two] = await both(question);
    if (textOf(one) !== textOf(two)) throw disagreement(what);
    return one;
  };
  const hashAt = (height: number): Promise<string | null> =>
    agreed(`block ${height}`, async (rpc) => (await rpc.block(height))?.hash ?? null);
  return {
    head: async () => {
      checkIds(await both((rpc) => rpc.chainId()), chainId);
      const [one, two] = await both((rpc) => rpc.block('latest'));
      if (!one || !two) throw new ChainError('WRONG', 'An RPC service has no newest block.');
      const number = Math.min(one.number, two.number);
      // The hash of a block commits to all blocks before it.
      const hash = await hashAt(number);
      if (hash === null) throw disagreement('the newest block');
      const finals = needsFinality ? await both((rpc) => rpc.block('finalized')) : null;
      const finalized = finals && Math.min(...finals.map((block) => block?.number ?? -1));
      return { number, hash, finalized, isLagging: Math.abs(one.number - two.number) > LAG_BLOCKS_MAX };
    },
    hashAt,
    transfers: (filter) => agreed('transfers', async (rpc) => (await rpc.transfers(filter)).sort(byPlace)),
    receipt: (txHash) => agreed('a receipt', (rpc) => rpc.receipt(txHash)),
  };
}

function checkIds(ids: readonly number[], expected: number): void {
  ids.forEach((id, at) => {
    const message = `RPC service ${at + 1} serves chain ${id} instead of ${expected}. Correct its address.`;
    if (id !== expected) throw new ChainError('WRONG_CHAIN', message);
  });
}

function fail(service: 1 | 2, cause: unknown): never {
  if (!(cause instanceof RpcError)) throw cause;
  throw new ChainError(cause.fault, `RPC service ${service}: ${cause.message}`);
}

function disagreement(what: string): ChainError {
  return new ChainError('DISAGREEMENT', `The two RPC services differ about ${what}.`);
}

function byPlace(left: TransferLog, right: TransferLog): number {
  return left.block.number - right.block.number || left.logIndex - right.logIndex;
}

/** The parsed answer as a text: members have a fixed order. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? part.toString() : part));
}
