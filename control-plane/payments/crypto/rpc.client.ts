/**
 * Asks the RPC service of a chain, within limits of time and size, and parses its answers strictly. The
 * answer of a single service is never trusted: see rpc.pair.ts.
 */
import { Agent, request } from 'undici';
import { readAnswer } from '../../process/read-answer.ts';
import { publicLookup } from '../../upstreams/address-guard.ts';
import { parseAddress } from './address.rules.ts';
import type { Address } from './address.rules.ts';

/** Time for one answer, in ms. Services need up to some seconds for the logs of 2,000 blocks. */
const TIMEOUT_MS = 15_000;
/** Size of one answer, in bytes. 10,000 logs, the most that services send, have about 7 MB. */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
/** Logs in one answer. A request with more is repeated with fewer blocks. */
const LOGS_MAX = 10_000;
/** https://eips.ethereum.org/EIPS/eip-20: keccak-256 of `Transfer(address,address,uint256)`. */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** https://eips.ethereum.org/EIPS/eip-20: first four bytes of keccak-256 of `decimals()`. */
const DECIMALS_CALL = '0x313ce567';

/**
 * Why a request was not answered. REFUSED: the service wants smaller requests. RATE_LIMITED: it wants fewer.
 * DOWN: no connection, no answer in time, or an error. WRONG: an answer that makes no sense.
 */
export type RpcFault = 'REFUSED' | 'RATE_LIMITED' | 'DOWN' | 'WRONG';

/** A request that was not answered. The message has no address, which may hold a secret. */
export class RpcError extends Error {
  readonly fault: RpcFault;

