/** The double-entry ledger: every movement of money is one transaction of signed lines that sum to zero. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import type { Actor } from '../graphql/context.ts';
import { newId } from '../database/ids.ts';
import { bigintArray } from '../database/number-array.ts';
import { reading, run, runTogether } from '../database/statements.ts';
import type { ReadStatement } from '../database/statements.ts';
import { sql } from '../database/sql.ts';

/** Kind of credit: paid for, or given. */
export type Bucket = 'CASH' | 'GIFT';

/** Why money moved. Customers never see LEASE_GRANT and LEASE_RETURN. */
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

/** One signed line of a transaction, in micro-USD. Balances of customers and revenue are positive. */
export interface Line {
  account: string;
  amount: Micros;
}

/** A transaction to post. */
export interface Posting {
  kind: TransactionKind;
  /**
   * Unique for all time: a second post with the same reference and input is not posted, but answered
   * REPLAYED.
   */
  reference: string;
  /**
   * Input of the caller, compared when the reference is repeated. Needed if the lines depend on present
   * balances; by default the lines are compared.
   */
  input?: string;
  actor: Actor;
  description: string;
  lines: readonly Line[];
  /** Id of the transaction that this one reverses. */
  reverses?: string;
}

/**
 * Result of a post. REPLAYED: the same transaction was posted before. MISMATCH: the reference was used with
 * another input. INSUFFICIENT: a wallet or lease does not hold enough. Only POSTED has written anything.
 */
export type PostOutcome =
  | { outcome: 'POSTED' | 'REPLAYED' | 'MISMATCH'; transactionId: string }
  | { outcome: 'INSUFFICIENT'; transactionId: null };

/** Number of revenue accounts; several, so that no single row is contended. */
const REVENUE_SHARDS = 16;

/** Account of payments from outside: its negative balance is what customers have paid in. */
export const FUNDING = 'funding';
/** Account of gifts: its negative balance is what the operator has given. */
export const GIFTS = 'gift';
/** Account of charges that no wallet could pay. */
export const WRITEOFF = 'writeoff';

/** Account of the free credit of a wallet. */
export function walletAccount(walletId: string, bucket: Bucket): string {
  return `wallet:${walletId}:${bucket}`;
}

/** Account of the credit in a lease. */
export function leaseAccount(leaseId: string, bucket: Bucket): string {
  return `lease:${leaseId}:${bucket}`;
}

/** Account of a wallet's debt after a clawback beyond its balance: zero or negative. */
export function receivableAccount(walletId: string): string {
  return `receivable:${walletId}`;
}

/** The revenue account of an owner (a node or a wallet), always the same one for the same owner. */
export function revenueAccount(owner: string): string {
  let hash = 0;
  for (let at = 0; at < owner.length; at += 1) hash = (hash * 31 + owner.charCodeAt(at)) % 65_521;
  return `revenue:${hash % REVENUE_SHARDS}`;
}

/**
 * Posts in the transaction of `em`. Zero lines are left out, and lines of the same account are added up.
 * Throws an Error, which is a bug of the caller, if the lines do not sum to zero or name an unknown account.
 */
export async function post(em: EntityManager, posting: Posting): Promise<PostOutcome> {
  return run(em, posted(posting));
}

/**
 * Posts one after another as `post` does, and returns the results in the same order. `id` becomes the id of
 * the transaction.
 */
export async function postAll(
  em: EntityManager,
  postings: readonly { posting: Posting; id: string }[],
): Promise<PostOutcome[]> {
  return runTogether(
    em,
    postings.map(({ posting, id }) => posted(posting, id)),
  );
}

function posted(posting: Posting, id = newId('txn')): ReadStatement<PostOutcome> {
  const lines = mergeLines(posting.lines);
  if (lines.reduce((sum, line) => sum + line.amount, 0n) !== 0n) {
    throw new Error(`The lines of ${posting.reference} do not sum to zero.`);
  }
  const statement = sql`
    select transaction_id as "transactionId", outcome from ledger_post(
      ${id}, ${posting.kind}, ${posting.reference}, ${posting.actor.kind}, ${posting.actor.id},
      ${posting.description}, ${posting.reverses ?? null}, ${posting.input ?? describeLines(lines)},
        ${lines.map((line) => line.account)}::text[],
      ${bigintArray(lines.map((line) => line.amount))}::bigint[], ${lines.map(() => newId('led'))}::text[])`;
  return reading<PostOutcome, PostOutcome>(statement, ([result]) => {
    if (!result) throw new Error('ledger_post returned nothing.');
    return result;
  });
}

/**
 * Locks the accounts in id order until the end of the transaction. Returns their balances in micro-USD; 0 for
 * unknown accounts.
 */
export async function lockAccounts(
  em: EntityManager,
  accounts: readonly string[],
): Promise<Map<string, Micros>> {
  return run(em, lockedAccounts(accounts));
}

/** The statement of `lockAccounts`. */
export function lockedAccounts(accounts: readonly string[]): ReadStatement<Map<string, Micros>> {
  const statement = sql`select id, balance from ledger_lock(${[...accounts]}::text[])`;
  return reading(statement, (rows: readonly { id: string; balance: string }[]) => {
    const balances = new Map<string, Micros>(accounts.map((account) => [account, 0n]));
    for (const row of rows) balances.set(row.id, BigInt(row.balance));
    return balances;
  });
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
