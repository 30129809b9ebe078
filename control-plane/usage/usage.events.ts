/** Publishes new entries of the usage log to the owners of wallets. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { publishMany } from '../database/events.ts';
import { query, sql } from '../database/sql.ts';

/** Publishes `usageAdded` with each request id to the wallet's owner when the transaction of `em` commits. */
export async function usageAdded(
  em: EntityManager,
  rows: readonly { walletId: string; requestId: string }[],
): Promise<void> {
  const walletIds = [...new Set(rows.map((row) => row.walletId))];
  const owners = await query<{ id: string; user_id: string }>(
    em,
    sql`select id, user_id from wallet where id = any(${walletIds}::text[])`,
  );
  const ownerOf = new Map(owners.map((owner) => [owner.id, owner.user_id]));
  await publishMany(
    em,
    'usageAdded',
    rows.flatMap(({ walletId, requestId }) => {
      const audience = ownerOf.get(walletId);
      return audience ? [{ audience, id: requestId }] : [];
    }),
  );
}
