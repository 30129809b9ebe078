/** What of the price list is in the address. */
import { textOf, wordOf } from '../../components/search-parameters.ts';

export const PRICE_GROUPS = ['DEFAULT', 'VIP', 'SVIP'] as const;
export const FILTER_TRAITS = ['REASONING', 'TOOLS', 'FILES', 'VISION', 'LONG_CONTEXT'] as const;

/** Orders besides that of the tiers. */
export const PRICE_ORDERS = ['name', 'cheapest', 'dearest'] as const;

export type PriceGroup = (typeof PRICE_GROUPS)[number];
export type FilterTrait = (typeof FILTER_TRAITS)[number];

export interface PricingSearch {
  group?: PriceGroup | undefined;
  /** The traits a model must have, all of them. */
  traits?: FilterTrait[] | undefined;
  search?: string | undefined;
  /** By tier when left out. */
  sort?: (typeof PRICE_ORDERS)[number] | undefined;
}

/** Reads the search parameters of the price list. */
export function validPricingSearch(search: Record<string, unknown>): PricingSearch {
  const given: unknown[] = Array.isArray(search['traits']) ? search['traits'] : [];
  const traits = FILTER_TRAITS.filter((trait) => given.includes(trait));
  return {
    group: wordOf(search['group'], PRICE_GROUPS),
    traits: traits.length > 0 ? traits : undefined,
    search: textOf(search['search']),
    sort: wordOf(search['sort'], PRICE_ORDERS),
  };
}

export interface ModelSearch {
  /** The client whose set-up is shown; the first one when left out. */
  client?: string | undefined;
}

/** Reads the search parameters of the page of one model. */
export function validModelSearch(search: Record<string, unknown>): ModelSearch {
  return { client: textOf(search['client']) };
}
