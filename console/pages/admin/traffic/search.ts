/** Search parameters of charts of traffic. */
import { type ListSearch, listOf, textOf, wordOf } from '../../../components/search-parameters.ts';
import { type SpanSearch, validSpan } from '../../usage/search.ts';

export const TRAFFIC_MEASURES = ['requests', 'rate', 'ttft', 'duration'] as const;

export interface TrafficSearch extends ListSearch, SpanSearch {
  chart?: (typeof TRAFFIC_MEASURES)[number] | undefined;
  /** The id of the only upstream or node that the chart shows. */
  of?: string | undefined;
}

/** Parses the search parameters of a page with a chart of traffic. */
export function validTrafficSearch(search: Record<string, unknown>): TrafficSearch {
  return {
    ...listOf(search),
    ...validSpan(search),
    chart: wordOf(search['chart'], TRAFFIC_MEASURES),
    of: textOf(search['of']),
  };
}
