/** GraphQL fields with the health and the uptime of a model. */
import 'reflect-metadata';
import { Ctx, Field, FieldResolver, Int, ObjectType, Resolver, Root } from 'type-graphql';
import type { Context } from '../graphql/context.ts';
import { HealthStatus } from '../graphql/enums.ts';
import { Decimal } from '../graphql/scalars.ts';
import { statusOf } from '../status/status.service.ts';
import { ModelUptime } from '../status/status.type.ts';
import { CUSTOMERS_MIN, REQUESTS_MIN } from '../status/uptime.rules.ts';
import { CatalogModel } from './catalog.type.ts';
import { healthOf } from './health.service.ts';
import type { ModelHealthView } from './health.service.ts';

/** Health of a model in the last 24 hours. */
@ObjectType({
  description:
    'Health of a model in the last 24 hours, over the requests of all users. Without ' +
    `${REQUESTS_MIN} requests of ${CUSTOMERS_MIN} customers it is UNKNOWN and has no figures.`,
})
export class ModelHealth {
  @Field(() => HealthStatus, { description: 'Summary.' })
  status!: keyof typeof HealthStatus;

  @Field(() => Decimal, {
    nullable: true,
    description: 'Share of successful requests, 0 to 1; null if there were none.',
  })
  successRate24h?: string | null;

  @Field(() => Int, { nullable: true, description: 'Median time to the complete answer.' })
  p50LatencyMs?: number | null;

  @Field(() => Int, { nullable: true, description: '95th percentile of that time.' })
  p95LatencyMs?: number | null;

  @Field(() => Int, { nullable: true, description: 'Median time to the first content of streamed answers.' })
  p50FirstTokenMs?: number | null;

  @Field(() => Int, { nullable: true, description: '95th percentile of that time.' })
  p95FirstTokenMs?: number | null;
}

/** The health and the uptime of a model. */
@Resolver(() => CatalogModel)
export class ModelHealthResolver {
  @FieldResolver(() => ModelHealth, { description: 'Health in the last 24 hours.' })
  health(@Root() model: CatalogModel, @Ctx() context: Context): Promise<ModelHealthView> {
    return healthOf(context.em, model.name);
  }

  @FieldResolver(() => ModelUptime, {
    nullable: true,
    description: 'Uptime in the last 90 days, as on the status page; null for models that are not offered.',
  })
  async uptime(@Root() model: CatalogModel, @Ctx() context: Context): Promise<ModelUptime | null> {
    const { models } = await statusOf(context.em);
    return models.find(({ name }) => name === model.name) ?? null;
  }
}
