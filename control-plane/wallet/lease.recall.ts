/** Calling leases back before their node would give them back by itself. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, sql } from '../sql.ts';
import type { Statement } from '../sql.ts';

/** The channel on which nodes' processes hear of recalls; its payload is `<node id> <lease id>`. */
export const RECALL_CHANNEL = 'gateway_recall';

/**
 * Asks the nodes for the leases of a wallet (of one key, where named), e.g. because a purchase needs their
 * cash. Returns whether any recall was sent: then wait a moment and try again. Leases give their whole rest
 * back.
 */
export async function recallLeases(
  em: EntityManager,
  walletId: string,
  keyId: string | null = null,
): Promise<boolean> {
  const recalled = await query<{ id: string; node_id: string }>(
    em,
    sql`
    update wallet_lease set recalled_at = clock_timestamp() where id in (
      select id from wallet_lease
      where wallet_id = ${walletId} and state = 'ACTIVE' and recalled_at is null and ${ofKey(keyId)}
      order by id for update skip locked
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
