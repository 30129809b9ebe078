/** What of the list of all pools is in the address. */
import { textOf, wordOf } from '../../components/search-parameters.ts';

export const POOL_STATES = ['ACTIVE', 'EXPIRING', 'EXPIRED', 'CANCELLED'] as const;

export interface PoolListSearch {
  search?: string | undefined;
  state?: (typeof POOL_STATES)[number] | undefined;
  after?: string | undefined;
}

/** Reads the search parameters of the list. */
export function validPoolListSearch(search: Record<string, unknown>): PoolListSearch {
  return {
    search: textOf(search['search']),
    state: wordOf(search['state'], POOL_STATES),
    after: textOf(search['after']),
  };
}
