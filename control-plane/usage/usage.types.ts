/** GraphQL types of the usage log. Metadata only: there is no field for prompt or reply content. */
import 'reflect-metadata';
import { ArgsType, Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { Family, Group } from '@gateway/shared/catalog';
import type { UsageOutcome, UsageSource, UsageStatus } from '@gateway/shared/records';
import { connectionOf, LongPageArguments } from '../graphql/connections.ts';
import { BillingGroup, describeEnum, WireFamily } from '../graphql/enums.ts';
import { DateRange } from '../graphql/inputs.ts';
import { GlobalObject } from '../graphql/global-object.ts';
import { DateTime, Decimal, Money } from '../graphql/scalars.ts';
import { UsageOrderInput } from './usage.order.ts';

export const UsageSourceEnum = describeEnum<UsageSource>('UsageSource', 'Where a request came from.', {
  API_KEY: 'An API key on the main domain.',
  POOL_KEY: 'A key of a dedicated pool.',
  PLAYGROUND: 'The Playground.',
  PERSONAL_INTELLIGENCE: 'Personal Intelligence, which derives its items with a model.',
});

export const UsageOutcomeEnum = describeEnum<UsageOutcome>(
  'UsageOutcome',
  'Why a request was charged or not.',
  {
    DELIVERED: 'Charged: the whole answer was delivered.',
    CLIENT_LEFT: 'Charged: the client disconnected after content was relayed.',
    KEY_CUT: 'Charged: the owner disabled the key after content was relayed.',
    OPERATOR_CUT: 'Free: the operator stopped the key or its account.',
    NO_CONTENT: 'Free: the request ended before any content was relayed.',
    UPSTREAM_FAILED: 'Free: the upstream or the gateway failed.',
    REFUSED: 'Free: the request was refused, by the gateway or by the upstream.',
    THROTTLED: 'Free: the request exceeded a limit.',
  },
);

export const UsageStatusEnum = describeEnum<UsageStatus>('UsageStatus', 'How a request ended.', {
  SUCCEEDED: 'Answered.',
  FAILED: 'Not answered.',
  CANCELLED: 'Ended by the client, or because its key was stopped.',
  THROTTLED: 'Refused because of a limit.',
});

export const UsageDimension = describeEnum('UsageDimension', 'What a summary is grouped by.', {
  MODEL: 'Model name.',
  KEY: 'API key.',
  POOL: 'Dedicated pool.',
  SOURCE: 'Where requests came from.',
  STATUS: 'How requests ended.',
  GROUP: 'Billing group.',
  USER: 'Owner of the wallet.',
});
export type UsageDimension = keyof typeof UsageDimension;

export const UsageBucket = describeEnum('UsageBucket', 'Width of the points of a series, in UTC.', {
  HOUR: 'One hour.',
  DAY: 'One day.',
  WEEK: 'One week, from Monday.',
  MONTH: 'One month.',
});
export type UsageBucket = keyof typeof UsageBucket;

/** One finished request: metadata only. */
@ObjectType({
  implements: GlobalObject,
  description:
    'One finished request: metadata only. There is no field for prompt or reply content, by design.',
})
export class UsageEntry extends GlobalObject {
  @Field(() => String, { description: 'The x-request-id of the answer.' })
  requestId!: string;

  @Field(() => String, { description: 'The catalog name that the client requested.' })
  modelName!: string;

  @Field(() => ID, {
    nullable: true,
    description: "The key; null for requests without a key of the user's own.",
  })
  keyId!: string | null;

  @Field(() => ID, { nullable: true, description: 'The dedicated pool, or null.' })
  poolId!: string | null;

  @Field(() => UsageSourceEnum, { description: 'Where the request came from.' })
  source!: UsageSource;

  @Field(() => WireFamily, { description: 'The family of endpoints that was called.' })
  family!: Family;

  @Field(() => BillingGroup, { description: "The key's billing group at that time." })
  group!: Group;

  @Field(() => Int, {
    nullable: true,
    description: 'Input tokens, including cached tokens, as counted by the upstream.',
  })
  inputTokens!: number | null;

  @Field(() => Int, { nullable: true, description: 'Output tokens, including reasoning.' })
  outputTokens!: number | null;

  @Field(() => Int, { nullable: true, description: 'Input tokens read from a cache.' })
  cachedTokens!: number | null;

  @Field(() => Int, { nullable: true, description: 'Output tokens spent on reasoning.' })
  reasoningTokens!: number | null;

  @Field(() => Money, { description: "Price of one request before the group's ratio." })
  basePrice!: bigint;

  @Field(() => Decimal, { description: "The group's ratio." })
  ratio!: string;

  @Field(() => Money, { description: 'The charge; 0 for free requests.' })
  cost!: bigint;

  @Field(() => String, { nullable: true, description: 'Address of the caller.' })
  ip!: string | null;

  @Field(() => UsageStatusEnum, { description: 'How the request ended.' })
  status!: UsageStatus;

  @Field(() => UsageOutcomeEnum, { description: 'Why the request was charged or not.' })
  outcome!: UsageOutcome;

  @Field(() => Int, { description: 'HTTP status of the answer.' })
  httpStatus!: number;

  @Field(() => String, { nullable: true, description: 'Code of the failure, or null.' })
  errorCode!: string | null;

  @Field(() => Boolean, { description: 'Whether the answer was streamed.' })
  streamed!: boolean;

  @Field(() => Int, { nullable: true, description: 'From request to end, in milliseconds.' })
  latencyMs!: number | null;

  @Field(() => Int, { nullable: true, description: 'From request to first content, in milliseconds.' })
  ttftMs!: number | null;

  @Field(() => Int, { description: "Parts of the answer that the client's format could not carry." })
  lossesInAnswer!: number;

  @Field(() => Int, {
    description: 'Other refusals of the same key, code and model within a minute without an entry.',
  })
  repeats!: number;

  @Field(() => DateTime, { description: 'When the request finished.' })
  createdAt!: Date;
}

export const UsageEntryConnection = connectionOf('UsageEntry', UsageEntry, { countable: false });

/** Selects requests; all given conditions have to match. */
@InputType({ description: 'Selects requests; all given conditions have to match.' })
export class UsageFilter {
  @Field(() => DateRange, { nullable: true, description: 'Only in this range.' })
  range?: DateRange | null;

  @Field(() => [String], { nullable: true, description: 'Only of these models.' })
  modelNames?: string[] | null;

  @Field(() => [ID], { nullable: true, description: 'Only with these keys.' })
  keyIds?: string[] | null;

  @Field(() => [ID], { nullable: true, description: 'Only of these pools.' })
  poolIds?: string[] | null;

  @Field(() => [UsageSourceEnum], { nullable: true, description: 'Only from these sources.' })
  sources?: UsageSource[] | null;

  @Field(() => [UsageStatusEnum], { nullable: true, description: 'Only with these statuses.' })
  statuses?: UsageStatus[] | null;

  @Field(() => String, { nullable: true, description: 'Only this request.' })
  requestId?: string | null;

  @Field(() => String, { nullable: true, description: 'Only from this address.' })
  ip?: string | null;

  @Field(() => Money, { nullable: true, description: 'Only requests that cost at least this.' })
  minCost?: bigint | null;

  @Field(() => ID, {
    nullable: true,
    description: 'Only of this user. For administrators; other callers see only their own requests.',
  })
  userId?: string | null;
}

/** Filter, order and page of requests. */
@ArgsType()
export class UsageArguments extends LongPageArguments {
  @Field(() => UsageOrderInput, { nullable: true, description: 'Order; newest first by default.' })
  orderBy?: UsageOrderInput | null;

  @Field(() => UsageFilter, { nullable: true, description: 'Which requests.' })
  filter?: UsageFilter | null;
}

/** Range, grouping and filter of a summary. */
@ArgsType()
export class SummaryArguments {
  @Field(() => DateRange, { description: 'The range, at most 400 days.' })
  range!: DateRange;

  @Field(() => [UsageDimension], {
    defaultValue: [],
    description: 'At most three dimensions of `groups`; the first is also that of `series`.',
  })
  groupBy!: UsageDimension[];

  @Field(() => UsageBucket, { nullable: true, description: 'Width of the points of `series`.' })
  bucket?: UsageBucket | null;

  @Field(() => UsageFilter, { nullable: true, description: 'Which requests.' })
  filter?: UsageFilter | null;
}

/** Sums over requests. */
@ObjectType({ description: 'Sums over requests.' })
export class UsageTotals {
  @Field(() => Int, { description: 'Number of requests.' })
  requests!: number;

  @Field(() => Int, { description: 'Number of requests that did not succeed.' })
  failed!: number;

  @Field(() => Decimal, { description: 'Input tokens.' })
  inputTokens!: string;

  @Field(() => Decimal, { description: 'Output tokens.' })
  outputTokens!: string;

  @Field(() => Decimal, { description: 'Input tokens that were read from a cache of the provider.' })
  cachedTokens!: string;

  @Field(() => Money, { description: 'Sum of charges.' })
  cost!: bigint;
}

/** One point of a series. */
@ObjectType({ description: 'One point of a series.' })
export class UsagePoint {
  @Field(() => DateTime, { description: 'Start of the bucket.' })
  at!: Date;

  @Field(() => String, {
    nullable: true,
    description: 'Value of the first dimension; null without dimensions.',
  })
  key!: string | null;

  @Field(() => UsageTotals, { description: 'Sums of the bucket.' })
  totals!: UsageTotals;
}

/** One row of a grouped summary. */
@ObjectType({ description: 'One row of a grouped summary.' })
export class UsageGroupRow {
  @Field(() => String, { description: 'Values of the dimensions, joined by a slash.' })
  key!: string;

  @Field(() => String, {
    description: 'The same values in readable form: names of keys and pools, addresses of users.',
  })
  label!: string;

  @Field(() => UsageTotals, { description: 'Sums of the group.' })
  totals!: UsageTotals;
}

/** Usage in a range of time. */
@ObjectType({ description: 'Usage in a range of time.' })
export class UsageSummary {
  @Field(() => UsageTotals, { description: 'Sums of the range.' })
  totals!: UsageTotals;

  @Field(() => [UsagePoint], { description: 'Sums per bucket; empty unless a bucket is set.' })
  series!: UsagePoint[];

  @Field(() => [UsageGroupRow], { description: 'Sums per group, by descending cost, at most 100.' })
  groups!: UsageGroupRow[];

  @Field(() => DateTime, { description: 'Requests that were settled before this time are counted.' })
  asOf!: Date;
}
