/**
 * What every installation starts with: a policy and an administrator. Runs at each start and changes nothing
 * then.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { seedAdmin } from './accounts/account.service.ts';
import { seedCatalog } from './catalog/catalog.service.ts';
import { seedPolicy } from './accounts/policy.service.ts';
import { UserFailure } from './errors.ts';
import type { Credentials, Settings } from './settings.ts';

/** Fills an empty database, from several processes at once, too. Throws what is wrong with ADMIN_PASSWORD. */
export async function seed(em: EntityManager, settings: Settings): Promise<void> {
  await seedPolicy(em.fork());
  await seedCatalog(em.fork());
  await administrator(em.fork(), settings.administrator);
}

async function administrator(em: EntityManager, credentials: Credentials | null): Promise<void> {
  try {
    await seedAdmin(em, credentials);
  } catch (cause) {
    if (!(cause instanceof UserFailure)) throw cause;
    throw new Error(`ADMIN_PASSWORD: ${cause.message}`, { cause });
  }
}
