/**
 * Active probes: asks upstreams for their list of models from time to time, which costs nothing there, and
 * notes the result. Off unless an administrator sets an interval.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { Gauge } from 'prom-client';
import { NODE_IDENTITY_KINDS } from '@gateway/shared/clouds/access';
import { query, sql } from '../database/sql.ts';
import { registry } from '../process/metrics.ts';
import { recordProbe } from './health.service.ts';
import { askForModels } from './model-list.ts';
import { targetOf } from './probe-target.ts';
import { ProviderSchema } from './upstream.entity.ts';
import type { ProviderRow } from './upstream.entity.ts';

/** Maximum number of upstreams that one run of the job probes. */
const PROBES_MAX = 20;

const failing = new Gauge({
  name: 'gateway_upstream_probe_failed',
  help: '1 if the last scheduled probe of the upstream failed, else 0.',
  labelNames: ['provider'],
  registers: [registry],
});

/** Probes the enabled upstreams whose interval has passed since their last probe. */
export async function probeDue(em: EntityManager, settings: { secretKey: string }): Promise<void> {
  const due = await query<{ id: string }>(
    em,
    sql`
    select provider.id from provider left join upstream_probe on upstream_probe.provider_id = provider.id
    where provider.enabled and provider.probe_minutes is not null
      and coalesce(provider.access ->> 'style', 'STANDARD') = 'STANDARD'
      and coalesce(provider.access ->> 'auth', 'API_KEY') <> all(${[...NODE_IDENTITY_KINDS]}::text[])
      and (upstream_probe.at is null
        or upstream_probe.at < clock_timestamp() - make_interval(mins => provider.probe_minutes))
    order by upstream_probe.at nulls first limit ${PROBES_MAX}`,
  );
  failing.reset();
  const providers = await em.find(ProviderSchema, { id: { $in: due.map(({ id }) => id) } });
  await Promise.all(providers.map((provider) => probeOne(em.fork(), provider, settings)));
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
