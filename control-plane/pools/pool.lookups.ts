/** What many objects point to of pools, looked up for all of them at once; see batches.ts. */
import type { Lookup } from '../batches.ts';
import type { Context } from '../context.ts';
import type { KeyRow } from '../keys/key.entity.ts';
import { PoolModelSchema } from './pool.entity.ts';
import type { PoolModelRow, PoolRow } from './pool.entity.ts';
import { poolIdsFreezing, poolsById } from './pool.queries.ts';
import { poolAddress } from './pool.rules.ts';

/** Pools by their ids, whoever owns them: the caller checks who asks. */
export const poolsByIds: Lookup<PoolRow> = async (em, ids) =>
  new Map((await poolsById(em, ids)).map((pool) => [pool.id, pool]));

/** The base address that a key works at: its pool's own, or the main one. */
export async function addressOfKey({ batches, settings }: Context, key: KeyRow): Promise<string> {
  const pool = key.poolId ? await batches.load(poolsByIds, key.poolId) : null;
  return pool ? poolAddress(settings.publicUrl, pool.subdomain) : settings.publicUrl;
}

/** The frozen models of pools, each list in the order they were chosen. */
export const modelsOfPools: Lookup<PoolModelRow[]> = async (em, ids) =>
  Map.groupBy(
    await em.find(PoolModelSchema, { poolId: { $in: [...ids] } }, { orderBy: { position: 'asc' } }),
    (model) => model.poolId,
  );

/** The running pools that hold a frozen copy of each model, a hundred at most. */
export const poolsFreezingModels: Lookup<PoolRow[]> = async (em, modelIds) => {
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
