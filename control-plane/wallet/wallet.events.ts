/** Tells the owners of wallets, at commit, that their balances changed. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { publishMany } from '../events.ts';
import { query, sql } from '../sql.ts';

/** Announces changed balances. Heard only when the transaction of `em` commits. */
export async function walletChanged(em: EntityManager, walletIds: readonly string[]): Promise<void> {
  const events = await query<{ id: string; audience: string }>(
    em,
    sql`select id, user_id as audience from wallet where id = any(${[...new Set(walletIds)]}::text[])`,
  );
  await publishMany(em, 'walletUpdated', events);
}
