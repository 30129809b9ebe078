/** The double-entry ledger: every movement of money is one transaction of signed lines that sum to zero. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import type { Actor } from '../context.ts';
import { newId } from '../ids.ts';
import { query, queryOne, sql } from '../sql.ts';

export type Bucket = 'CASH' | 'GIFT';

/** Why money moved. The last three are between us: customers see what is left of them, the USAGE. */
export type TransactionKind =
  | 'TOP_UP_CARD'
  | 'TOP_UP_CRYPTO'
  | 'GIFT_POOL'
  | 'GIFT_ADMIN'
  | 'USAGE'
  | 'USAGE_REVERSAL'
  | 'POOL_PURCHASE'
  | 'POOL_RENEWAL'
  | 'REFUND'
  | 'DISPUTE_HOLD'
  | 'DISPUTE_RELEASE'
  | 'ADJUSTMENT'
  | 'GIFT_EXPIRY'
  | 'LEASE_GRANT'
  | 'LEASE_RETURN';

/** One signed line; credits are positive: what a customer owns and what we earned. */
export interface Line {
  account: string;
  amount: Micros;
}

export interface Posting {
  kind: TransactionKind;
  /** Unique for all time: the same reference with the same input is answered, not posted again. */
  reference: string;
  /**
   * What the caller asked for, where the lines depend on the balances of the moment. Without it the lines
   * are the input.
   */
  input?: string;
  actor: Actor;
  description: string;
  lines: readonly Line[];
  /** The transaction that this one takes back. */
  reverses?: string;
}

/**
 * What became of a post. MISMATCH: the reference was used with another input. INSUFFICIENT: a wallet or
 * lease does not hold enough; nothing was written.
 */
export type PostOutcome =
  | { outcome: 'POSTED' | 'REPLAYED' | 'MISMATCH'; transactionId: string }
  | { outcome: 'INSUFFICIENT'; transactionId: null };

/** How many accounts share the revenue, so that it is not one hot row. */
const REVENUE_SHARDS = 16;

export const FUNDING = 'funding';
export const GIFTS = 'gift';
export const WRITEOFF = 'writeoff';

/** What a customer may spend. */
export function walletAccount(walletId: string, bucket: Bucket): string {
  return `wallet:${walletId}:${bucket}`;
}

/** What a node may spend of a wallet. */
export function leaseAccount(leaseId: string, bucket: Bucket): string {
  return `lease:${leaseId}:${bucket}`;
}

/** What a customer owes after a clawback beyond the balance: zero or below. */
export function receivableAccount(walletId: string): string {
  return `receivable:${walletId}`;
}

/** The revenue account of a posting; `owner` (a journal, a wallet) always has the same one. */
export function revenueAccount(owner: string): string {
  let hash = 0;
  for (let at = 0; at < owner.length; at += 1) hash = (hash * 31 + owner.charCodeAt(at)) % 65_521;
  return `revenue:${hash % REVENUE_SHARDS}`;
}

/**
 * Posts in the transaction of `em`. Lines of zero are left out; lines of one account are added up. Throws
 * when the lines do not sum to zero or name an unknown account: both are our mistake.
 */
export async function post(em: EntityManager, posting: Posting): Promise<PostOutcome> {
  const lines = mergeLines(posting.lines);
  if (lines.reduce((sum, line) => sum + line.amount, 0n) !== 0n) {
    throw new Error(`The lines of ${posting.reference} do not sum to zero.`);
  }
  const result = await queryOne<PostOutcome & { transactionId: string | null }>(
    em,
    sql`
    select transaction_id as "transactionId", outcome from ledger_post(
      ${newId('txn')}, ${posting.kind}, ${posting.reference}, ${posting.actor.kind}, ${posting.actor.id},
      ${posting.description}, ${posting.reverses ?? null}, ${posting.input ?? describeLines(lines)},
        ${lines.map((line) => line.account)}::text[],
      ${lines.map((line) => line.amount.toString())}::bigint[], ${lines.map(() => newId('led'))}::text[])`,
  );
  if (!result) throw new Error('ledger_post returned nothing.');
  return result;
}

/**
 * Locks the accounts in id order until the end of the transaction and returns their balances (0 for unknown
 * ones).
 */
export async function lockAccounts(
  em: EntityManager,
  accounts: readonly string[],
): Promise<Map<string, Micros>> {
  const rows = await query<{ id: string; balance: string }>(
    em,
    sql`select id, balance from ledger_lock(${[...accounts]}::text[])`,
  );
  const balances = new Map<string, Micros>(accounts.map((account) => [account, 0n]));
  for (const row of rows) balances.set(row.id, BigInt(row.balance));
  return balances;
}

function mergeLines(lines: readonly Line[]): Line[] {
  const sums = new Map<string, Micros>();
  for (const { account, amount } of lines) sums.set(account, (sums.get(account) ?? 0n) + amount);
  return [...sums]
    .map(([account, amount]) => ({ account, amount }))
    .filter((line) => line.amount !== 0n)
    .sort((left, right) => (left.account < right.account ? -1 : 1));
}

function describeLines(lines: readonly Line[]): string {
  return lines.map(({ account, amount }) => `${account}=${amount}`).join(',');
}
