/** The health of models on the API. */
import 'reflect-metadata';
import { Ctx, Field, FieldResolver, Int, ObjectType, Resolver, Root } from 'type-graphql';
import type { Context } from '../context.ts';
import { HealthStatus } from '../enums.ts';
import { Decimal } from '../scalars.ts';
import { CatalogModel } from './catalog.type.ts';
import { healthOf } from './health.service.ts';
import type { ModelHealthView } from './health.service.ts';

/** How a model did in the last day. */
@ObjectType({ description: 'How a model did in the last day, for everybody who used it.' })
export class ModelHealth {
  @Field(() => HealthStatus, { description: 'In one word.' })
  status!: keyof typeof HealthStatus;

  @Field(() => Decimal, {
    nullable: true,
    description: 'Share of requests that were answered, 0 to 1; null where there were none.',
  })
  successRate24h?: string | null;

  @Field(() => Int, { nullable: true, description: 'Half of the answers were complete within this time.' })
  p50LatencyMs?: number | null;

  @Field(() => Int, { nullable: true, description: 'Nineteen of twenty answers were complete within it.' })
  p95LatencyMs?: number | null;
}

/** What the usage log says about a model. */
@Resolver(() => CatalogModel)
export class ModelHealthResolver {
  @FieldResolver(() => ModelHealth, { description: 'How it did in the last day.' })
  health(@Root() model: CatalogModel, @Ctx() context: Context): Promise<ModelHealthView> {
    return healthOf(context.em, model.name);
  }
}
