/** Checks and stores the quirks of providers and routes, and publishes them to nodes. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { QUIRKS_MAX, quirkProblem } from '@gateway/shared/quirks';
import type { Quirk } from '@gateway/shared/quirks';
import { audit } from '../audit/audit.service.ts';
import { announce } from '../database/config-log.ts';
import { UserFailure } from '../graphql/errors.ts';
import { inTransaction } from '../database/sql.ts';
import { lockRoute } from './route.service.ts';
import { ProviderSchema } from './upstream.entity.ts';
import { providerRecord, routeRecord } from './upstream.record.ts';
import { lockProvider } from './upstream.service.ts';
import type { Change } from './upstream.service.ts';

/** A row as it was sent. */
type QuirkInput = Pick<Quirk, 'kind'> & {
  [Field in Exclude<keyof Quirk, 'kind'>]?: Quirk[Field] | undefined;
};

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

/** The rows with null for what they leave out. Throws INVALID, which names the row. */
function checkQuirks(rows: readonly QuirkInput[]): Quirk[] {
  if (rows.length > QUIRKS_MAX)
    throw new UserFailure('INVALID', `Save at most ${QUIRKS_MAX} quirks.`, 'quirks');
  return rows.map(({ kind, member, other, value, min, max }, index) => {
    const quirk: Quirk = {
      kind,
      member: member ?? null,
      other: other ?? null,
      value: value ?? null,
      min: min ?? null,
      max: max ?? null,
    };
    const problem = quirkProblem(quirk);
    if (problem !== undefined) throw new UserFailure('INVALID', `Row ${index + 1}: ${problem}`, 'quirks');
    return quirk;
  });
}
