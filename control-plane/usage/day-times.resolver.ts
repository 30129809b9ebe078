/** GraphQL field with the measured times of a model by day. */
import 'reflect-metadata';
import { Ctx, Field, FieldResolver, Int, ObjectType, Resolver, Root } from 'type-graphql';
import { CatalogModel } from '../catalog/catalog.type.ts';
import type { Context } from '../graphql/context.ts';
import { DateTime } from '../graphql/scalars.ts';
import { CUSTOMERS_MIN, REQUESTS_MIN, UPTIME_DAYS } from '../status/uptime.rules.ts';
import { dayTimesOf } from './day-times.service.ts';

/** Times of a model on one day. */
@ObjectType({
  description:
    'Times of the succeeded requests of all users to a model on one day, in ms, each within 3.2 %. ' +
    `A time is null without ${REQUESTS_MIN} requests of ${CUSTOMERS_MIN} customers.`,
})
export class ModelDayTimes {
  @Field(() => DateTime, { description: 'Start of the day in UTC.' })
  day!: Date;

  @Field(() => Int, { nullable: true, description: 'Median time from request to first content.' })
  p50FirstTokenMs!: number | null;

  @Field(() => Int, { nullable: true, description: '95th percentile of that time.' })
  p95FirstTokenMs!: number | null;

  @Field(() => Int, { nullable: true, description: 'Median time from request to end.' })
  p50LatencyMs!: number | null;

  @Field(() => Int, { nullable: true, description: '95th percentile of that time.' })
  p95LatencyMs!: number | null;
}

/** Resolves the times. */
@Resolver(() => CatalogModel)
export class DayTimesResolver {
  @FieldResolver(() => [ModelDayTimes], {
    description: `Times by day in the last ${UPTIME_DAYS} days, oldest first; only days with times.`,
  })
  dailyTimes(@Root() model: CatalogModel, @Ctx() context: Context): Promise<ModelDayTimes[]> {
    return dayTimesOf(context.em, model.name);
  }
}
