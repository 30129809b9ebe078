/** Filter conditions of the usage log, for the service and for rows that arrive live. */
import type { UsageRow } from './documents.ts';
import type { UsageSearch } from './search.ts';
import { type Range, rangeOfBar } from './span.ts';

export interface UsageConditions {
  modelNames?: string[];
  keyIds?: string[];
  statuses?: UsageRow['status'][];
  sources?: UsageRow['source'][];
  requestId?: string;
  poolIds?: string[];
  range?: Range;
}

/** The conditions from the search parameters, as the service's filter. */
export function conditionsOf({
  model,
  key,
  status,
  source,
  request,
  pool,
  day,
}: UsageSearch): UsageConditions {
  return {
    ...(model && { modelNames: [model] }),
    ...(key && { keyIds: [key] }),
    ...(status && { statuses: [status] }),
    ...(source && { sources: [source] }),
    ...(request && { requestId: request }),
    ...(pool && { poolIds: [pool] }),
    ...(day && { range: rangeOfBar(day) }),
  };
}

/** Whether a row that arrived live meets the conditions. */
export function meets(
  row: UsageRow,
  { modelNames, keyIds, statuses, sources, requestId, poolIds, range }: UsageConditions,
): boolean {
  return (
    (modelNames?.includes(row.modelName) ?? true) &&
    (keyIds === undefined || (row.keyId !== null && keyIds.includes(row.keyId))) &&
    (statuses?.includes(row.status) ?? true) &&
    (sources?.includes(row.source) ?? true) &&
    (requestId === undefined || requestId === row.requestId) &&
    (poolIds === undefined || (row.poolId !== null && poolIds.includes(row.poolId))) &&
    (range === undefined || (row.createdAt >= range.from && row.createdAt < range.to))
  );
}
