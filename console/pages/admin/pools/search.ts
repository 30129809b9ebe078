/** The query parameters in the address of the page that lists the pools of all users. */
import { type ListSearch, listOf, textOf, wordOf } from '../../../components/search-parameters.ts';

/** States of a pool that the list can be filtered by. */
export const POOL_STATES = ['ACTIVE', 'EXPIRING', 'EXPIRED', 'CANCELLED'] as const;

export interface PoolListSearch extends ListSearch {
  search?: string | undefined;
  state?: (typeof POOL_STATES)[number] | undefined;
}

/** Reads the query parameters. A parameter of another form becomes undefined. */
export function validPoolListSearch(search: Record<string, unknown>): PoolListSearch {
  return { search: textOf(search['search']), state: wordOf(search['state'], POOL_STATES), ...listOf(search) };
}
