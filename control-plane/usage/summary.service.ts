/** Sums over the usage log: totals, a series in buckets, groups. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserFailure } from '../errors.ts';
import { setsOf } from './summary.sets.ts';
import type { BucketWidth, Dimension, Sets, Totals } from './summary.sets.ts';
import { summarySource } from './summary.source.ts';
import type { WidestSpan } from './summary.source.ts';
import { ofWallet } from './usage.service.ts';
import type { UsageConditions } from './usage.service.ts';

export interface Summary extends Sets {
  previousTotals: Totals | null;
  asOf: Date;
}

export interface SummaryRequest {
  range: { from: Date; to: Date };
  conditions: UsageConditions;
  groupBy: readonly Dimension[];
  bucket: BucketWidth | null;
}

/** A summary names at most this many groups, and a series has at most this many points. */
const GROUPS_MAX = 100;
const POINTS_MAX = 2000;
const DIMENSIONS_MAX = 3;
const HOUR_MS = 60 * 60 * 1000;
const RANGE_MS_MAX = 400 * 24 * HOUR_MS;
const WIDTH_MS: Record<BucketWidth, number> = {
  HOUR: HOUR_MS,
  DAY: 24 * HOUR_MS,
  WEEK: 7 * 24 * HOUR_MS,
  MONTH: 28 * 24 * HOUR_MS,
};

/** The widest sums that fall into one point each. */
const WIDEST: Record<BucketWidth, WidestSpan> = { HOUR: 'HOUR', DAY: 'DAY', WEEK: 'WEEK', MONTH: 'DAY' };
/** Dimensions that sums of everybody do not know. */
const OWNED: ReadonlySet<Dimension> = new Set(['KEY', 'USER']);

/** Sums up a span. Throws INVALID for a span beyond 400 days, too many points or too many dimensions. */
export async function summarise(em: EntityManager, request: SummaryRequest): Promise<Summary> {
  const { range, groupBy, bucket } = request;
  checkSpan(range, bucket);
  if (groupBy.length > DIMENSIONS_MAX || new Set(groupBy).size !== groupBy.length)
    throw new UserFailure('INVALID', `At most ${DIMENSIONS_MAX} different dimensions.`, 'groupBy');
  const conditions = await ofWallet(em, request.conditions);
  // Wider sums know the wallet alone, and the sums of all hours are fewer where nobody asks for it.
  const isByUser = groupBy.length === 1 && groupBy[0] === 'USER';
  const source = summarySource({
    range,
    conditions,
    byOwner: groupBy.some((one) => OWNED.has(one)),
    widest: isByUser ? (bucket ? WIDEST[bucket] : 'WEEK') : 'HOUR',
  });
  const before = summarySource({ range: spanBefore(range), conditions, byOwner: false });
  return {
    ...(await setsOf(em, source, { groupBy, bucket, pointsMax: POINTS_MAX, groupsMax: GROUPS_MAX })),
    previousTotals: (await setsOf(em, before, NO_SETS)).totals,
    asOf: new Date(),
  };
}

const NO_SETS = { groupBy: [], bucket: null, pointsMax: 0, groupsMax: 0 };

/** The span of the same length that ends where this one begins. */
function spanBefore({ from, to }: SummaryRequest['range']): SummaryRequest['range'] {
  return { from: new Date(2 * from.getTime() - to.getTime()), to: from };
}

/** The span of a summary, and the width of its points; null for none. */
export interface KeySpan {
  range: { from: Date; to: Date };
  bucket: BucketWidth | null;
}

/**
 * Sums over the requests of each key, from two questions for all of them; keys without any are there too.
 * Throws INVALID for a span beyond 400 days or too many points.
 */
export async function summariesOfKeys(
  em: EntityManager,
  keyIds: readonly string[],
  { range, bucket }: KeySpan,
): Promise<ReadonlyMap<string, Summary>> {
  checkSpan(range, bucket);
  const wish = { groupBy: ['KEY' as const], groupsMax: keyIds.length, pointsMax: POINTS_MAX * keyIds.length };
  const sourceOf = (span: KeySpan['range']) =>
    summarySource({ range: span, conditions: { keyIds }, byOwner: true });
  const now = await setsOf(em, sourceOf(range), { ...wish, bucket });
  const before = await setsOf(em, sourceOf(spanBefore(range)), { ...wish, bucket: null });
  const totals = new Map(now.groups.map((group) => [group.key, group.totals]));
  const previous = new Map(before.groups.map((group) => [group.key, group.totals]));
  const series = Map.groupBy(now.series, (point) => point.key ?? '');
  const none = { requests: 0, failed: 0, inputTokens: '0', outputTokens: '0', cost: 0n };
  const asOf = new Date();
  return new Map(
    keyIds.map((id) => [
      id,
      {
        totals: totals.get(id) ?? none,
        previousTotals: previous.get(id) ?? none,
        series: (series.get(id) ?? []).map((point) => ({ ...point, key: null })),
        groups: [],
        asOf,
      },
    ]),
  );
}

function checkSpan(range: { from: Date; to: Date }, bucket: BucketWidth | null): void {
  const spanMs = range.to.getTime() - range.from.getTime();
  if (spanMs <= 0 || spanMs > RANGE_MS_MAX)
    throw new UserFailure('INVALID', 'The span must be positive and at most 400 days.', 'range');
  if (bucket && spanMs / WIDTH_MS[bucket] > POINTS_MAX) {
    throw new UserFailure(
      'INVALID',
      `A series has at most ${POINTS_MAX} points. Choose a wider bucket.`,
      'bucket',
    );
  }
}
