/** Wallets: opens them, reads their balances, and adjusts them for administrators. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { formatDollars } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import type { Actor } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { newId } from '../database/ids.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import { announceAccount } from './account.record.ts';
import type { Bucket, PostOutcome } from './ledger.ts';
import { creditCash, creditGift, debitGift, returnCash } from './movements.ts';
import type { Movement } from './movements.ts';

/** A wallet with its balances in micro-USD. */
export interface WalletState {
  id: string;
  userId: string;
  /** Free cash, without leases. */
  cash: Micros;
  /** Free gift credit, without leases. */
  gift: Micros;
  /** Uncharged credit in open leases. */
  held: Micros;
  /** Debt after a clawback beyond the balance, zero or positive. */
  receivable: Micros;
  frozen: boolean;
  /** The owner is warned below this balance; null for never. */
  lowBalanceThreshold: Micros | null;
}

const REASON_LENGTH_MAX = 500;
const IDEMPOTENCY_KEY_LENGTH_MAX = 64;

/**
 * Returns the id of the user's wallet; opens a wallet if there is none. Concurrent calls open one wallet.
 */
export async function ensureWallet(em: EntityManager, userId: string): Promise<string> {
  return inTransaction(em, async (inner) => {
    await inner.flush();
    const opened = await queryOne<{ id: string }>(
      inner,
      sql`
      insert into wallet (id, user_id) values (${newId('wal')}, ${userId}) on conflict (user_id) do nothing
        returning id`,
    );
    if (!opened) return walletIdOf(inner, userId);
    await query(inner, sql`select ledger_open_wallet(${opened.id})`);
    await announceAccount(inner, opened.id);
    return opened.id;
  });
}

/** The id of the user's wallet. Throws NOT_FOUND if there is none. */
export async function walletIdOf(em: EntityManager, userId: string): Promise<string> {
  const row = await queryOne<{ id: string }>(em, sql`select id from wallet where user_id = ${userId}`);
  if (!row) throw new UserFailure('NOT_FOUND', 'This user has no wallet. Check the user id.');
  return row.id;
}

/** The wallet of a user with its balances; undefined if there is none. */
export async function walletOfUser(em: EntityManager, userId: string): Promise<WalletState | undefined> {
  return (await readWallets(em, sql`w.user_id = ${userId}`))[0];
}

