/** GraphQL types of the times of requests. */
import 'reflect-metadata';
import { Field, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../graphql/scalars.ts';

/** Percentiles of a time. */
@ObjectType({ description: 'Percentiles of a time in milliseconds, each within 3.2 %.' })
export class TimePercentiles {
  @Field(() => Int, { description: 'Number of requests with this time.' })
  requests!: number;

  @Field(() => Int, { description: 'Half of the requests took at most this time.' })
  p50Ms!: number;

  @Field(() => Int, { description: '95 % of the requests took at most this time.' })
  p95Ms!: number;

  @Field(() => Int, { description: '99 % of the requests took at most this time.' })
  p99Ms!: number;
}

/** Times of succeeded requests. */
@ObjectType({ description: 'Times of succeeded requests; null if no request has the time.' })
export class RequestTimings {
  @Field(() => TimePercentiles, { nullable: true, description: 'From request to first content.' })
  ttft!: TimePercentiles | null;

  @Field(() => TimePercentiles, { nullable: true, description: 'From request to end.' })
  duration!: TimePercentiles | null;
}

/** Times of one bucket. */
@ObjectType({ description: 'Times of the requests of one bucket.' })
export class UsageTimingPoint {
  @Field(() => DateTime, { description: 'Start of the bucket.' })
  at!: Date;

  @Field(() => RequestTimings, { description: 'Times of the bucket.' })
  timings!: RequestTimings;
}

/** Times of one group. */
@ObjectType({ description: 'Times of the requests of one group.' })
export class UsageTimingGroup {
  @Field(() => String, { description: 'Value of the first dimension of the summary.' })
  key!: string;

  @Field(() => RequestTimings, { description: 'Times of the group.' })
  timings!: RequestTimings;
}

/** Times of a summary. */
@ObjectType({
  description:
    'Times of succeeded requests in the hours that begin in the range. New requests are included within ' +
    'minutes; in an hour with more than 100,000 requests, when it has grown by half, and when it has ended.',
})
export class UsageTimings {
  @Field(() => RequestTimings, { description: 'Times of all requests.' })
  totals!: RequestTimings;

  @Field(() => [UsageTimingPoint], { description: 'Times per bucket; empty unless a bucket is set.' })
  series!: UsageTimingPoint[];

  @Field(() => [UsageTimingGroup], {
    description: 'Times per value of the first dimension; empty without dimensions.',
  })
  groups!: UsageTimingGroup[];
}
