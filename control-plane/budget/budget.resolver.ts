/** The caller's API budget, in the API. */
import 'reflect-metadata';
import { Ctx, Field, Int, ObjectType, Query, Resolver } from 'type-graphql';
import { Public } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { COST_MAX, DEPTH_MAX } from '../limits.ts';
import { DateTime } from '../graphql/scalars.ts';

/** Cost of an operation and the budget left. */
@ObjectType({
  description:
    "Cost of this operation and the rest of the caller's budget; also in `extensions.cost` of each " +
    'answer and in RateLimit headers.',
})
export class RateLimit {
  @Field(() => Int, { description: 'Cost of this operation: the number of objects that it can read.' })
  cost!: number;

  @Field(() => Int, { description: 'The whole budget. An empty budget refills evenly within one hour.' })
  limit!: number;

  @Field(() => Int, { description: 'Budget left after this operation.' })
  remaining!: number;

  @Field(() => DateTime, { description: 'When the budget is full again, without further operations.' })
  resetAt!: Date;

  @Field(() => Int, { description: 'Maximum depth of an operation.' })
  maxDepth!: number;

  @Field(() => Int, { description: 'Maximum cost of one operation.' })
  maxCost!: number;
}

/** Resolves the budget of the caller. */
@Resolver()
export class RateLimitResolver {
  @Public()
  @Query(() => RateLimit, {
    nullable: true,
    description: 'Budget of the caller; null for nodes, which have none.',
  })
  rateLimit(@Ctx() { budget }: Context): RateLimit | null {
    return budget && { ...budget, maxDepth: DEPTH_MAX, maxCost: COST_MAX };
  }
}
