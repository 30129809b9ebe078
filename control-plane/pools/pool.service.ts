/** Changes of a pool by its owner: its name and its automatic renewal. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserFailure } from '../graphql/errors.ts';
import { publish } from '../database/events.ts';
import { inTransaction } from '../database/sql.ts';
import type { PoolRow } from './pool.entity.ts';
import { lockPool } from './pool.queries.ts';
import { announcePool } from './pool.record.ts';
import { checkPoolName, checkVersion, isRunning } from './pool.rules.ts';

/** A change by the owner; fields that are left out stay. */
export interface PoolUpdate {
  id: string;
  version: number;
  name?: string | null;
  autoRenew?: boolean | null;
}

/**
 * Changes the given fields. Throws NOT_FOUND, STALE_VERSION, INVALID, and POOL_EXPIRED if automatic renewal
 * is switched on for an ended pool.
 */
export async function updatePool(em: EntityManager, ownerId: string, change: PoolUpdate): Promise<PoolRow> {
  return inTransaction(em, async (inner) => {
    const pool = await lockPool(inner, change.id, ownerId);
    checkVersion(pool, change.version);
    if (change.autoRenew && !isRunning(pool, new Date()))
      throw new UserFailure('POOL_EXPIRED', 'The pool has ended. Renew it by hand first.', 'autoRenew');
    if (change.name) pool.name = checkPoolName(change.name);
    pool.autoRenew = change.autoRenew ?? pool.autoRenew;
    await inner.flush();
    await publish(inner, 'poolUpdated', { audience: ownerId, id: pool.id });
    await announcePool(inner, pool);
    return pool;
  });
}
