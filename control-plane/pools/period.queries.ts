/** Reads the ledger entries of a pool's periods. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, sql } from '../database/sql.ts';
import { entryOfTransaction } from '../wallet/entries.service.ts';
import type { EntryView } from '../wallet/entries.service.ts';
import { refundReferences, referencesOf } from './payment.ts';
import type { PoolPeriodRow } from './pool.entity.ts';

/** The entries of a period: its payment and gift, and the refund if the pool was cancelled. */
export async function entriesOfPeriod(
  em: EntityManager,
  { poolId, number }: Pick<PoolPeriodRow, 'poolId' | 'number'>,
): Promise<EntryView[]> {
  const references = [...Object.values(referencesOf({ poolId, number })), ...refundReferences(poolId)];
  const rows = await query<{ id: string; wallet_id: string }>(
    em,
    sql`select t.id, p.wallet_id from ledger_transaction t join pools p on p.id = ${poolId}
    where t.reference = any(${references}::text[]) order by t.at, t.id`,
  );
  const entries = await Promise.all(
    rows.map(({ id, wallet_id: walletId }) => entryOfTransaction(em, walletId, id)),
  );
  return entries.filter((entry) => entry !== undefined);
}
