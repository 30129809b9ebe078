/**
 * The configuration record of a model for nodes. Prices in each group (price × ratio) are computed only here.
 */
import type { Group } from '@gateway/shared/catalog';
import { chargeFor, formatRatio } from '@gateway/shared/money';
import type { Micros, Ratio } from '@gateway/shared/money';
import type { GroupPriceRecord, ModelRecord } from '@gateway/shared/records';
import type { GroupRatioRow, ModelRow } from './model.entity.ts';

/** Price of one successful request in one group. */
export interface ModelGroupPrice {
  group: Group;
  ratio: Ratio;
  price: Micros;
}

/** Prices of a model in each of its groups, in the order of `ratios`. */
export function pricesOf(
  model: Pick<ModelRow, 'price' | 'groups'>,
  ratios: readonly GroupRatioRow[],
): ModelGroupPrice[] {
  return ratios
    .filter((ratio) => model.groups.includes(ratio.name))
    .map(({ name, ratio }) => ({ group: name, ratio, price: chargeFor(model.price, ratio) }));
}

/** Whether nodes serve the model, that is, whether it is published or deprecated. */
export function isServed(model: Pick<ModelRow, 'state'>): boolean {
  return model.state === 'PUBLISHED' || model.state === 'DEPRECATED';
}

/** The record of a model with its prices. */
export function modelRecord(model: ModelRow, ratios: readonly GroupRatioRow[]): ModelRecord {
  const prices = pricesOf(model, ratios).map(({ group, ratio, price }): [Group, GroupPriceRecord] => [
    group,
    { base: model.price.toString(), ratio: formatRatio(ratio), price: price.toString() },
  ]);
  return {
    kind: 'MODEL',
    id: model.id,
    name: model.name,
    displayName: model.displayName,
    description: model.description,
    contextTokens: model.contextTokens,
    traits: model.traits,
    families: model.families,
    prices: Object.fromEntries(prices),
    limits: model.limits,
    passUnknown: model.passUnknown,
    storesState: model.storesState,
    stateRetentionDays: model.stateRetentionDays,
    routing: model.routing,
    hedged: model.hedged,
    createdAt: model.createdAt.getTime(),
  };
}
