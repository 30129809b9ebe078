/** What nodes know of a wallet: whether its owner may spend. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { AccountRecord } from '@gateway/shared/records';
import { announce } from '../config-log.ts';
import { queryOne, sql } from '../sql.ts';

/**
 * Tells the nodes whether the wallet's owner may spend. Call it in the transaction that changed the wallet
 * or the user.
 */
export async function announceAccount(em: EntityManager, walletId: string): Promise<number> {
  await em.flush();
  const row = await queryOne<{ frozen: boolean; suspended: boolean; closed: boolean }>(
    em,
    sql`
    select w.frozen, u.state <> 'ACTIVE' as suspended, u.state = 'DELETED' as closed
    from wallet w join users u on u.id = w.user_id where w.id = ${walletId}`,
  );
  if (!row) return 0;
  const record: AccountRecord = {
    kind: 'ACCOUNT',
    id: walletId,
    walletId,
    frozen: row.frozen,
    suspended: row.suspended,
    closed: row.closed,
  };
  return announce(em, { upsert: [record] });
}
