/** Search parameters of the list of all pools. */
import { textOf, wordOf } from '../../../components/search-parameters.ts';

export const POOL_STATES = ['ACTIVE', 'EXPIRING', 'EXPIRED', 'CANCELLED'] as const;

export interface PoolListSearch {
  search?: string | undefined;
  state?: (typeof POOL_STATES)[number] | undefined;
  after?: string | undefined;
}

/** Parses the search parameters of the list. */
export function validPoolListSearch(search: Record<string, unknown>): PoolListSearch {
  return {
    search: textOf(search['search']),
    state: wordOf(search['state'], POOL_STATES),
    after: textOf(search['after']),
  };
}
