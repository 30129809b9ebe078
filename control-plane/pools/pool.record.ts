/** What nodes are told of a pool: where it is, what it may be asked for, and until when it is paid. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { PoolRecord } from '@gateway/shared/records';
import { announce } from '../config-log.ts';
import { PoolModelSchema } from './pool.entity.ts';
import type { PoolModelRow, PoolRow } from './pool.entity.ts';

/**
 * Tells the nodes of the pool as it stands; a pool that lost its subdomain is forgotten. Call it in the
 * transaction that changed the pool, last. Returns the revision.
 */
export async function announcePool(em: EntityManager, pool: PoolRow): Promise<number> {
  if (!pool.holdsSubdomain) return announce(em, { remove: [{ kind: 'POOL', id: pool.id }] });
  return announce(em, { upsert: [poolRecord(pool, await frozenModels(em, pool.id))] });
}

/** The models of a pool, in the order they were chosen. */
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
