/**
 * Active probes: asks upstreams for their list of models from time to time, which costs nothing there, and
 * notes the result. Off unless an administrator sets an interval.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { Gauge } from 'prom-client';
import { NODE_IDENTITY_KINDS } from '@gateway/shared/clouds/access';
import { audit } from '../audit/audit.service.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import type { Actor } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { registry } from '../process/metrics.ts';
import { noteProbes } from '../status/roll-up.service.ts';
import { recordProbe } from './health.service.ts';
import { askForModels } from './model-list.ts';
import { hasModelList, targetOf } from './probe-target.ts';
import { ProviderSchema } from './upstream.entity.ts';
import type { ProviderRow } from './upstream.entity.ts';
import { lockProvider } from './upstream.service.ts';

/** Longest time between two probes, in minutes. */
export const PROBE_MINUTES_MAX = 1_440;
/** Maximum number of upstreams that one run of the job probes. */
const PROBES_MAX = 20;

const failing = new Gauge({
  name: 'gateway_upstream_probe_failed',
  help: '1 if the last scheduled probe of the upstream failed, else 0.',
  labelNames: ['provider'],
  registers: [registry],
});

/** How often a provider is to be probed. */
interface ProbingChange {
  id: string;
  version: number | 'ANY';
  /** Minutes between two probes; null or absent for none. */
  probeMinutes?: number | null;
  reason: string;
}

/** Sets how often a provider is probed. Throws INVALID, NOT_FOUND, STALE_VERSION. */
export function setProbing(
  em: EntityManager,
  { id, version, reason, probeMinutes = null }: ProbingChange,
  actor: Actor,
): Promise<ProviderRow> {
  if (probeMinutes !== null && (probeMinutes < 1 || probeMinutes > PROBE_MINUTES_MAX))
    throw new UserFailure('INVALID', `Enter 1 to ${PROBE_MINUTES_MAX} minutes, or nothing.`, 'probeMinutes');
  return inTransaction(em, async (inner) => {
    const provider = await lockProvider(inner, id, version);
    if (probeMinutes !== null && !hasModelList(provider.access ?? null))
      throw new UserFailure('INVALID', 'This kind of upstream cannot be probed regularly.', 'probeMinutes');
    const before = { probeMinutes: provider.probeMinutes ?? null };
    provider.probeMinutes = probeMinutes;
    await inner.flush();
    await audit(inner, {
      actor,
      action: 'provider.probing',
      targetType: 'UpstreamProvider',
      targetId: id,
      before,
      after: { probeMinutes },
      reason,
    });
    return provider;
  });
}

/** Probes the enabled upstreams whose interval has passed since their last probe. */
export async function probeDue(em: EntityManager, settings: { secretKey: string }): Promise<void> {
  const due = await query<{ id: string }>(
    em,
    sql`
    select provider.id from provider left join upstream_probe on upstream_probe.provider_id = provider.id
    where provider.enabled and provider.probe_minutes is not null
      and coalesce(provider.access ->> 'auth', 'API_KEY') <> all(${[...NODE_IDENTITY_KINDS]}::text[])
      and (upstream_probe.at is null
        or upstream_probe.at < clock_timestamp() - make_interval(mins => provider.probe_minutes))
    order by upstream_probe.at nulls first limit ${PROBES_MAX}`,
  );
  failing.reset();
  const providers = await em.find(ProviderSchema, { id: { $in: due.map(({ id }) => id) } });
  await Promise.all(providers.map((provider) => probeOne(em.fork(), provider, settings)));
  await noteProbes(
    em,
    providers.map(({ id }) => id),
  );
  const failed = await query<{ id: string; failed: boolean }>(
    em,
    sql`
    select provider.id, upstream_probe.error is not null as failed from provider
    join upstream_probe on upstream_probe.provider_id = provider.id
    where provider.enabled and provider.probe_minutes is not null`,
  );
  for (const { id, failed: isFailing } of failed) failing.set({ provider: id }, Number(isFailing));
}

async function probeOne(
  em: EntityManager,
  provider: ProviderRow,
  settings: { secretKey: string },
): Promise<void> {
  const target = await targetOf(em, provider, settings);
  if (target) await recordProbe(em, provider.id, await askForModels(target));
}
