/** GraphQL types of the traffic of upstreams and nodes. */
import 'reflect-metadata';
import { ArgsType, Field, ID, Int, ObjectType } from 'type-graphql';
import { describeEnum } from '../graphql/enums.ts';
import { DateRange } from '../graphql/inputs.ts';
import { DateTime, Money } from '../graphql/scalars.ts';
import { RequestTimings } from './timing.types.ts';
import { UsageBucket } from './usage.types.ts';

export const TrafficSubject = describeEnum('TrafficSubject', 'Whose traffic is counted.', {
  UPSTREAM: 'Upstreams: their attempts, without skipped ones. Attempts over deleted routes are not counted.',
  NODE: 'Nodes: the requests in the usage log.',
});
export type TrafficSubject = keyof typeof TrafficSubject;

/** Subjects and range of traffic. */
@ArgsType()
export class TrafficArguments {
  @Field(() => TrafficSubject, { description: 'Whose traffic.' })
  subject!: TrafficSubject;

  @Field(() => [ID], { nullable: true, description: 'Only of these upstreams or nodes.' })
  ids?: string[] | null;

  @Field(() => DateRange, { description: 'The range, at most 400 days.' })
  range!: DateRange;

  @Field(() => UsageBucket, { description: 'Width of the points of `series`.' })
  bucket!: UsageBucket;
}

/** Requests that the operator pays for and the customer does not. */
@ObjectType({
  description:
    'Requests that were cut because a second upstream was asked and another one answered first. The ' +
    'customer pays nothing for them.',
})
export class ExtraRequests {
  @Field(() => Int, { description: 'Their number.' })
  requests!: number;

  @Field(() => Int, { description: 'Those over routes whose cost was unknown then. `cost` is without them.' })
  withoutCost!: number;

  @Field(() => Money, {
    description: 'Their cost for the operator, by the cost of their routes when they were cut.',
  })
  cost!: bigint;
}

/** Extra requests of one model. */
@ObjectType({ description: 'Extra requests of one model.' })
export class ExtraRequestsOfModel {
  @Field(() => String, { description: 'Name of the model.' })
  modelName!: string;

  @Field(() => ExtraRequests, { description: 'Extra requests of the range.' })
  extra!: ExtraRequests;
}

/** Counts and times of traffic. */
@ObjectType({ description: 'Counts and times of traffic.' })
export class TrafficFigures {
  @Field(() => Int, { description: 'Requests of a node, or attempts of an upstream.' })
  requests!: number;

  @Field(() => Int, {
    description: 'Those that failed because of the upstream or the gateway. Refusals are not failures.',
  })
  failed!: number;

  @Field(() => RequestTimings, {
    description: 'Times of the successful ones. Only first attempts have a time to the first content.',
  })
  timings!: RequestTimings;

  @Field(() => ExtraRequests, { description: 'Extra requests among those of an upstream; none for nodes.' })
  extra!: ExtraRequests;
}

/** Traffic of one bucket. */
@ObjectType({ description: 'Traffic of one bucket.' })
export class TrafficPoint {
  @Field(() => DateTime, { description: 'Start of the bucket.' })
  at!: Date;

  @Field(() => ID, { nullable: true, description: 'The upstream or node; null for all together.' })
  subjectId!: string | null;

  @Field(() => TrafficFigures, { description: 'Counts and times of the bucket.' })
  figures!: TrafficFigures;
}

/** Traffic of one upstream or node. */
@ObjectType({ description: 'Traffic of one upstream or node.' })
export class TrafficRow {
  @Field(() => ID, { description: 'The upstream or node.' })
  subjectId!: string;

  @Field(() => String, { description: 'Its name; its id if it was deleted.' })
  name!: string;

  @Field(() => TrafficFigures, { description: 'Counts and times of the range.' })
  figures!: TrafficFigures;
}

/** Traffic of upstreams or nodes in a range of time. */
@ObjectType({
  description:
    'Traffic of upstreams or nodes in the hours that begin in the range. New requests are included within ' +
    'minutes; in an hour with more than 100,000 requests, when it has grown by half, and when it has ended.',
})
export class Traffic {
  @Field(() => TrafficFigures, { description: 'All together.' })
  totals!: TrafficFigures;

  @Field(() => [TrafficPoint], {
    description: 'Traffic per bucket, of all together and of each one, by ascending time.',
  })
  series!: TrafficPoint[];

  @Field(() => [TrafficRow], { description: 'Traffic of each one, by descending number of requests.' })
  rows!: TrafficRow[];

  @Field(() => [ExtraRequestsOfModel], {
    description: 'Extra requests of the upstreams by model, by descending cost, at most 100; none for nodes.',
  })
  extraByModel!: ExtraRequestsOfModel[];
}
