/** What nodes are told of a model: the only place where price × ratio is computed for them. */
import type { Group } from '@gateway/shared/catalog';
import { chargeFor, formatRatio } from '@gateway/shared/money';
import type { Micros, Ratio } from '@gateway/shared/money';
import type { GroupPriceRecord, ModelRecord } from '@gateway/shared/records';
import type { GroupRatioRow, ModelRow } from './model.entity.ts';

/** What one success costs in one group. */
export interface GroupPriceOf {
  group: Group;
  ratio: Ratio;
  price: Micros;
}

/** Prices of a model in each of its groups, in the order of the ratios. */
export function pricesOf(
  model: Pick<ModelRow, 'price' | 'groups'>,
  ratios: readonly GroupRatioRow[],
): GroupPriceOf[] {
  return ratios
    .filter((ratio) => model.groups.includes(ratio.name))
    .map(({ name, ratio }) => ({ group: name, ratio, price: chargeFor(model.price, ratio) }));
}

/** Whether nodes serve the model: published ones, and deprecated ones until they retire. */
export function isServed(model: Pick<ModelRow, 'state'>): boolean {
  return model.state === 'PUBLISHED' || model.state === 'DEPRECATED';
}

/** The record of a model. */
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
    createdAt: model.createdAt.getTime(),
  };
}
