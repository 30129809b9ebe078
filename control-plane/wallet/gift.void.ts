/**
 * Voids the unspent parts of gifts. The parts that nodes hold in leases are recalled and voided when they
 * return.
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

/** The gifts to void. */
export interface VoidedGifts {
  /** The references under which the gifts were credited. */
  references: readonly string[];
  /** The reason, as the owner reads it in the ledger. */
  description: string;
}

/** The unspent part of a gift: a range of the wallet's gift credit, which is ordered by age. */
interface Left {
  reference: string;
  start: Micros;
  end: Micros;
}

/**
 * Debits exactly the unspent parts of gifts: the parts in wallets at once, the parts in leases when they
 * return them uncharged (they are recalled). Other gifts stay untouched. Ignores unknown references.
 */
export async function voidGifts(em: EntityManager, { references, description }: VoidedGifts): Promise<void> {
  await inTransaction(em, async (inner) => {
    const wallets = await walletsWith(inner, references);
    // All wallets share the account of gifts, which is locked below.
    if (wallets.length === 0) return;
    const accounts = wallets.map((walletId) => walletAccount(walletId, 'GIFT'));
    // While these accounts are locked, no lease of the wallets is granted or ends.
    const balances = await lockAccounts(inner, [GIFTS, ...accounts]);
    for (const walletId of wallets) {
      const free = balances.get(walletAccount(walletId, 'GIFT')) ?? 0n;
      await voidInWallet(inner, { walletId, free }, { references, description });
    }
  });
}

async function voidInWallet(
  em: EntityManager,
  { walletId, free }: { walletId: string; free: Micros },
  { references, description }: VoidedGifts,
): Promise<void> {
  const leases = await leasesWithGift(em, walletId);
  const inLeases = leases.reduce((sum, { gift }) => sum + gift, 0n);
  const parts = (await leftOf(em, walletId, inLeases + free)).filter(({ reference }) =>
    references.includes(reference),
  );
  for (const { reference, start, end } of parts) {
    const amount = greatest(0n, end - greatest(start, inLeases));
    const kind = 'ADJUSTMENT' as const;
    const taken = {
      walletId,
      amount,
      kind,
      reference: `${reference}:void`,
      actor: SYSTEM_ACTOR,
      description,
    };
    if (amount > 0n) await debit(em, taken);
  }
  const held = await recordVoidInLeases(em, leases, parts);
  if (held > 0n) await recallLeases(em, walletId);
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
  // The oldest credit was spent first, so the returned credit is the youngest of the lease.
  const amount = partsOf(record).reduce(
    (sum, { part, younger }) => sum + least(part, greatest(0n, gift - younger)),
    0n,
  );
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

async function walletsWith(em: EntityManager, references: readonly string[]): Promise<string[]> {
  const rows = await query<{ wallet_id: string }>(
    em,
    sql`
    select distinct e.wallet_id from ledger_transaction t join ledger_entry e on e.transaction_id = t.id
    where t.reference = any(${[...references]}::text[]) and e.bucket = 'GIFT' and e.amount > 0
    order by e.wallet_id`,
  );
  return rows.map(({ wallet_id: id }) => id);
}

/**
 * The unspent parts of all gifts of the wallet, which has `total` gift credit. Refunds and disputes of a
 * top-up with play money make this gift smaller. Returns of leases are no gifts.
 */
async function leftOf(em: EntityManager, walletId: string, total: Micros): Promise<Left[]> {
  const rows = await query<{ reference: string; amount: string }>(
    em,
    sql`
    select given.reference, sum(given.amount)::text as amount from (
      select e.amount, e.seq, case when t.reference like 'topup:%'
        then 'topup:' || split_part(t.reference, ':', 2) || ':credit' else t.reference end as reference
      from ledger_entry e join ledger_transaction t on t.id = e.transaction_id
      where e.account_id = ${walletAccount(walletId, 'GIFT')} and e.kind <> 'LEASE_RETURN') given
    group by given.reference having sum(given.amount) > 0 order by min(given.seq) desc`,
  );
  let end = total;
  return rows.map(({ reference, amount }) => {
    const part = { reference, start: greatest(0n, end - BigInt(amount)), end };
    end = part.start;
    return part;
  });
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
 * Records for each lease how much of its gift credit is void, and how much of it is younger than each void
 * part. Returns the total void amount in leases.
 */
async function recordVoidInLeases(
  em: EntityManager,
  leases: readonly GiftInLease[],
  parts: readonly Left[],
): Promise<Micros> {
  let position = 0n;
  let sum = 0n;
  for (const { id, gift } of leases) {
    const [from, to] = [position, position + gift];
    position = to;
    const found = parts.flatMap(({ start, end }) => {
      const part = greatest(0n, least(end, to) - greatest(start, from));
      return part === 0n ? [] : [{ part, younger: greatest(0n, to - end) }];
    });
    if (found.length === 0) continue;
    sum += found.reduce((held, { part }) => held + part, 0n);
    const value = found.map(({ part, younger }) => `${part} ${younger}`).join(' ');
    await query(em, sql`insert into installation (name, value) values (${nameOf(id)}, ${value})`);
  }
  return sum;
}

/** The void parts of a record, each with the amount of the lease that is younger. */
function partsOf(record: string): { part: Micros; younger: Micros }[] {
  const numbers = record.split(' ').map(BigInt);
  return numbers.flatMap((part, at) => (at % 2 === 0 ? [{ part, younger: numbers[at + 1] ?? 0n }] : []));
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
