/** Summaries of many keys over one span, from three questions. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { checkSpan, seriesByKey, totalsByKey } from './summary.service.ts';
import type { BucketWidth, Summary } from './summary.service.ts';

/** The span of a summary, and the width of its points; null for none. */
export interface KeySpan {
  range: { from: Date; to: Date };
  bucket: BucketWidth | null;
}

/**
 * Sums over the requests of each key; keys without any are there too. Throws INVALID for a span beyond 400
 * days or too many points.
 */
export async function summariesOfKeys(
  em: EntityManager,
  keyIds: readonly string[],
  { range, bucket }: KeySpan,
): Promise<ReadonlyMap<string, Summary>> {
  checkSpan(range, bucket);
  const previous = { from: new Date(2 * range.from.getTime() - range.to.getTime()), to: range.from };
  const [now, before] = [await totalsByKey(em, keyIds, range), await totalsByKey(em, keyIds, previous)];
  const points = bucket ? await seriesByKey(em, keyIds, { range, bucket }) : [];
  const series = Map.groupBy(points, (point) => point.key ?? '');
  const none = { requests: 0, failed: 0, inputTokens: '0', outputTokens: '0', cost: 0n };
  const asOf = new Date();
  return new Map(
    keyIds.map((id) => [
      id,
      {
        totals: now.get(id) ?? none,
        previousTotals: before.get(id) ?? none,
        series: (series.get(id) ?? []).map((point) => ({ ...point, key: null })),
        groups: [],
        asOf,
      },
    ]),
  );
}
