/** The configuration record of a wallet, by which nodes know whether its owner may spend. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { AccountRecord } from '@gateway/shared/records';
import { announce } from '../database/config-log.ts';
import { queryOne, sql } from '../database/sql.ts';

/**
 * Publishes to the nodes whether the wallet's owner may spend. `closed`: the owner closed the account. Call
 * it in the transaction that changed the wallet or the user. Returns the revision; 0 for an unknown wallet.
 */
export async function announceAccount(
  em: EntityManager,
  walletId: string,
  { closed = false }: { closed?: boolean } = {},
): Promise<number> {
  await em.flush();
  const row = await queryOne<{ frozen: boolean; suspended: boolean }>(
    em,
    sql`
    select w.frozen, u.state <> 'ACTIVE' as suspended
    from wallet w join users u on u.id = w.user_id where w.id = ${walletId}`,
  );
  if (!row) return 0;
  const record: AccountRecord = {
    kind: 'ACCOUNT',
    id: walletId,
    walletId,
    frozen: row.frozen,
    suspended: row.suspended,
    closed,
  };
  return announce(em, { upsert: [record] });
}
