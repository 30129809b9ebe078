/** Publishes settled requests to the owners of wallets. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { publishChanges } from '../database/events.ts';
import { chargeOf } from './settlement.rules.ts';
import type { ReportedUsage } from './settlement.rules.ts';

/**
 * Publishes to each wallet's owner `usageAdded` with the ids of the requests, and `walletUpdated` if one of
 * them was charged: one notification for each wallet. Call it after the commit of the settlement: PostgreSQL
 * lets only one transaction at a time commit with notifications, so a settlement would wait for all others.
 * `owners` has the user of each wallet, by wallet id.
 */
export async function announceSettled(
  em: EntityManager,
  settled: readonly ReportedUsage[],
  owners: ReadonlyMap<string, string>,
): Promise<void> {
  const byWallet = Map.groupBy(settled, ({ walletId }) => walletId);
  await publishChanges(
    em,
    [...byWallet].map(([id, requests]) => {
      const isCharged = requests.some((usage) => chargeOf(usage) !== undefined);
      const usageAdded = requests.map(({ requestId }) => requestId);
      return {
        audience: owners.get(id) ?? '',
        ids: { usageAdded, ...(isCharged && { walletUpdated: [id] }) },
      };
    }),
  );
}
