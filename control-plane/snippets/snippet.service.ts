/** Which models the texts that set up clients speak of. */
import { isChatFamily } from '@gateway/shared/catalog';
import { findModels, modelsById } from '../catalog/catalog.service.ts';
import type { ModelRow } from '../catalog/model.entity.ts';
import type { Context } from '../context.ts';
import type { KeyRow } from '../keys/key.entity.ts';
import { routesOfModels } from '../lookups.ts';
import { modelsOfPools } from '../pools/pool.lookups.ts';
import type { Access } from './snippet.texts.ts';

/** More models than any catalog has; a bound for the query alone. */
const MODELS_MAX = 200;
/** Said where a key may use no model at all, so that the text still shows what belongs there. */
const NO_MODEL = 'MODEL';

type Offer = Pick<ModelRow, 'name' | 'tier' | 'price'>;

/**
 * The models that a key may use: its own list, else those of its pool, else those of its group. Where some of
 * them are routed to an upstream for chat, only these: the first call that is copied should be answered.
 */
export async function modelsFor(context: Context, key: KeyRow): Promise<ModelRow[]> {
  const models = await allowedTo(context, key);
  const isAnswered = await Promise.all(
    models.map(async ({ id }) => {
      const routes = (await context.batches.load(routesOfModels, id)) ?? [];
      return routes.some(({ enabled, families }) => enabled && families.some(isChatFamily));
    }),
  );
  const answered = models.filter((_, index) => isAnswered[index]);
  return answered.length > 0 ? answered : models;
}

async function allowedTo({ em, batches }: Context, key: KeyRow): Promise<ModelRow[]> {
  const frozen = key.poolId ? await batches.load(modelsOfPools, key.poolId) : undefined;
  const ids = key.allowedModelIds ?? frozen?.map(({ modelId }) => modelId);
  if (ids) return modelsById(em, ids);
  return findModels(em, { group: key.group, states: ['PUBLISHED'] }, { limit: MODELS_MAX });
}

/**
 * What the texts ask: scripts and side jobs the cheapest model, so that the first call costs little; agents
 * the dearest of those made for coding, else the cheapest too.
 */
export function accessOf(baseAddress: string, models: readonly Offer[]): Access {
  const byPrice = models.toSorted((one, other) => Number(one.price - other.price));
  const cheapest = byPrice[0]?.name ?? NO_MODEL;
  const coding = byPrice.findLast(({ tier }) => tier === 'agentic_coding')?.name ?? cheapest;
  return { baseAddress, model: cheapest, codingModel: coding, smallModel: cheapest };
}
