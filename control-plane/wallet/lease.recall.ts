/** Calling leases back before their node would give them back by itself. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, sql } from '../sql.ts';
import type { Statement } from '../sql.ts';

/** The channel on which nodes' processes hear of recalls; its payload is `<node id> <lease id>`. */
export const RECALL_CHANNEL = 'gateway_recall';

/**
 * Asks the nodes for the leases of a wallet (of one key, where named), e.g. because a purchase needs their
 * cash. Returns whether any recall was sent: then wait a moment and try again. Leases give their whole rest
 * back; nodes that are away hear of it when they connect again. A lease that is being settled at this moment
 * is passed over, so that nobody waits for it.
 */
export async function recallLeases(
  em: EntityManager,
  walletId: string,
  keyId: string | null = null,
): Promise<boolean> {
  return recallWhere(em, sql`l.wallet_id = ${walletId} and ${ofKey(keyId)}`);
}

/**
 * Recalls what should have been recalled and was passed over, or was granted at that moment: leases of
 * wallets that owe something, and leases that with what was spent exceed the limit of their key.
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

/** `condition` is SQL over `wallet_lease l`. */
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

/** The condition for leases of one key; null means those of the whole wallet. */
export function ofKey(keyId: string | null): Statement {
  return keyId === null ? sql`true` : sql`key_id = ${keyId}`;
}
