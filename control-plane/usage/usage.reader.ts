/** The questions of pages, charts and downloads to the usage log, and the answers of PostgreSQL. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { countUsage } from './count.service.ts';
import { setsOf } from './summary.sets.ts';
import type { Sets, SetsRequest } from './summary.sets.ts';
import { summarySource } from './summary.source.ts';
import type { SummarySpan } from './summary.source.ts';
import { timingsOf } from './timing.service.ts';
import { usagePage } from './usage.service.ts';
import { usageLines } from './usage.table.ts';

/** Answers questions to the usage log. All implementations give the same answers. */
export interface UsageReader {
  /** A page of entries; see `usagePage`. */
  page: typeof usagePage;
  /** Number of matching entries; see `countUsage`. */
  count: typeof countUsage;
  /** A page of a download; see `usageLines`. */
  lines: typeof usageLines;
  /** Totals, series and groups of a range, with all requests that were settled before `asOf`. */
  sets(em: EntityManager, span: SummarySpan, request: SetsRequest): Promise<Sets & { asOf: Date }>;
  /** Times of succeeded requests; see `timingsOf`. */
  timings: typeof timingsOf;
}

/** Reads from PostgreSQL, which has every settled request at once. */
export const POSTGRES_USAGE: UsageReader = {
  page: usagePage,
  count: countUsage,
  lines: usageLines,
  timings: timingsOf,
  sets: async (em, span, request) => {
    const asOf = new Date();
    return { ...(await setsOf(em, summarySource(span), request)), asOf };
  },
};
