/** Search parameters of the usage page. */
import { textOf, wordOf } from '../../components/search-parameters.ts';

export const STATUSES = ['SUCCEEDED', 'FAILED', 'CANCELLED', 'THROTTLED'] as const;
export const SOURCES = ['API_KEY', 'POOL_KEY', 'PLAYGROUND', 'PERSONAL_INTELLIGENCE'] as const;

export const SPANS = ['7', '14', '30'] as const;
export const DIMENSIONS = ['model', 'key'] as const;
export const MEASURES = ['cost', 'requests'] as const;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

export interface UsageSearch {
  model?: string | undefined;
  key?: string | undefined;
  status?: (typeof STATUSES)[number] | undefined;
  source?: (typeof SOURCES)[number] | undefined;
  request?: string | undefined;
  /** The id of a dedicated pool. */
  pool?: string | undefined;
  /** How many days the charts cover; undefined for 14. */
  days?: (typeof SPANS)[number] | undefined;
  /** The selected UTC day, YYYY-MM-DD: only its requests are listed. */
  day?: string | undefined;
  by?: (typeof DIMENSIONS)[number] | undefined;
  measure?: (typeof MEASURES)[number] | undefined;
  view?: 'table' | undefined;
  after?: string | undefined;
}

/** Parses the search parameters of the usage page. */
export function validUsageSearch(search: Record<string, unknown>): UsageSearch {
  const { day } = search;
  return {
    model: textOf(search['model']),
    key: textOf(search['key']),
    status: wordOf(search['status'], STATUSES),
    source: wordOf(search['source'], SOURCES),
    request: textOf(search['request']),
    pool: textOf(search['pool']),
    days: wordOf(String(search['days']), SPANS),
    day: typeof day === 'string' && DAY.test(day) && !Number.isNaN(Date.parse(day)) ? day : undefined,
    by: wordOf(search['by'], DIMENSIONS),
    measure: wordOf(search['measure'], MEASURES),
    view: wordOf(search['view'], ['table'] as const),
    after: textOf(search['after']),
  };
}
