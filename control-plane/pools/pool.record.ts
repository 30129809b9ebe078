/** The configuration record of a pool that nodes receive: its subdomain, models, cap and end. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { PoolRecord } from '@gateway/shared/records';
import { announce } from '../database/config-log.ts';
import { PoolModelSchema } from './pool.entity.ts';
import type { PoolModelRow, PoolRow } from './pool.entity.ts';

/**
 * Publishes the pool to the nodes; removes it if it no longer holds its subdomain. Call it last in the
 * transaction that changed the pool. Returns the revision.
 */
export async function announcePool(em: EntityManager, pool: PoolRow): Promise<number> {
  if (!pool.holdsSubdomain) return announce(em, { remove: [{ kind: 'POOL', id: pool.id }] });
  return announce(em, { upsert: [poolRecord(pool, await frozenModels(em, pool.id))] });
}

/** The frozen models of a pool, in the order of the purchase. */
export function frozenModels(em: EntityManager, poolId: string): Promise<PoolModelRow[]> {
  return em.find(PoolModelSchema, { poolId }, { orderBy: { position: 'asc' } });
}

function poolRecord(pool: PoolRow, models: readonly PoolModelRow[]): PoolRecord {
  return {
    kind: 'POOL',
    id: pool.id,
    name: pool.name,
    subdomain: pool.subdomain,
    models: models.map((model) => model.record),
    rpmCap: pool.rpmCap,
    paidUntil: pool.endsAt.getTime(),
  };
}
