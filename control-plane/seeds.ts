/** Seeds missing rows at each start: privacy policy, catalog and first administrator. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { seedAdmin } from './accounts/account.service.ts';
import { seedCatalog } from './catalog/catalog.service.ts';
import { seedPolicy } from './accounts/policy.service.ts';
import { UserFailure } from './graphql/errors.ts';
import type { Credentials, Settings } from './process/settings.ts';

/**
 * Seeds missing rows; several processes may do so at once. Throws an Error if ADMIN_PASSWORD is refused.
 */
export async function seed(em: EntityManager, settings: Settings): Promise<void> {
  await seedPolicy(em.fork());
  await seedCatalog(em.fork());
  await seedAdministrator(em.fork(), settings.administrator);
}

async function seedAdministrator(em: EntityManager, credentials: Credentials | null): Promise<void> {
  try {
    await seedAdmin(em, credentials);
  } catch (cause) {
    if (!(cause instanceof UserFailure)) throw cause;
    throw new Error(`ADMIN_PASSWORD: ${cause.message}`, { cause });
  }
}
