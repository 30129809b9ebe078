/** Summaries of the usage log: totals, a time series and groups. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserFailure } from '../graphql/errors.ts';
import { setsOf } from './summary.sets.ts';
import type { BucketWidth, Dimension, Sets, Totals } from './summary.sets.ts';
import { summarySource } from './summary.source.ts';
import type { SummarySpan, WidestSpan } from './summary.source.ts';
import type { SummaryTimings } from './timing.service.ts';
import { POSTGRES_USAGE } from './usage.reader.ts';
import type { UsageReader } from './usage.reader.ts';
import { ofWallet } from './usage.service.ts';
import type { UsageConditions } from './usage.service.ts';

/** A summary of a range. */
export interface Summary extends Sets {
  asOf: Date;
  /** Asks for the totals of the preceding range of the same length; undefined if they are unknown. */
  before(): Promise<Totals | undefined>;
  /** Asks for the times of succeeded requests. */
  timings(): Promise<SummaryTimings>;
}

/** A summary without what is asked for later. */
export type PresentSummary = Omit<Summary, 'before' | 'timings'>;

/** A request for a summary. `bucket` is the time span of each point; if it is null, there is no series. */
export interface SummaryRequest {
  range: { from: Date; to: Date };
  conditions: UsageConditions;
  groupBy: readonly Dimension[];
  bucket: BucketWidth | null;
}

/** A summary has at most this many groups; the rest is left out. */
const GROUPS_MAX = 100;
/** A request for a series of more points is refused. */
const POINTS_MAX = 2000;
/** A request for groups of more dimensions is refused. */
const DIMENSIONS_MAX = 3;
const HOUR_MS = 60 * 60 * 1000;
const RANGE_MS_MAX = 400 * 24 * HOUR_MS;
/** Shortest length of each bucket, so that the number of points is never estimated too low. */
const WIDTH_MS: Record<BucketWidth, number> = {
  HOUR: HOUR_MS,
  DAY: 24 * HOUR_MS,
  WEEK: 7 * 24 * HOUR_MS,
  MONTH: 28 * 24 * HOUR_MS,
};

/** For each bucket, the longest stored sums that lie within one point. A week can lie in two months. */
const WIDEST: Record<BucketWidth, WidestSpan> = { HOUR: 'HOUR', DAY: 'DAY', WEEK: 'WEEK', MONTH: 'DAY' };
/** The sums over all users do not have these dimensions. */
const OWNED: ReadonlySet<Dimension> = new Set(['KEY', 'USER']);

/**
 * Summarises a range. Throws INVALID if the range is empty or longer than 400 days, if there are too many
 * points, or if dimensions are too many or repeated.
 */
export async function summarise(
  em: EntityManager,
  request: SummaryRequest,
  usage: UsageReader = POSTGRES_USAGE,
): Promise<Summary> {
  const { range, groupBy, bucket } = request;
  checkSpan(range, bucket);
  if (groupBy.length > DIMENSIONS_MAX || new Set(groupBy).size !== groupBy.length)
    throw new UserFailure('INVALID', `Choose at most ${DIMENSIONS_MAX} dimensions, each once.`, 'groupBy');
  const conditions = await ofWallet(em, request.conditions);
  // Daily and weekly sums exist only per wallet: they serve groups of users. All other summaries read hourly
  // sums, whose rows over all users are fewer than daily rows per wallet.
  const isByUser = groupBy.length === 1 && groupBy[0] === 'USER';
  const span: SummarySpan = {
    range,
    conditions,
    byOwner: groupBy.some((one) => OWNED.has(one)),
    widest: isByUser ? (bucket ? WIDEST[bucket] : 'WEEK') : 'HOUR',
  };
  const sets = await usage.sets(em, span, { groupBy, bucket, pointsMax: POINTS_MAX, groupsMax: GROUPS_MAX });
  return {
    ...sets,
    before: async () => {
      const before = { range: spanBefore(range), conditions, byOwner: false };
      return (await usage.sets(em, before, NO_SETS)).totals;
    },
    timings: () => usage.timings(em, span, { groupBy: groupBy[0] ?? null, bucket }),
  };
}

const NO_SETS = { groupBy: [], bucket: null, pointsMax: 0, groupsMax: 0 };

/** The preceding range of the same length. */
function spanBefore({ from, to }: SummaryRequest['range']): SummaryRequest['range'] {
  return { from: new Date(2 * from.getTime() - to.getTime()), to: from };
}

/** The range of a summary, and the time span of its points; null for no series. */
export interface KeySpan {
  range: { from: Date; to: Date };
  bucket: BucketWidth | null;
}

/**
 * The summary of each key, by key id, from one query. A key without requests has totals of zero. Throws
 * INVALID for a range above 400 days or too many points.
 */
export async function summariesOfKeys(
  em: EntityManager,
  keyIds: readonly string[],
  { range, bucket }: KeySpan,
): Promise<ReadonlyMap<string, PresentSummary>> {
  checkSpan(range, bucket);
  const sets = await setsOfKeys(em, keyIds, { range, bucket });
  const totals = new Map(sets.groups.map((group) => [group.key, group.totals]));
  const series = Map.groupBy(sets.series, (point) => point.key ?? '');
  const asOf = new Date();
  return new Map(
    keyIds.map((id) => [
      id,
      {
        totals: totals.get(id) ?? NO_TOTALS,
        series: (series.get(id) ?? []).map((point) => ({ ...point, key: null })),
        groups: [],
        asOf,
      },
    ]),
  );
}

/** Totals of the preceding range by key id, from one query; keys without requests have zero totals. */
export async function totalsBeforeOfKeys(
  em: EntityManager,
  keyIds: readonly string[],
  range: KeySpan['range'],
): Promise<ReadonlyMap<string, Totals>> {
  const { groups } = await setsOfKeys(em, keyIds, { range: spanBefore(range), bucket: null });
  const totals = new Map(groups.map((group) => [group.key, group.totals]));
  return new Map(keyIds.map((id) => [id, totals.get(id) ?? NO_TOTALS]));
}

const NO_TOTALS: Totals = {
  ...{ requests: 0, failed: 0, inputTokens: '0', outputTokens: '0', cachedTokens: '0' },
  cost: 0n,
};

function setsOfKeys(em: EntityManager, keyIds: readonly string[], { range, bucket }: KeySpan): Promise<Sets> {
  return setsOf(em, summarySource({ range, conditions: { keyIds }, byOwner: true }), {
    groupBy: ['KEY'],
    groupsMax: keyIds.length,
    pointsMax: POINTS_MAX * keyIds.length,
    bucket,
  });
}

/** Throws INVALID if the range is empty or longer than 400 days, or if there are too many points. */
export function checkSpan(range: { from: Date; to: Date }, bucket: BucketWidth | null): void {
  const spanMs = range.to.getTime() - range.from.getTime();
  if (spanMs <= 0 || spanMs > RANGE_MS_MAX)
    throw new UserFailure('INVALID', 'Choose a range above zero and up to 400 days.', 'range');
  if (bucket && spanMs / WIDTH_MS[bucket] > POINTS_MAX) {
    throw new UserFailure(
      'INVALID',
      `A series has at most ${POINTS_MAX} points. Choose a wider bucket.`,
      'bucket',
    );
  }
}