/** Wallets by the ids of their users, without users who have no wallet. */
export async function walletsOfUsers(
  em: EntityManager,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, WalletState>> {
  const wallets = await readWallets(em, sql`w.user_id = any(${[...userIds]}::text[])`);
  return new Map(wallets.map((wallet) => [wallet.userId, wallet]));
}

/** The wallet with its balances; undefined if there is none. */
export async function walletById(em: EntityManager, walletId: string): Promise<WalletState | undefined> {
  return (await walletsById(em, [walletId]))[0];
}

/** Wallets with their balances, without unknown ids, in no particular order. */
export function walletsById(em: EntityManager, ids: readonly string[]): Promise<WalletState[]> {
  return readWallets(em, sql`w.id = any(${[...ids]}::text[])`);
}

/** Micro-USD that may be spent now: free cash and gift; 0 while the wallet is frozen. */
export function availableIn(wallet: WalletState): Micros {
  return wallet.frozen ? 0n : wallet.cash + wallet.gift;
}

/**
 * Sets the balance below which the owner is warned, in micro-USD; null for never. Throws INVALID below zero.
 */
export async function setLowBalanceThreshold(
  em: EntityManager,
  walletId: string,
  threshold: Micros | null,
): Promise<void> {
  if (threshold !== null && threshold < 0n) {
    throw new UserFailure('INVALID', 'The threshold must be zero or more.', 'lowBalanceThreshold');
  }
  await query(em, sql`update wallet set low_balance_threshold = ${threshold} where id = ${walletId}`);
}

/** A change of a balance by an administrator. */
export interface Adjustment {
  userId: string;
  bucket: Bucket;
  /** Micro-USD; negative to debit. */
  amount: Micros;
  reason: string;
  idempotencyKey: string;
  actor: Actor;
}

/**
 * Credits or debits a wallet for an administrator. The same idempotency key with the same input changes
 * nothing again and returns `replayed`. Throws INVALID, NOT_FOUND, INSUFFICIENT_BALANCE (a debit beyond the
 * free balance of the bucket) or IDEMPOTENCY_MISMATCH (the key was used with another input).
 */
export async function adjust(
  em: EntityManager,
  adjustment: Adjustment,
): Promise<{ walletId: string; transactionId: string; replayed: boolean }> {
  checkAdjustment(adjustment);
  const { bucket, actor } = adjustment;
  const walletId = await walletIdOf(em, adjustment.userId);
  const amount = adjustment.amount < 0n ? -adjustment.amount : adjustment.amount;
  const kind = bucket === 'GIFT' && adjustment.amount > 0n ? 'GIFT_ADMIN' : 'ADJUSTMENT';
  const reference = `adjust:${actor.id ?? actor.kind}:${adjustment.idempotencyKey}`;
  const movement: Movement = { walletId, amount, kind, reference, actor, description: adjustment.reason };
  const result = await movementFor(adjustment)(em, movement);
  if (result.outcome === 'INSUFFICIENT') {
    throw new UserFailure(
      'INSUFFICIENT_BALANCE',
      `Less than $${formatDollars(amount)} of ${bucket} is free. Debit less, or wait until leases end.`,
      'amount',
    );
  }
  if (result.outcome === 'MISMATCH') {
    throw new UserFailure(
      'IDEMPOTENCY_MISMATCH',
      'This idempotency key was used with another input. Use a new key.',
      'idempotencyKey',
    );
  }
  return { walletId, transactionId: result.transactionId, replayed: result.outcome === 'REPLAYED' };
}

function checkAdjustment({ amount, reason, idempotencyKey }: Adjustment): void {
  if (amount === 0n) throw new UserFailure('INVALID', 'The amount must not be zero.', 'amount');
  if (!reason.trim() || reason.length > REASON_LENGTH_MAX) {
    throw new UserFailure('INVALID', `Give a reason of at most ${REASON_LENGTH_MAX} characters.`, 'reason');
  }
  if (!idempotencyKey || idempotencyKey.length > IDEMPOTENCY_KEY_LENGTH_MAX) {
    throw new UserFailure(
      'INVALID',
      `Give an idempotency key of 1 to ${IDEMPOTENCY_KEY_LENGTH_MAX} characters.`,
      'idempotencyKey',
    );
  }
}

function movementFor({
  bucket,
  amount,
}: Adjustment): (em: EntityManager, movement: Movement) => Promise<PostOutcome> {
  if (bucket === 'GIFT') return amount > 0n ? creditGift : debitGift;
  return amount > 0n ? creditCash : returnCash;
}

interface WalletRow {
  id: string;
  user_id: string;
  frozen: boolean;
  low_balance_threshold: string | null;
  cash: string;
  gift: string;
  held: string;
  receivable: string;
}

async function readWallets(em: EntityManager, condition: ReturnType<typeof sql>): Promise<WalletState[]> {
  const rows = await query<WalletRow>(
    em,
    sql`
    select w.id, w.user_id, w.frozen, w.low_balance_threshold,
      coalesce(sum(a.balance) filter (where a.kind = 'WALLET' and a.bucket = 'CASH'), 0)::text as cash,
      coalesce(sum(a.balance) filter (where a.kind = 'WALLET' and a.bucket = 'GIFT'), 0)::text as gift,
      (select coalesce(sum(h.balance), 0) from wallet_lease l join ledger_account h on h.lease_id = l.id
        where l.wallet_id = w.id and l.state in ('ACTIVE', 'ORPHANED'))::text as held,
      coalesce(-sum(a.balance) filter (where a.kind = 'RECEIVABLE'), 0)::text as receivable
    from wallet w left join ledger_account a on a.wallet_id = w.id and a.kind <> 'LEASE'
    where ${condition} group by w.id`,
  );
  return rows.map((row) => ({
    id: row.id,
    userId: row.user_id,
    frozen: row.frozen,
    cash: BigInt(row.cash),
    gift: BigInt(row.gift),
    held: BigInt(row.held),
    receivable: BigInt(row.receivable),
    lowBalanceThreshold: row.low_balance_threshold === null ? null : BigInt(row.low_balance_threshold),
  }));
}
