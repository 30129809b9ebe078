/** The usage log on the API. Metadata only: there is no field for prompt or reply content. */
import 'reflect-metadata';
import { ArgsType, Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { Family, Group } from '@gateway/shared/catalog';
import type { UsageOutcome, UsageSource, UsageStatus } from '@gateway/shared/records';
import { connectionOf, LongPageArguments } from '../connections.ts';
import { BillingGroup, describeEnum, WireFamily } from '../enums.ts';
import { DateRange } from '../inputs.ts';
import { NodeInterface } from '../node-interface.ts';
import { DateTime, Decimal, Money } from '../scalars.ts';

export const UsageSourceEnum = describeEnum<UsageSource>('UsageSource', 'Where a request came from.', {
  API_KEY: 'An API key on the main domain.',
  POOL_KEY: 'A key of a dedicated pool.',
  PLAYGROUND: 'The Playground.',
  PERSONAL_INTELLIGENCE: 'Deriving items of Personal Intelligence.',
});

export const UsageOutcomeEnum = describeEnum<UsageOutcome>(
  'UsageOutcome',
  'Why a request was charged or not.',
  {
    DELIVERED: 'The whole answer was delivered: charged.',
    CLIENT_LEFT: 'The client left after content had been relayed: charged.',
    KEY_CUT: 'Its owner disabled the key after content had been relayed: charged.',
    OPERATOR_CUT: 'The operator stopped the key or its account after content had been relayed: free.',
    NO_CONTENT: 'Ended before any content was relayed: free.',
    UPSTREAM_FAILED: 'The upstream or the gateway broke it: free.',
    REFUSED: 'Refused before an upstream was asked: free.',
    THROTTLED: 'Over a limit: free.',
  },
);

export const UsageStatusEnum = describeEnum<UsageStatus>('UsageStatus', 'How a request ended.', {
  SUCCEEDED: 'Answered.',
  FAILED: 'Not answered.',
  CANCELLED: 'Ended by the client, or with its key.',
  THROTTLED: 'Over a limit.',
});

export const UsageDimension = describeEnum('UsageDimension', 'What a summary is grouped by.', {
  MODEL: 'Model name.',
  KEY: 'API key.',
  POOL: 'Dedicated pool.',
  SOURCE: 'Where requests came from.',
  STATUS: 'How they ended.',
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
  implements: NodeInterface,
  description:
    'One finished request: metadata only. There is no field for prompt or reply content, by design.',
})
export class UsageEntry extends NodeInterface {
  @Field(() => String, { description: 'The x-request-id of the answer.' })
  requestId!: string;

  @Field(() => String, { description: 'The catalog name that was asked for.' })
  modelName!: string;

  @Field(() => ID, {
    nullable: true,
    description: "The key; null for requests without one of the user's own.",
  })
  keyId!: string | null;

  @Field(() => ID, { nullable: true, description: 'The dedicated pool, or null.' })
  poolId!: string | null;

  @Field(() => UsageSourceEnum, { description: 'Where it came from.' })
  source!: UsageSource;

  @Field(() => WireFamily, { description: 'The family of endpoints that was called.' })
  family!: Family;

  @Field(() => BillingGroup, { description: "The key's billing group at that time." })
  group!: Group;

  @Field(() => Int, {
    nullable: true,
    description: 'Input tokens, cached ones included, as the upstream counted them.',
  })
  inputTokens!: number | null;

  @Field(() => Int, { nullable: true, description: 'Output tokens, reasoning included.' })
  outputTokens!: number | null;

  @Field(() => Int, { nullable: true, description: 'Input tokens that came from a cache.' })
  cachedTokens!: number | null;

  @Field(() => Int, { nullable: true, description: 'Output tokens spent on reasoning.' })
  reasoningTokens!: number | null;

  @Field(() => Money, { description: "Price of one request before the group's ratio." })
  basePrice!: bigint;

  @Field(() => Decimal, { description: "The group's ratio." })
  ratio!: string;

  @Field(() => Money, { description: 'What was charged; 0 for failures.' })
  cost!: bigint;

  @Field(() => String, { nullable: true, description: 'Address of the caller.' })
  ip!: string | null;

  @Field(() => UsageStatusEnum, { description: 'How it ended.' })
  status!: UsageStatus;

  @Field(() => UsageOutcomeEnum, { description: 'Why it was charged or not.' })
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

  @Field(() => DateTime, { description: 'When it finished.' })
  createdAt!: Date;
}

export const UsageEntryConnection = connectionOf('UsageEntry', UsageEntry, { countable: false });

/** Which requests are meant; several conditions hold together. */
@InputType({ description: 'Which requests are meant; several conditions hold together.' })
export class UsageFilter {
  @Field(() => DateRange, { nullable: true, description: 'Only from this span.' })
  range?: DateRange | null;

  @Field(() => [String], { nullable: true, description: 'Only of these models.' })
  modelNames?: string[] | null;

  @Field(() => [ID], { nullable: true, description: 'Only with these keys.' })
  keyIds?: string[] | null;

  @Field(() => [ID], { nullable: true, description: 'Only of these pools.' })
  poolIds?: string[] | null;

  @Field(() => [UsageSourceEnum], { nullable: true, description: 'Only from there.' })
  sources?: UsageSource[] | null;

  @Field(() => [UsageStatusEnum], { nullable: true, description: 'Only with these endings.' })
  statuses?: UsageStatus[] | null;

  @Field(() => String, { nullable: true, description: 'Only this request.' })
  requestId?: string | null;

  @Field(() => String, { nullable: true, description: 'Only from this address.' })
  ip?: string | null;

  @Field(() => Money, { nullable: true, description: 'Only what cost at least this.' })
  minCost?: bigint | null;

  @Field(() => ID, {
    nullable: true,
    description: 'Only of this user. For administrators; others see their own alone.',
  })
  userId?: string | null;
}

/** Which requests, and which page of them. */
@ArgsType()
export class UsageArguments extends LongPageArguments {
  @Field(() => UsageFilter, { nullable: true, description: 'Which requests.' })
  filter?: UsageFilter | null;
}

/** What a summary is about. */
@ArgsType()
export class SummaryArguments {
  @Field(() => DateRange, { description: 'The span, at most 400 days.' })
  range!: DateRange;

  @Field(() => [UsageDimension], {
    defaultValue: [],
    description: 'At most three dimensions for `groups`; the first for `series`.',
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
  @Field(() => Int, { description: 'Requests.' })
  requests!: number;

  @Field(() => Int, { description: 'Of these, not succeeded.' })
  failed!: number;

  @Field(() => Decimal, { description: 'Input tokens.' })
  inputTokens!: string;

  @Field(() => Decimal, { description: 'Output tokens.' })
  outputTokens!: string;

  @Field(() => Money, { description: 'What was charged.' })
  cost!: bigint;
}

/** One point of a series. */
@ObjectType({ description: 'One point of a series.' })
export class UsagePoint {
  @Field(() => DateTime, { description: 'Where its bucket begins.' })
  at!: Date;

  @Field(() => String, { nullable: true, description: 'Value of the first dimension; null without one.' })
  key!: string | null;

  @Field(() => UsageTotals, { description: 'Sums of the bucket.' })
  totals!: UsageTotals;
}

/** One row of a grouped summary. */
@ObjectType({ description: 'One row of a grouped summary.' })
export class UsageGroupRow {
  @Field(() => String, { description: 'Values of the dimensions, joined by a slash.' })
  key!: string;

  @Field(() => String, { description: 'The same for people.' })
  label!: string;

  @Field(() => UsageTotals, { description: 'Sums of the group.' })
  totals!: UsageTotals;
}

/** Usage in a span of time. */
@ObjectType({ description: 'Usage in a span of time.' })
export class UsageSummary {
  @Field(() => UsageTotals, { description: 'Sums of the span.' })
  totals!: UsageTotals;

  @Field(() => [UsagePoint], { description: 'The span in buckets; empty unless a bucket was asked for.' })
  series!: UsagePoint[];

  @Field(() => [UsageGroupRow], { description: 'The span by dimensions, most expensive first, at most 100.' })
  groups!: UsageGroupRow[];

  @Field(() => DateTime, { description: 'When this was summed up.' })
  asOf!: Date;
}
