/** Carries changes of models out. */
import { setModelState, upsertModel } from '../catalog/catalog.service.ts';
import { deleteDraft } from '../catalog/draft.service.ts';
import { setModelRouting } from '../catalog/routing.service.ts';
import { same } from './change.ts';
import type { ModelStep } from './change.ts';
import { amountOf, idOf } from './carrier.ts';
import type { Carrier } from './carrier.ts';
import type { ModelItem } from './state.ts';

/** Creates or changes a model, except for its state. */
export async function saveModel(carrier: Carrier, { id, name, before, after }: ModelStep): Promise<void> {
  if (!after) return;
  const { em, by, reason, models } = carrier;
  const model = await saved(carrier, { id, before, after });
  models.set(name, model);
  const { routing, hedged } = after;
  const isNewChoice = routing !== (before?.routing ?? 'FIXED') || hedged !== (before?.hedged ?? false);
  if (isNewChoice)
    await setModelRouting(em, { id: model, version: 'ANY', routing, hedged, reason }, by.actor);
}

async function saved(
  { em, by, reason }: Carrier,
  { id, before, after }: { id: string | null; before: ModelItem | null; after: ModelItem },
): Promise<string> {
  const isSame = before && same(catalogPart(before), catalogPart(after));
  if (id !== null && isSame) return id;
  const { price, ...plain } = catalogPart(after);
  const input = { ...plain, id, version: 'ANY' as const, pricePerRequest: amountOf(price), reason };
  return (await upsertModel(em, input, by.actor)).id;
}

/** The fields that `upsertModel` stores. */
function catalogPart(
  item: ModelItem,
): Omit<ModelItem, 'state' | 'retiresAt' | 'replacement' | 'note' | 'routing' | 'hedged'> {
  const { state: _s, retiresAt: _r, replacement: _p, note: _n, routing: _g, hedged: _h, ...rest } = item;
  return rest;
}

/** Changes the state of a model, if it differs. */
export async function setState(carrier: Carrier, { name, before, after }: ModelStep): Promise<void> {
  if (!after || same(statePart(before ?? NEW), statePart(after))) return;
  const { em, by, reason, models } = carrier;
  const { state, retiresAt, replacement, note } = after;
  const change = {
    ...{ id: idOf(models, name), state, note, reason },
    retiresAt: retiresAt === null ? null : new Date(retiresAt),
    replacementId: replacement === null ? null : idOf(models, replacement),
  };
  await setModelState(em, change, by.actor);
}

type StatePart = Pick<ModelItem, 'state' | 'retiresAt' | 'replacement' | 'note'>;
const NEW: StatePart = { state: 'DRAFT', retiresAt: null, replacement: null, note: null };

function statePart({ state, retiresAt, replacement, note }: StatePart): StatePart {
  return { state, retiresAt, replacement, note };
}

/** Deletes a draft. */
export async function removeModel({ em, by, reason }: Carrier, { id }: ModelStep): Promise<void> {
  if (id !== null) await deleteDraft(em, { id, reason }, by.actor);
}
