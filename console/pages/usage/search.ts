/** What of the usage log is in the address. */
import { textOf, wordOf } from '../../components/search-parameters.ts';

export const STATUSES = ['SUCCEEDED', 'FAILED', 'CANCELLED', 'THROTTLED'] as const;
export const SOURCES = ['API_KEY', 'POOL_KEY', 'PLAYGROUND', 'PERSONAL_INTELLIGENCE'] as const;

export interface UsageSearch {
  model?: string | undefined;
  key?: string | undefined;
  status?: (typeof STATUSES)[number] | undefined;
  source?: (typeof SOURCES)[number] | undefined;
  request?: string | undefined;
  after?: string | undefined;
}

/** Reads the search parameters of the usage log. */
export function validUsageSearch(search: Record<string, unknown>): UsageSearch {
  return {
    model: textOf(search['model']),
    key: textOf(search['key']),
    status: wordOf(search['status'], STATUSES),
    source: wordOf(search['source'], SOURCES),
    request: textOf(search['request']),
    after: textOf(search['after']),
  };
}
