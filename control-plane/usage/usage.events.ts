/** Publishes settled requests to the owners of wallets. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { publishChanges } from '../database/events.ts';
import { query, sql } from '../database/sql.ts';
import { chargeOf } from './settlement.rules.ts';
import type { ReportedUsage } from './settlement.rules.ts';

/**
 * Publishes to each wallet's owner `usageAdded` with the ids of the requests, and `walletUpdated` if one of
 * them was charged: one notification for each wallet. Call it after the commit of the settlement: PostgreSQL
 * lets only one transaction at a time commit with notifications, so a settlement would wait for all others.
 */
export async function announceSettled(em: EntityManager, settled: readonly ReportedUsage[]): Promise<void> {
  if (settled.length === 0) return;
  const byWallet = Map.groupBy(settled, ({ walletId }) => walletId);
  const owners = await query<{ id: string; user_id: string }>(
    em,
    sql`select id, user_id from wallet where id = any(${[...byWallet.keys()]}::text[])`,
  );
  await publishChanges(
    em,
    owners.map(({ id, user_id: audience }) => {
      const requests = byWallet.get(id) ?? [];
      const isCharged = requests.some((usage) => chargeOf(usage) !== undefined);
      const usageAdded = requests.map(({ requestId }) => requestId);
      return { audience, ids: { usageAdded, ...(isCharged && { walletUpdated: [id] }) } };
    }),
  );
}
