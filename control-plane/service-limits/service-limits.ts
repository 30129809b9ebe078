/** Limits of customers that an operator can change. Nodes receive them with the settings record. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { audit } from '../audit/audit.service.ts';
import { inTransaction, query, queryRow, sql } from '../database/sql.ts';
import type { Actor } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import type { Settings } from '../process/settings.ts';
import { announceSettings } from '../settings-record.ts';

/** Largest limit of concurrent requests. A node serves some ten thousand at once in all. */
export const CONCURRENT_REQUESTS_MAX = 10_000;

/** The limits, each of one node. */
export interface ServiceLimits {
  /** Concurrent requests of all keys of one wallet. */
  concurrentRequestsPerWallet: number;
  /** Concurrent requests of one key. */
  concurrentRequestsPerKey: number;
}

/** Reads the limits. */
export function serviceLimits(em: EntityManager): Promise<ServiceLimits> {
  return queryRow<ServiceLimits>(
    em,
    sql`select wallet_requests as "concurrentRequestsPerWallet", key_requests as "concurrentRequestsPerKey"
      from service_limits`,
  );
}

/** Changes the limits and publishes them to the nodes in the same transaction. Throws INVALID, REQUIRED. */
export async function setServiceLimits(
  em: EntityManager,
  { limits, reason }: { limits: ServiceLimits; reason: string },
  { actor, settings }: { actor: Actor; settings: Settings },
): Promise<void> {
  for (const [name, limit] of Object.entries(limits) as [string, number][])
    if (!Number.isInteger(limit) || limit < 1 || limit > CONCURRENT_REQUESTS_MAX)
      throw new UserFailure('INVALID', `${name} must be 1 to ${CONCURRENT_REQUESTS_MAX}.`, name);
  await inTransaction(em, async (inner) => {
    await query(inner, sql`select 1 from service_limits for no key update`);
    const before = await serviceLimits(inner);
    await query(
      inner,
      sql`update service_limits set wallet_requests = ${limits.concurrentRequestsPerWallet},
        key_requests = ${limits.concurrentRequestsPerKey}`,
    );
    await audit(inner, {
      actor,
      action: 'limits.set',
      targetType: 'ServiceLimits',
      targetId: null,
      before,
      after: limits,
      reason,
    });
    await announceSettings(inner, settings);
  });
}
