/** Chooses the models that the client snippets of a key name. */
import { isChatFamily } from '@gateway/shared/catalog';
import { findModels, modelsById } from '../catalog/catalog.service.ts';
import type { ModelRow } from '../catalog/model.entity.ts';
import type { Context } from '../graphql/context.ts';
import type { KeyRow } from '../keys/key.entity.ts';
import { routesOfModels } from '../lookups.ts';
import { modelsOfPools } from '../pools/pool.lookups.ts';
import type { Access } from './snippet.sdks.ts';

/** Limit of the query; a catalog has fewer models. */
const MODELS_MAX = 200;
/** Placeholder in the snippets of a key that may use no model. */
const NO_MODEL = 'MODEL';

type Offer = Pick<ModelRow, 'name' | 'tier' | 'price'>;

/**
 * The models that a key may use: its own list, else those of its pool, else those of its group. If some of
 * them have an enabled route for chat, only these are returned, so that the copied example works.
 */
export async function modelsFor(context: Context, key: KeyRow): Promise<ModelRow[]> {
  const models = await allowedTo(context, key);
  const isRouted = await Promise.all(
    models.map(async ({ id }) => {
      const routes = (await context.batches.load(routesOfModels, id)) ?? [];
      return routes.some(({ enabled, families }) => enabled && families.some(isChatFamily));
    }),
  );
  const routed = models.filter((_, index) => isRouted[index]);
  return routed.length > 0 ? routed : models;
}

async function allowedTo({ em, batches }: Context, key: KeyRow): Promise<ModelRow[]> {
  const frozen = key.poolId ? await batches.load(modelsOfPools, key.poolId) : undefined;
  const ids = key.allowedModelIds ?? frozen?.map(({ modelId }) => modelId);
  if (ids) return modelsById(em, ids);
  return findModels(em, { group: key.group, states: ['PUBLISHED'] }, { limit: MODELS_MAX });
}

/**
 * The models in the snippets: the cheapest one for scripts and for side tasks of agents; for agents the most
 * expensive coding model, or the cheapest model if there is none.
 */
export function accessOf(baseAddress: string, models: readonly Offer[]): Access {
  const byPrice = models.toSorted((one, other) => Number(one.price - other.price));
  const cheapest = byPrice[0]?.name ?? NO_MODEL;
  const coding = byPrice.findLast(({ tier }) => tier === 'agentic_coding')?.name ?? cheapest;
  return { baseAddress, model: cheapest, codingModel: coding, smallModel: cheapest };
}
