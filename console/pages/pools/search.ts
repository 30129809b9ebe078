/** Search parameters of the pages of dedicated pools. */
import { type ListPage, pageOf, wordOf } from '../../components/search-parameters.ts';

/** Maximum number of models read from the address. The service has its own limit. */
const MODELS_MAX = 200;

export interface PoolsSearch extends ListPage {
  /** Names of the picked models, in the order of picking. */
  models?: string[] | undefined;
}

export interface PoolSearch {
  /** Whether to show the receipt of the purchase that was just paid. */
  paid?: 'now' | undefined;
}

/** Parses the search parameters of the page of all pools. */
export function validPoolsSearch(search: Record<string, unknown>): PoolsSearch {
  return { models: namesOf(search['models']), ...pageOf(search) };
}

function namesOf(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const names = value.filter((name) => typeof name === 'string').slice(0, MODELS_MAX);
  return names.length > 0 ? [...new Set(names)] : undefined;
}

/** Parses the search parameters of the page of one pool. */
export function validPoolSearch(search: Record<string, unknown>): PoolSearch {
  return { paid: wordOf(search['paid'], ['now'] as const) };
}
