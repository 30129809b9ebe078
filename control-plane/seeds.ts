/**
 * What every installation starts with: a policy and an administrator. Runs at each start and changes nothing
 * then.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { seedAdmin } from './accounts/account.service.ts';
import { seedCatalog } from './catalog/catalog.service.ts';
import type { SettingsRecord } from '@gateway/shared/records';
import { seedPolicy } from './accounts/policy.service.ts';
import { announce } from './config-log.ts';
import { passKeyOf } from './playground/hidden-key.ts';
import type { Settings } from './settings.ts';
import { inTransaction, queryOne, sql } from './sql.ts';

/** Fills an empty database. Safe to run from several processes at once. */
export async function seed(em: EntityManager, settings: Settings): Promise<void> {
  const { adminEmail: email, adminPassword: password } = settings;
  await seedPolicy(em.fork());
  await seedCatalog(em.fork());
  await seedAdmin(em.fork(), email && password ? { email, password } : null);
}

/** Tells the nodes the addresses of this installation, where they are others than at the last start. */
export async function announceSettings(
  em: EntityManager,
  { publicUrl, consoleUrl, secretKey }: Settings,
): Promise<void> {
  const record: SettingsRecord = {
    kind: 'SETTINGS',
    id: 'settings',
    publicUrl,
    consoleUrl,
    poolRequestsFree: true,
    playgroundKey: passKeyOf({ secretKey }),
  };
  await inTransaction(em, async (inner) => {
    const same = await queryOne(
      inner,
      sql`select 1 from config_log where kind = 'SETTINGS' and key = 'settings'
      and payload = ${JSON.stringify(record)}::jsonb`,
    );
    if (!same) await announce(inner, { upsert: [record] });
  });
}
