/**
 * Voids the unspent part of a gift. The part that nodes hold in leases is recalled and voided when it
 * returns.
 *
 * Rule: older gifts are spent before younger ones, and leases are granted from the oldest gift. Ordered by
 * age, the gift credit of a wallet therefore lies first in its open leases (oldest lease first), then in the
 * wallet; credit given after the voided gift comes last.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { inTransaction, RetryTransaction, query, queryOne, sql } from '../database/sql.ts';
import type { Lease } from './lease.rows.ts';
import { recallLeases } from './lease.recall.ts';
import { GIFTS, lockAccounts, walletAccount } from './ledger.ts';
import { debitGift } from './movements.ts';
import type { Movement } from './movements.ts';

/** The gift to void. */
export interface VoidedGift {
  /** The reference under which the gift was credited. */
  reference: string;
  /** The reason, as the owner reads it in the ledger. */
  description: string;
}

/** A credited gift: amount and sequence number of its ledger entry. */
interface Given {
  walletId: string;
  amount: Micros;
  seq: string;
}

/**
 * Debits exactly the unspent part of a gift: the part in the wallet at once, the part in leases when they
 * return it uncharged (they are recalled). Earlier and later gifts stay untouched. Does nothing for an
 * unknown reference.
 */
export async function voidGift(em: EntityManager, { reference, description }: VoidedGift): Promise<void> {
  await inTransaction(em, async (inner) => {
    const given = await givenAs(inner, reference);
    if (!given) return;
    const { walletId } = given;
    const account = walletAccount(walletId, 'GIFT');
    // While these accounts are locked, no lease of the wallet is granted or ends.
    const free = (await lockAccounts(inner, [GIFTS, account])).get(account) ?? 0n;
    const leases = await leasesWithGift(inner, walletId);
    const total = leases.reduce((sum, { gift }) => sum + gift, free);
    const end = greatest(0n, total - (await givenAfter(inner, given)));
    const left = least(given.amount, end);
    const held = await recordVoidInLeases(inner, leases, { start: end - left, end });
    const taken: Movement = {
      walletId,
      amount: left - held,
      kind: 'ADJUSTMENT',
      reference: `${reference}:void`,
      actor: SYSTEM_ACTOR,
      description,
    };
    if (taken.amount > 0n) await debit(inner, taken);
    if (held > 0n) await recallLeases(inner, walletId);
  });
}

/**
 * Accounts that `voidReturned` changes for this lease, to be locked together with those of the lease's end.
 */
export async function voidedAccounts(em: EntityManager, leaseId: string): Promise<string[]> {
  return (await voidRecordOf(em, leaseId)) === undefined ? [] : [GIFTS];
}

/**
 * Debits the void part of the gift credit (`gift`) that an ending lease has just returned to its wallet, and
 * deletes the record of it. `locked` are the accounts that the caller has locked. Throws RetryTransaction if
 * credit became void after they were locked, because locking another account now would break the lock order.
 */
export async function voidReturned(
  em: EntityManager,
  lease: Lease,
  { gift, locked }: { gift: Micros; locked: readonly string[] },
): Promise<void> {
  const record = await voidRecordOf(em, lease.id);
  if (record === undefined) return;
  if (!locked.includes(GIFTS)) throw new RetryTransaction('Gift credit became void while its lease ended.');
  await query(em, sql`delete from installation where name = ${nameOf(lease.id)}`);
  const [part = 0n, younger = 0n] = record.split(' ').map(BigInt);
  // The oldest credit was spent first, so the returned credit contains all of the younger part.
  const amount = least(part, greatest(0n, gift - younger));
  if (amount === 0n) return;
  await debit(em, {
    walletId: lease.walletId,
    amount,
    kind: 'ADJUSTMENT',
    reference: `void:${lease.id}`,
    actor: SYSTEM_ACTOR,
    description: 'Gift credit that became void while a node held it',
  });
}

async function voidRecordOf(em: EntityManager, leaseId: string): Promise<string | undefined> {
  const name = nameOf(leaseId);
  const row = await queryOne<{ value: string }>(em, sql`select value from installation where name = ${name}`);
  return row?.value;
}

async function debit(em: EntityManager, movement: Movement): Promise<void> {
  const { outcome } = await debitGift(em, movement);
  if (outcome !== 'POSTED') throw new Error(`${movement.reference} was not posted: ${outcome}.`);
}

async function givenAs(em: EntityManager, reference: string): Promise<Given | undefined> {
  const row = await queryOne<{ wallet_id: string; amount: string; seq: string }>(
    em,
    sql`
    select e.wallet_id, e.amount::text as amount, e.seq::text as seq
    from ledger_transaction t join ledger_entry e on e.transaction_id = t.id
    where t.reference = ${reference} and e.bucket = 'GIFT' and e.amount > 0`,
  );
  return row && { walletId: row.wallet_id, amount: BigInt(row.amount), seq: row.seq };
}

/** Gift credit given to the wallet after this gift. Returns of leases are no new gifts and do not count. */
async function givenAfter(em: EntityManager, { walletId, seq }: Given): Promise<Micros> {
  const row = await queryOne<{ sum: string }>(
    em,
    sql`
    select coalesce(sum(amount), 0)::text as sum from ledger_entry
    where account_id = ${walletAccount(walletId, 'GIFT')} and seq > ${seq} and amount > 0
      and kind <> 'LEASE_RETURN'`,
  );
  return BigInt(row?.sum ?? 0);
}

interface GiftInLease {
  id: string;
  gift: Micros;
}

async function leasesWithGift(em: EntityManager, walletId: string): Promise<GiftInLease[]> {
  const rows = await query<{ id: string; gift: string }>(
    em,
    sql`
    select l.id, a.balance::text as gift
    from wallet_lease l join ledger_account a on a.lease_id = l.id and a.bucket = 'GIFT' and a.balance > 0
    where l.wallet_id = ${walletId} and l.state in ('ACTIVE', 'ORPHANED') order by l.granted_at, l.id`,
  );
  return rows.map(({ id, gift }) => ({ id, gift: BigInt(gift) }));
}

/**
 * Records for each lease how much of its gift credit lies between `start` and `end` (void), and how much lies
 * after `end` (younger). Returns the total void amount in leases.
 */
async function recordVoidInLeases(
  em: EntityManager,
  leases: readonly GiftInLease[],
  { start, end }: { start: Micros; end: Micros },
): Promise<Micros> {
  let position = 0n;
  let sum = 0n;
  for (const { id, gift } of leases) {
    const next = position + gift;
    const part = greatest(0n, least(end, next) - greatest(start, position));
    const younger = greatest(0n, next - greatest(end, position));
    position = next;
    if (part === 0n) continue;
    sum += part;
    const value = `${part} ${younger}`;
    await query(em, sql`insert into installation (name, value) values (${nameOf(id)}, ${value})`);
  }
  return sum;
}

function nameOf(leaseId: string): string {
  return `void:${leaseId}`;
}

function least(one: Micros, other: Micros): Micros {
  return one < other ? one : other;
}

function greatest(one: Micros, other: Micros): Micros {
  return one > other ? one : other;
}
