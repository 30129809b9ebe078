/** Filters and orders the price list. */
import { parseDollars } from '@gateway/shared/money';
import type { Model } from './documents.ts';
import type { PriceGroup, PricingSearch } from './search.ts';

export const TIER_ORDER = [
  'TOP_FLAGSHIP',
  'SECOND_FLAGSHIP',
  'AGENTIC_CODING',
  'HARD_REASONING',
  'BALANCED',
  'FAST_CHEAP',
  'BUDGET_A',
  'BUDGET_B',
] as const satisfies readonly Model['tier'][];

const TEXT_FAMILIES: readonly string[] = [
  'CHAT_COMPLETIONS',
  'COMPLETIONS',
  'MESSAGES',
  'RESPONSES',
  'GENERATIVE_LANGUAGE',
];

export type OtherFamily =
  | 'COMPACT'
  | 'EMBEDDINGS'
  | 'AUDIO'
  | 'IMAGES'
  | 'RERANK'
  | 'MODERATIONS'
  | 'SEARCH'
  | 'REALTIME';

export interface TierModels {
  tier: Model['tier'];
  models: Model[];
}

/** The models that match the search and have all traits. */
export function matching(models: readonly Model[], { search, traits = [] }: PricingSearch): Model[] {
  const wanted = search?.toLowerCase() ?? '';
  return models.filter(
    (model) => model.name.includes(wanted) && traits.every((trait) => model.traits.includes(trait)),
  );
}

/** The models by tier, best tier first; within a tier in the service's order. */
function byTier(models: readonly Model[]): TierModels[] {
  return TIER_ORDER.map((tier) => ({ tier, models: models.filter((model) => model.tier === tier) })).filter(
    (group) => group.models.length > 0,
  );
}

/**
 * The models in the requested order, with adjacent models of one tier grouped. Models without a price in the
 * group come last.
 */
export function ordered(models: readonly Model[], { sort, group = 'DEFAULT' }: PricingSearch): TierModels[] {
  if (sort === undefined) return byTier(models);
  const priced = models.map((model) => ({ model, price: parseDollars(priceIn(model, group) ?? '') }));
  const lines = priced.toSorted((one, other) => {
    if (sort === 'name') return one.model.name.localeCompare(other.model.name, 'en');
    if (one.price === undefined || other.price === undefined)
      return Number(one.price === undefined) - Number(other.price === undefined);
    const cheaper = Number(one.price - other.price);
    return sort === 'cheapest' ? cheaper : -cheaper;
  });
  const blocks: TierModels[] = [];
  for (const { model } of lines) {
    const last = blocks.at(-1);
    if (last?.tier === model.tier) last.models.push(model);
    else blocks.push({ tier: model.tier, models: [model] });
  }
  return blocks;
}

/** The price of one request in a group; undefined if the group may not use the model. */
export function priceIn(model: Model, group: PriceGroup): string | undefined {
  return model.prices.find((price) => price.group === group)?.pricePerRequest;
}

/** The endpoint families of a model other than the text families, which all models have. */
export function otherFamilies(model: Model): OtherFamily[] {
  const families = model.endpoints.map(({ family }) => family).filter(isOther);
  return [...new Set(families)];
}

function isOther(family: Model['endpoints'][number]['family']): family is OtherFamily {
  return !TEXT_FAMILIES.includes(family);
}

/** A number of tokens such as "1M" or "256k", rounded down. */
export function contextText(tokens: number): string {
  return tokens >= 1_000_000 ? `${Math.floor(tokens / 100_000) / 10}M` : `${Math.floor(tokens / 1_000)}k`;
}
