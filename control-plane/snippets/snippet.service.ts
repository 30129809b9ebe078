/** Which models the texts that set up clients speak of. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Group } from '@gateway/shared/catalog';
import { findModels } from '../catalog/catalog.service.ts';
import type { ModelRow } from '../catalog/model.entity.ts';
import type { Access } from './snippet.texts.ts';

/** More models than any catalog has; a bound for the query alone. */
const MODELS_MAX = 200;
/** Said where a key may use no model at all, so that the text still shows what belongs there. */
const NO_MODEL = 'MODEL';

type Offer = Pick<ModelRow, 'name' | 'tier' | 'price'>;

/** The published models of a group. */
export function offeredTo(em: EntityManager, group: Group): Promise<ModelRow[]> {
  return findModels(em, { group, states: ['PUBLISHED'] }, { limit: MODELS_MAX });
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
