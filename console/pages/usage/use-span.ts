/** The span of charts that refresh themselves. */
import { useMemo } from 'react';
import { useNow } from '../../components/use-now.ts';
import type { SpanSearch } from './search.ts';
import { type Span, spanOf } from './span.ts';

/** The span as of now; its bars move on with each hour or day. Looks at the clock every `everyMs`. */
export function useSpan(search: SpanSearch, everyMs: number): Span {
  const { from, to, bucket } = spanOf(search, useNow(everyMs));
  return useMemo(() => ({ from, to, bucket }), [from, to, bucket]);
}
