/** The configuration record with the settings of the installation, which nodes receive. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { SettingsRecord } from '@gateway/shared/records';
import { announce } from './database/config-log.ts';
import { passKeyOf } from './playground/hidden-key.ts';
import type { Settings } from './process/settings.ts';
import { inTransaction, query, queryOne, queryRow, sql } from './database/sql.ts';

/**
 * Announces the settings to the nodes if they have changed since the last announcement. Call it at each
 * start, and in every transaction that changes one of them.
 */
export async function announceSettings(
  em: EntityManager,
  { publicUrl, consoleUrl, secretKey }: Settings,
): Promise<void> {
  await inTransaction(em, async (inner) => {
    await lockSettingsRecord(inner);
    const stored = await queryOne<{ requestsFree: boolean }>(
      inner,
      sql`select requests_free as "requestsFree" from storefront`,
    );
    const concurrentRequests = await queryRow<{ perWallet: number; perKey: number }>(
      inner,
      sql`select wallet_requests as "perWallet", key_requests as "perKey" from service_limits`,
    );
    const record: SettingsRecord = {
      kind: 'SETTINGS',
      id: 'settings',
      publicUrl,
      consoleUrl,
      poolRequestsFree: stored?.requestsFree ?? true,
      playgroundKey: passKeyOf({ secretKey }),
      // The feed seals the key for each node.
      stateKey: null,
      nodeIds: await registeredNodes(inner),
      concurrentRequests,
    };
    const same = await queryOne(
      inner,
      sql`select 1 from config_log where kind = 'SETTINGS' and key = 'settings'
      and payload = ${JSON.stringify(record)}::jsonb`,
    );
    if (!same) await announce(inner, { upsert: [record] });
  });
}

/**
 * Serialises announcements of the settings until the transaction ends, so that of two concurrent
 * registrations the second includes the first. A transaction with many changes calls it first.
 */
export async function lockSettingsRecord(em: EntityManager): Promise<void> {
  await query(em, sql`select pg_advisory_xact_lock(hashtextextended('settings record', 0))`);
}

/** Ids of the nodes and of their further workers that have registered and are not draining, sorted. */
async function registeredNodes(em: EntityManager): Promise<string[]> {
  const nodes = await query<{ id: string }>(
    em,
    sql`select id from data_plane_node where started_at is not null and not draining order by id collate "C"`,
  );
  return nodes.map(({ id }) => id);
}
