/** Making gift credit void, also what nodes hold of it: that part when they give it back. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import { SYSTEM_ACTOR } from '../context.ts';
import { inTransaction, query, queryOne, sql } from '../sql.ts';
import type { Lease } from './lease.rows.ts';
import { recallLeases } from './lease.recall.ts';
import { GIFTS, lockAccounts, walletAccount } from './ledger.ts';
import { debitGift } from './movements.ts';
import type { Movement } from './movements.ts';

/**
 * Takes at most `amount` of the wallet's gift credit back: what the wallet has at once; what nodes hold is
 * recalled, and taken when it returns uncharged. Gift credit that comes later is not touched.
 */
export async function voidGift(em: EntityManager, movement: Movement): Promise<void> {
  await inTransaction(em, async (inner) => {
    const { walletId, amount } = movement;
    const account = walletAccount(walletId, 'GIFT');
    const balance = (await lockAccounts(inner, [GIFTS, account])).get(account) ?? 0n;
    const taken = least(amount, balance);
    if (taken > 0n) await debitGift(inner, { ...movement, amount: taken });
    await voidHeld(inner, walletId, amount - taken);
  });
}

/** Takes back what is void of the gift credit that the lease has just returned to its wallet. */
export async function voidReturned(em: EntityManager, lease: Lease, gift: Micros): Promise<void> {
  if (gift === 0n) return;
  const row = await queryOne<{ value: string }>(
    em,
    sql`select value from installation where name = ${nameOf(lease.id)}`,
  );
  if (!row) return;
  const { outcome } = await debitGift(em, {
    walletId: lease.walletId,
    amount: least(BigInt(row.value), gift),
    kind: 'ADJUSTMENT',
    reference: `void:${lease.id}`,
    actor: SYSTEM_ACTOR,
    description: 'Gift credit that became void while a node held it',
  });
  if (outcome !== 'POSTED') throw new Error(`Void credit of ${lease.id} was not taken back: ${outcome}.`);
}

/** Notes with each open lease how much of its gift part is void, and calls the leases back. */
async function voidHeld(em: EntityManager, walletId: string, amount: Micros): Promise<void> {
  const held = await query<{ id: string; gift: string }>(
    em,
    sql`
    select l.id, a.balance::text as gift
    from wallet_lease l join ledger_account a on a.lease_id = l.id and a.bucket = 'GIFT' and a.balance > 0
    where l.wallet_id = ${walletId} and l.state in ('ACTIVE', 'ORPHANED') order by l.id`,
  );
  let rest = amount;
  for (const { id, gift } of held) {
    const part = least(rest, BigInt(gift));
    if (part === 0n) break;
    rest -= part;
    await query(em, sql`insert into installation (name, value) values (${nameOf(id)}, ${String(part)})`);
  }
  if (rest < amount) await recallLeases(em, walletId);
}

function nameOf(leaseId: string): string {
  return `void:${leaseId}`;
}

function least(one: Micros, other: Micros): Micros {
  return one < other ? one : other;
}
