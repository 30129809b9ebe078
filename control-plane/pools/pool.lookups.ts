/** Batched look-ups of pools for other objects; see batches.ts. */
import type { Lookup } from '../database/batches.ts';
import type { Context } from '../graphql/context.ts';
import type { KeyRow } from '../keys/key.entity.ts';
import { PoolModelSchema } from './pool.entity.ts';
import type { PoolModelRow, PoolRow } from './pool.entity.ts';
import { poolIdsFreezing, poolsById } from './pool.queries.ts';
import { poolAddress } from './pool.rules.ts';

/** Pools by their ids, of any owner. The caller has to check access. */
export const poolsByIds: Lookup<PoolRow> = async (em, ids) =>
  new Map((await poolsById(em, ids)).map((pool) => [pool.id, pool]));

/** The base address at which a key works: that of its pool, or the main one. */
export async function addressOfKey({ batches, settings }: Context, key: KeyRow): Promise<string> {
  const pool = key.poolId ? await batches.load(poolsByIds, key.poolId) : null;
  return pool ? poolAddress(settings.publicUrl, pool.subdomain) : settings.publicUrl;
}

/** Frozen models by pool id, in the order of the purchase. */
export const modelsOfPools: Lookup<PoolModelRow[]> = async (em, ids) =>
  Map.groupBy(
    await em.find(PoolModelSchema, { poolId: { $in: [...ids] } }, { orderBy: { position: 'asc' } }),
    (model) => model.poolId,
  );

/** Running pools that froze a model, by model id; at most 100 each. */
export const poolsWithModels: Lookup<PoolRow[]> = async (em, modelIds) => {
  const found = await poolIdsFreezing(em, modelIds);
  const pools = await poolsByIds(
    em,
    found.map(({ poolId }) => poolId),
  );
  const byModel = Map.groupBy(found, ({ modelId }) => modelId);
  return new Map(
    modelIds.map((id) => [id, (byModel.get(id) ?? []).flatMap(({ poolId }) => pools.get(poolId) ?? [])]),
  );
};
