/** Search parameters of the usage page. */
import { type ListSearch, listOf, textOf, wordOf } from '../../components/search-parameters.ts';

export const STATUSES = ['SUCCEEDED', 'FAILED', 'CANCELLED', 'THROTTLED'] as const;
export const SOURCES = ['API_KEY', 'POOL_KEY', 'PLAYGROUND', 'PERSONAL_INTELLIGENCE'] as const;

export const SPANS = ['1', '7', '14', '30'] as const;
export const DIMENSIONS = ['model', 'key'] as const;
/** Measures that are sums of requests, and the share of failures. */
export const SUM_MEASURES = ['cost', 'requests', 'tokens', 'failed', 'rate'] as const;
/** Measures that are times, shown as percentiles. */
export const TIME_MEASURES = ['ttft', 'duration'] as const;
export const MEASURES = [...SUM_MEASURES, ...TIME_MEASURES] as const;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
/** A day or an hour. */
const BAR = /^(\d{4}-\d{2}-\d{2})(T([01]\d|2[0-3]))?$/;

/** The time that charts cover. */
export interface SpanSearch {
  /** How many days; undefined for the default of the page. */
  days?: (typeof SPANS)[number] | undefined;
  /** The first and the last day, YYYY-MM-DD in UTC; instead of `days`. */
  from?: string | undefined;
  to?: string | undefined;
}

export interface UsageSearch extends ListSearch, SpanSearch {
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
    ...validSpan(search),
    day: dayOf(search['day'], BAR),
    by: wordOf(search['by'], DIMENSIONS),
    measure: wordOf(search['measure'], MEASURES),
    view: wordOf(search['view'], ['table'] as const),
    ...listOf(search),
  };
}

/** Parses the time that charts cover. */
export function validSpan(search: Record<string, unknown>): SpanSearch {
  return {
    days: wordOf(String(search['days']), SPANS),
    from: dayOf(search['from'], DAY),
    to: dayOf(search['to'], DAY),
  };
}

function dayOf(value: unknown, form: RegExp): string | undefined {
  if (typeof value !== 'string' || !form.test(value)) return undefined;
  return Number.isNaN(Date.parse(value.slice(0, 'YYYY-MM-DD'.length))) ? undefined : value;
}
