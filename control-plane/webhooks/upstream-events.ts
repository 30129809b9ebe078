/** Reports to webhooks of administrators when an upstream fails on all nodes, and when it works again. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { inTransaction, queryOne, query, sql } from '../database/sql.ts';
import { healthOfProviders } from '../upstreams/health.service.ts';
import { recordOperatorWebhook } from './outbox.ts';

/**
 * Job: compares the health of enabled upstreams with what was last reported. The row of an upstream that is
 * down decides which of several control planes reports a change. An upstream without recent reports keeps
 * its state.
 */
export async function reportUpstreams(em: EntityManager): Promise<void> {
  const providers = await query<{ id: string; name: string; reported: boolean }>(
    em,
    sql`select p.id, p.name, w.provider_id is not null as reported from provider p
    left join webhook_upstream w on w.provider_id = p.id where p.enabled or w.provider_id is not null`,
  );
  const health = await healthOfProviders(
    em,
    providers.map(({ id }) => id),
  );
  for (const { id, name, reported } of providers) {
    const status = health.get(id)?.status ?? 'UNKNOWN';
    if (status === 'UNKNOWN' || (status === 'DOWN') === reported) continue;
    await inTransaction(em, (inner) => report(inner, { id, name, isDown: status === 'DOWN' }));
  }
}

async function report(
  em: EntityManager,
  { id, name, isDown }: { id: string; name: string; isDown: boolean },
): Promise<void> {
  const changed = await queryOne(
    em,
    isDown
      ? sql`insert into webhook_upstream (provider_id) values (${id})
        on conflict do nothing returning provider_id`
      : sql`delete from webhook_upstream where provider_id = ${id} returning provider_id`,
  );
  if (!changed) return;
  const type = isDown ? 'UPSTREAM_DOWN' : 'UPSTREAM_RECOVERED';
  await recordOperatorWebhook(em, { type, data: { providerId: id, name } });
}
