/** Recalls leases: requests that nodes return leases before their end. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';

/** NOTIFY channel by which the control planes learn of recalls; its payload is `<node id> <lease id>`. */
export const RECALL_CHANNEL = 'gateway_recall';

/**
 * Recalls the open leases of a wallet, or only those of one key, e.g. because a purchase needs their cash.
 * Returns whether a lease was newly recalled; if so, wait a moment and try again. Disconnected nodes get the
 * recall when they reconnect. A lease that is locked by a settlement is skipped, so that the caller never
 * waits for it.
 */
export async function recallLeases(
  em: EntityManager,
  walletId: string,
  keyId: string | null = null,
): Promise<boolean> {
  return recallWhere(em, sql`l.wallet_id = ${walletId} and ${leasesOfKey(keyId)}`);
}

/**
 * Recalls leases that an earlier recall skipped or that were granted at that moment: those of wallets with a
 * debt, and those of keys whose leases and spend together exceed the spend limit. Returns whether it recalled
 * any.
 */
export async function recallOverdue(em: EntityManager): Promise<boolean> {
  return recallWhere(
    em,
    sql`(
      exists (select from ledger_account a where a.id = 'receivable:' || l.wallet_id and a.balance < 0)
      or exists (select from api_key k where k.id = l.key_id and k.spend_limit <
        (select coalesce(sum(u.cost), 0) from usage_key_month u where u.key_id = k.id
          and u.month >= date_trunc('month', clock_timestamp(), 'UTC'))
        + (select sum(o.granted_cash + o.granted_gift - o.charge_sum - o.released) from wallet_lease o
          where o.wallet_id = l.wallet_id and o.key_id = k.id and o.state in ('ACTIVE', 'ORPHANED'))))`,
  );
}

/** Recalls open leases that match `condition`, which is SQL over `wallet_lease l`. */
async function recallWhere(em: EntityManager, condition: Statement): Promise<boolean> {
  const recalled = await query<{ id: string; node_id: string }>(
    em,
    sql`
    update wallet_lease set recalled_at = clock_timestamp() where id in (
      select l.id from wallet_lease l
      where l.state in ('ACTIVE', 'ORPHANED') and l.recalled_at is null and ${condition}
      order by l.id for update of l skip locked
    ) returning id, node_id`,
  );
  for (const { id, node_id: nodeId } of recalled) {
    await query(em, sql`select pg_notify(${RECALL_CHANNEL}, ${`${nodeId} ${id}`})`);
  }
  return recalled.length > 0;
}

/** SQL condition for the leases of one key; for null it matches all leases. */
export function leasesOfKey(keyId: string | null): Statement {
  return keyId === null ? sql`true` : sql`key_id = ${keyId}`;
}
