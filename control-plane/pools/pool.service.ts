/** What an owner changes about a pool: its name, and whether it renews itself. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserFailure } from '../errors.ts';
import { publish } from '../events.ts';
import { inTransaction } from '../sql.ts';
import type { PoolRow } from './pool.entity.ts';
import { lockPool } from './pool.queries.ts';
import { announcePool } from './pool.record.ts';
import { checkPoolName, isRunning } from './pool.rules.ts';

export interface PoolUpdate {
  id: string;
  version: number;
  name?: string | null;
  autoRenew?: boolean | null;
}

/** Changes what is given. Throws NOT_FOUND, STALE_VERSION, INVALID; POOL_EXPIRED for an ended pool. */
export async function updatePool(em: EntityManager, ownerId: string, change: PoolUpdate): Promise<PoolRow> {
  return inTransaction(em, async (inner) => {
    const pool = await lockPool(inner, change.id, ownerId);
    if (pool.version !== change.version) {
      throw new UserFailure(
        'STALE_VERSION',
        'The pool changed meanwhile. Read it again, then repeat the change.',
        'version',
      );
    }
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
