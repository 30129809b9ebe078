/** Checks and stores the quirks of providers and routes, and publishes them to nodes. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Quirk } from '@gateway/shared/quirks';
import { audit } from '../audit/audit.service.ts';
import { announce } from '../database/config-log.ts';
import { inTransaction } from '../database/sql.ts';
import { checkQuirks } from './quirk.rules.ts';
import type { QuirkInput } from './quirk.rules.ts';
import { lockRoute } from './route.service.ts';
import { ProviderSchema } from './upstream.entity.ts';
import { providerRecord, routeRecord } from './upstream.record.ts';
import { lockProvider } from './upstream.service.ts';
import type { Change } from './upstream.service.ts';

/** The quirks of the provider or route with this id. */
interface QuirksInput {
  id: string;
  version: number | 'ANY';
  quirks: QuirkInput[];
  reason: string;
}

/** Replaces the quirks of a provider or route. Throws INVALID, NOT_FOUND, STALE_VERSION. */
export async function setQuirks(em: EntityManager, input: QuirksInput, { actor }: Change): Promise<Quirk[]> {
  const quirks = checkQuirks(input.quirks);
  return inTransaction(em, async (inner) => {
    const { id, version, reason } = input;
    const isRoute = id.startsWith('rte_');
    const owner = isRoute ? await lockRoute(inner, id, version) : await lockProvider(inner, id, version);
    const before = owner.quirks;
    owner.quirks = quirks;
    await inner.flush();
    await audit(inner, {
      actor,
      action: isRoute ? 'route.quirks' : 'provider.quirks',
      targetType: isRoute ? 'UpstreamRoute' : 'UpstreamProvider',
      targetId: id,
      before: { quirks: before },
      after: { quirks },
      reason,
    });
    const provider =
      'providerId' in owner ? await inner.findOneOrFail(ProviderSchema, { id: owner.providerId }) : owner;
    if (provider.enabled && owner.enabled)
      await announce(inner, { upsert: ['providerId' in owner ? routeRecord(owner) : providerRecord(owner)] });
    return quirks;
  });
}
