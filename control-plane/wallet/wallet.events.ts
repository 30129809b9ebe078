/** Publishes changes of balances to the owners of wallets. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { publishMany } from '../database/events.ts';
import { query, sql } from '../database/sql.ts';

/** Publishes `walletUpdated` for each wallet to its owner when the transaction of `em` commits. */
export async function walletChanged(em: EntityManager, walletIds: readonly string[]): Promise<void> {
  const events = await query<{ id: string; audience: string }>(
    em,
    sql`select id, user_id as audience from wallet where id = any(${[...new Set(walletIds)]}::text[])`,
  );
  await publishMany(em, 'walletUpdated', events);
}

/** Publishes `walletUpdated` to the user when the transaction of `em` commits. */
export async function walletOfUserChanged(em: EntityManager, userId: string): Promise<void> {
  const wallets = await query<{ id: string }>(em, sql`select id from wallet where user_id = ${userId}`);
  await walletChanged(
    em,
    wallets.map(({ id }) => id),
  );
}
