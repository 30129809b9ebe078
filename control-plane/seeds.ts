/**
 * What every installation starts with: a policy and an administrator. Runs at each start and changes nothing
 * then.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { seedAdmin } from './accounts/account.service.ts';
import { seedCatalog } from './catalog/catalog.service.ts';
import { seedPolicy } from './accounts/policy.service.ts';
import type { Settings } from './settings.ts';

/** Fills an empty database. Safe to run from several processes at once. */
export async function seed(em: EntityManager, settings: Settings): Promise<void> {
  const { adminEmail: email, adminPassword: password } = settings;
  await seedPolicy(em.fork());
  await seedCatalog(em.fork());
  await seedAdmin(em.fork(), email && password ? { email, password } : null);
}