  constructor(fault: RpcFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

/** A block. */
export interface Block {
  number: number;
  hash: string;
  parentHash: string;
}

/** A transfer of a token, as a log of the chain reports it. */
export interface TransferLog {
  token: Address;
  from: Address;
  to: Address;
  /** Smallest units of the token. */
  amount: bigint;
  txHash: string;
  block: { number: number; hash: string };
  /** Place of the log in its block. It changes when the transaction is mined again. */
  logIndex: number;
}

/** The result of a transaction. */
export interface Receipt {
  txHash: string;
  succeeded: boolean;
  block: { number: number; hash: string };
  /** Logs of the transaction in order; those that are no transfers are null. */
  logs: readonly (TransferLog | null)[];
}

/** The tokens and recipients of the transfers that are wanted, in a range of blocks. */
export interface LogFilter {
  tokens: readonly Address[];
  recipients: readonly Address[];
  from: number;
  to: number;
}

/** The RPC service of a chain. All methods throw RpcError. */
export interface Rpc {
  chainId(): Promise<number>;
  /** The newest or newest final block, or the block of a height; null if the chain has none. */
  block(which: 'latest' | 'finalized' | number): Promise<Block | null>;
  /** Transfers in a range; REFUSED if there are too many. */
  transfers(filter: LogFilter): Promise<TransferLog[]>;
  /** Null if no block holds the transaction. */
  receipt(txHash: string): Promise<Receipt | null>;
  /** The decimals that a token states; null if it states none. */
  decimals(token: Address): Promise<number | null>;
  close(): Promise<void>;
}

/** The client of the service at `url`. Private addresses are refused unless the operator allows them. */
export function openRpc(url: string, allowPrivate: boolean): Rpc {
  const agent = new Agent({
    connect: { timeout: TIMEOUT_MS, ...(!allowPrivate && { lookup: publicLookup }) },
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  });
  const call = (method: string, params: unknown[]): Promise<unknown> =>
    ask({ url, agent }, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  return {
    chainId: async () => quantity(await call('eth_chainId', [])),
    block: async (which) => {
      const height = typeof which === 'number' ? hex(which) : which;
      const block = await call('eth_getBlockByNumber', [height, false]);
      return block === null ? null : blockOf(block);
    },
    transfers: async ({ tokens, recipients, from, to }) => {
      const topics = [TRANSFER_TOPIC, null, recipients.map(topicOf)];
      const filter = { address: tokens, topics, fromBlock: hex(from), toBlock: hex(to) };
      const logs = list(await call('eth_getLogs', [filter]));
      if (logs.length > LOGS_MAX) throw new RpcError('REFUSED', 'The answer holds too many logs.');
      return logs.flatMap((log) => transferOf(log) ?? []);
    },
    receipt: async (txHash) => {
      const receipt = await call('eth_getTransactionReceipt', [txHash]);
      return receipt === null ? null : receiptOf(receipt);
    },
    decimals: async (token) => {
      const result = await call('eth_call', [{ to: token, data: DECIMALS_CALL }, 'latest']);
      return typeof result === 'string' && /^0x[0-9a-f]{64}$/.test(result) ? small(result) : null;
    },
    close: () => agent.destroy(),
  };
}

async function ask({ url, agent }: { url: string; agent: Agent }, body: string): Promise<unknown> {
  const { statusCode, text } = await exchange({ url, agent }, body);
  if (statusCode === 429) throw new RpcError('RATE_LIMITED', 'The RPC service asks for fewer requests.');
  if (statusCode === 413) throw new RpcError('REFUSED', 'The RPC service asks for smaller requests.');
  const answer = parse(text);
  if (answer?.['error']) throw refusalOf(answer['error']);
  if (statusCode !== 200) throw new RpcError('DOWN', `The RPC service answered with status ${statusCode}.`);
  if (!answer || !('result' in answer)) throw wrong('no result');
  return answer['result'];
}

async function exchange({ url, agent }: { url: string; agent: Agent }, body: string) {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const headers = { 'content-type': 'application/json', 'accept-encoding': 'identity' };
    const response = await request(url, { method: 'POST', dispatcher: agent, signal, headers, body });
    return { statusCode: response.statusCode, text: await readText(response.body) };
  } catch (error) {
    if (error instanceof RpcError) throw error;
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw new RpcError('DOWN', `The RPC service did not answer${code}.`);
  }
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const bytes = await readAnswer(body, ANSWER_BYTES_MAX);
  if (bytes === null) throw new RpcError('REFUSED', 'The answer of the RPC service is too large.');
  return bytes.toString('utf8');
}

/**
 * -32005 means "limit exceeded" (EIP-1474). Services use it and texts of their own for requests that are too
 * large, and for callers that ask too often.
 */
function refusalOf(error: unknown): RpcError {
  const { code, message } = isObject(error) ? error : {};
  const text = typeof message === 'string' ? message : '';
  if (/rate|too many requests|capacity|credits/i.test(text) && !/range/i.test(text))
    return new RpcError('RATE_LIMITED', 'The RPC service asks for fewer requests.');
  if (code === -32005 || /range|more than|too (large|many|big)|limit|response size|timeout/i.test(text))
    return new RpcError('REFUSED', 'The RPC service asks for smaller requests.');
  return new RpcError('DOWN', `The RPC service answered with error ${String(code)}.`);
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function blockOf(value: unknown): Block {
  const block = object(value);
  return {
    number: quantity(block['number']),
    hash: hash(block['hash']),
    parentHash: hash(block['parentHash']),
  };
}

function receiptOf(value: unknown): Receipt {
  const receipt = object(value);
  return {
    txHash: hash(receipt['transactionHash']),
    succeeded: quantity(receipt['status']) === 1,
    block: { number: quantity(receipt['blockNumber']), hash: hash(receipt['blockHash']) },
    logs: list(receipt['logs']).map(transferOf),
  };
}

/** Null if the log is no transfer of ERC-20: those of ERC-721 have a fourth topic and no data. */
function transferOf(value: unknown): TransferLog | null {
  const log = object(value);
  const topics = list(log['topics']);
  const data = log['data'];
  const isAmount = typeof data === 'string' && /^0x[0-9a-fA-F]{64}$/.test(data);
  if (topics[0] !== TRANSFER_TOPIC || topics.length !== 3 || !isAmount || log['removed'] === true)
    return null;
  return {
    token: address(log['address']),
    from: recipient(topics[1]),
    to: recipient(topics[2]),
    amount: BigInt(data),
    txHash: hash(log['transactionHash']),
    block: { number: quantity(log['blockNumber']), hash: hash(log['blockHash']) },
    logIndex: quantity(log['logIndex']),
  };
}

function topicOf(to: Address): string {
  return `0x${to.slice(2).padStart(64, '0')}`;
}

function recipient(topic: unknown): Address {
  return address(`0x${hash(topic).slice(26)}`);
}

function address(value: unknown): Address {
  const parsed = typeof value === 'string' ? parseAddress(value.toLowerCase()) : null;
  if (!parsed) throw wrong('no address');
  return parsed;
}

function hash(value: unknown): string {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(value)) throw wrong('no hash');
  return value.toLowerCase();
}

function quantity(value: unknown): number {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{1,13}$/.test(value)) throw wrong('no number');
  return Number.parseInt(value, 16);
}

/** A number of 256 bits that is small if it is sensible; null otherwise. */
function small(value: string): number | null {
  const number = BigInt(value);
  return number <= 255n ? Number(number) : null;
}

function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw wrong('no list');
  return value;
}

function object(value: unknown): Record<string, unknown> {
  if (!isObject(value)) throw wrong('no object');
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wrong(what: string): RpcError {
  return new RpcError('WRONG', `The RPC service sent an answer that makes no sense: ${what}.`);
}

function hex(number: number): string {
  return `0x${number.toString(16)}`;
}
