/** How the price list is ordered and narrowed. */
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

/** The models that fit the search and have all the traits. */
export function matching(models: readonly Model[], { search, traits = [] }: PricingSearch): Model[] {
  const wanted = search?.toLowerCase() ?? '';
  return models.filter(
    (model) => model.name.includes(wanted) && traits.every((trait) => model.traits.includes(trait)),
  );
}

/** The tiers that have models, best first; within a tier the order of the service. */
export function byTier(models: readonly Model[]): TierModels[] {
  return TIER_ORDER.map((tier) => ({ tier, models: models.filter((model) => model.tier === tier) })).filter(
    (group) => group.models.length > 0,
  );
}

/** The price of one request in a group; undefined when the group may not use the model. */
export function priceIn(model: Model, group: PriceGroup): string | undefined {
  return model.prices.find((price) => price.group === group)?.pricePerRequest;
}

/** The families that a model serves besides the text ones, which all models serve. */
export function otherFamilies(model: Model): OtherFamily[] {
  const families = model.endpoints.map(({ family }) => family).filter(isOther);
  return [...new Set(families)];
}

function isOther(family: Model['endpoints'][number]['family']): family is OtherFamily {
  return !TEXT_FAMILIES.includes(family);
}

/** "1M" or "256k": context sizes as the catalog means them, in whole thousands. */
export function contextText(tokens: number): string {
  return tokens >= 1_000_000 ? `${Math.floor(tokens / 100_000) / 10}M` : `${Math.floor(tokens / 1_000)}k`;
}
