/** Search parameters of the price list and of the page of one model. */
import { textOf, wordOf } from '../../components/search-parameters.ts';

export const PRICE_GROUPS = ['DEFAULT', 'VIP', 'SVIP'] as const;
export const FILTER_TRAITS = ['REASONING', 'TOOLS', 'FILES', 'VISION', 'LONG_CONTEXT'] as const;

/** Orders other than by tier. */
export const PRICE_ORDERS = ['name', 'cheapest', 'dearest'] as const;

export type PriceGroup = (typeof PRICE_GROUPS)[number];
export type FilterTrait = (typeof FILTER_TRAITS)[number];

export interface PricingSearch {
  group?: PriceGroup | undefined;
  /** Only models that have all these traits. */
  traits?: FilterTrait[] | undefined;
  search?: string | undefined;
  /** Undefined orders by tier. */
  sort?: (typeof PRICE_ORDERS)[number] | undefined;
}

/** Parses the search parameters of the price list. */
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
  /** The client whose settings are shown; undefined for the first one. */
  client?: string | undefined;
}

/** Parses the search parameters of the page of one model. */
export function validModelSearch(search: Record<string, unknown>): ModelSearch {
  return { client: textOf(search['client']) };
}
