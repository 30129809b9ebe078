/**
 * Making what is left of a gift void, also what nodes hold of it: that part when they give it back.
 *
 * The rule: older gifts are spent before younger ones, and leases are granted from the oldest. So of all
 * gift credit that a wallet has, laid out by age, the first lies in its open leases, by their own age, and
 * the rest in the wallet; what was given after the gift in question comes last.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import { SYSTEM_ACTOR } from '../context.ts';
import { inTransaction, Overtaken, query, queryOne, sql } from '../sql.ts';
import type { Lease } from './lease.rows.ts';
import { recallLeases } from './lease.recall.ts';
import { GIFTS, lockAccounts, walletAccount } from './ledger.ts';
import { debitGift } from './movements.ts';
import type { Movement } from './movements.ts';

/** The gift that becomes void, by the reference under which it was credited, and why. */
export interface VoidedGift {
  reference: string;
  description: string;
}

/** What was given, where its entry stands. */
interface Given {
  walletId: string;
  amount: Micros;
  seq: string;
}

/**
 * Takes back exactly what is unspent of a gift: at once what the wallet has of it; what nodes hold is
 * recalled, and taken when it returns uncharged. No other gift credit is touched, neither earlier nor later
 * one. Does nothing for a reference under which nothing was given.
 */
export async function voidGift(em: EntityManager, { reference, description }: VoidedGift): Promise<void> {
  await inTransaction(em, async (inner) => {
    const given = await givenAs(inner, reference);
    if (!given) return;
    const { walletId } = given;
    const account = walletAccount(walletId, 'GIFT');
    // As long as these are locked, no lease is granted and none ends.
    const free = (await lockAccounts(inner, [GIFTS, account])).get(account) ?? 0n;
    const leases = await leasesWithGift(inner, walletId);
    const total = leases.reduce((sum, { gift }) => sum + gift, free);
    const end = greatest(0n, total - (await givenAfter(inner, given)));
    const left = least(given.amount, end);
    const held = await noteHeld(inner, leases, { start: end - left, end });
    const taken: Movement = {
      walletId,
      amount: left - held,
      kind: 'ADJUSTMENT',
      reference: `${reference}:void`,
      actor: SYSTEM_ACTOR,
      description,
    };
    if (taken.amount > 0n) await take(inner, taken);
    if (held > 0n) await recallLeases(inner, walletId);
  });
}

/** Which accounts taking back from this lease changes beside those of its end: to be locked with them. */
export async function voidedAccounts(em: EntityManager, leaseId: string): Promise<string[]> {
  return (await noteOf(em, leaseId)) === undefined ? [] : [GIFTS];
}

/**
 * Takes back what is void of the gift credit that the lease has just returned to its wallet, with the
 * `locked` accounts, and forgets what was noted of it: the lease ends. Throws Overtaken where something
 * became void after these were locked: to lock more now would be out of order.
 */
export async function voidReturned(
  em: EntityManager,
  lease: Lease,
  { gift, locked }: { gift: Micros; locked: readonly string[] },
): Promise<void> {
  const note = await noteOf(em, lease.id);
  if (note === undefined) return;
  if (!locked.includes(GIFTS)) throw new Overtaken('Gift credit became void while its lease ended.');
  await query(em, sql`delete from installation where name = ${nameOf(lease.id)}`);
  const [part = 0n, younger = 0n] = note.split(' ').map(BigInt);
  // What was spent meanwhile was the oldest; the younger part is the last to go.
  const amount = least(part, greatest(0n, gift - younger));
  if (amount === 0n) return;
  await take(em, {
    walletId: lease.walletId,
    amount,
    kind: 'ADJUSTMENT',
    reference: `void:${lease.id}`,
    actor: SYSTEM_ACTOR,
    description: 'Gift credit that became void while a node held it',
  });
}

async function noteOf(em: EntityManager, leaseId: string): Promise<string | undefined> {
  const name = nameOf(leaseId);
  const row = await queryOne<{ value: string }>(em, sql`select value from installation where name = ${name}`);
  return row?.value;
}

async function take(em: EntityManager, movement: Movement): Promise<void> {
  const { outcome } = await debitGift(em, movement);
  if (outcome !== 'POSTED') throw new Error(`${movement.reference} was not taken back: ${outcome}.`);
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

/** What was given to the wallet since then: what leases return was given before. */
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
 * Notes with each lease how much of its gift credit lies from `start` to `end`, and how much of it is
 * younger. Returns how much that is in all.
 */
async function noteHeld(
  em: EntityManager,
  leases: readonly GiftInLease[],
  { start, end }: { start: Micros; end: Micros },
): Promise<Micros> {
  let place = 0n;
  let sum = 0n;
  for (const { id, gift } of leases) {
    const next = place + gift;
    const part = greatest(0n, least(end, next) - greatest(start, place));
    const younger = greatest(0n, next - greatest(end, place));
    place = next;
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
