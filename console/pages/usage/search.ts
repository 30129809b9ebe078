/** Search parameters of the usage page. */
import { type ListSearch, listOf, textOf, wordOf } from '../../components/search-parameters.ts';

export const STATUSES = ['SUCCEEDED', 'FAILED', 'CANCELLED', 'THROTTLED'] as const;
export const SOURCES = ['API_KEY', 'POOL_KEY', 'PLAYGROUND', 'PERSONAL_INTELLIGENCE'] as const;

export const SPANS = ['1', '7', '14', '30'] as const;
export const DIMENSIONS = ['model', 'key'] as const;
export const MEASURES = ['cost', 'requests', 'tokens', 'failed'] as const;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
/** A day or an hour. */
const BAR = /^(\d{4}-\d{2}-\d{2})(T([01]\d|2[0-3]))?$/;

export interface UsageSearch extends ListSearch {
  model?: string | undefined;
  key?: string | undefined;
  status?: (typeof STATUSES)[number] | undefined;
  source?: (typeof SOURCES)[number] | undefined;
  /** Only the request with this id. */
  request?: string | undefined;
  /** The id of the request whose receipt is open. */
  receipt?: string | undefined;
  /** The id of a dedicated pool. */
  pool?: string | undefined;
  /** How many days the charts cover; undefined for 14. */
  days?: (typeof SPANS)[number] | undefined;
  /** The first and the last day of the charts, YYYY-MM-DD in UTC; instead of `days`. */
  from?: string | undefined;
  to?: string | undefined;
  /** The selected UTC day or hour, YYYY-MM-DD or YYYY-MM-DDTHH: only its requests are listed. */
  day?: string | undefined;
  by?: (typeof DIMENSIONS)[number] | undefined;
  measure?: (typeof MEASURES)[number] | undefined;
  view?: 'table' | undefined;
}

/** Parses the search parameters of the usage page. */
export function validUsageSearch(search: Record<string, unknown>): UsageSearch {
  return {
    model: textOf(search['model']),
    key: textOf(search['key']),
    status: wordOf(search['status'], STATUSES),
    source: wordOf(search['source'], SOURCES),
    request: textOf(search['request']),
    receipt: textOf(search['receipt']),
    pool: textOf(search['pool']),
    days: wordOf(String(search['days']), SPANS),
    from: dayOf(search['from'], DAY),
    to: dayOf(search['to'], DAY),
    day: dayOf(search['day'], BAR),
    by: wordOf(search['by'], DIMENSIONS),
    measure: wordOf(search['measure'], MEASURES),
    view: wordOf(search['view'], ['table'] as const),
    ...listOf(search),
  };
}

function dayOf(value: unknown, form: RegExp): string | undefined {
  if (typeof value !== 'string' || !form.test(value)) return undefined;
  return Number.isNaN(Date.parse(value.slice(0, 'YYYY-MM-DD'.length))) ? undefined : value;
}
