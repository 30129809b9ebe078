/** What the caller may still ask, on the API. */
import 'reflect-metadata';
import { Ctx, Field, Int, ObjectType, Query, Resolver } from 'type-graphql';
import { Public } from '../context.ts';
import type { Context } from '../context.ts';
import { COST_MAX, DEPTH_MAX } from '../graphql-limits.ts';
import { DateTime } from '../scalars.ts';

/** What an operation costs and what is left. */
@ObjectType({
  description:
    "Cost of this operation and what is left of the caller's budget, also in `extensions.cost` of each " +
    'answer and in RateLimit headers.',
})
export class RateLimit {
  @Field(() => Int, { description: 'What this operation costs: objects that it can make us read.' })
  cost!: number;

  @Field(() => Int, { description: 'The whole budget. It fills evenly, in an hour from nothing.' })
  limit!: number;

  @Field(() => Int, { description: 'What is left after this operation.' })
  remaining!: number;

  @Field(() => DateTime, { description: 'When the whole budget is there again, if nothing more is asked.' })
  resetAt!: Date;

  @Field(() => Int, { description: 'How deep an operation may be nested.' })
  maxDepth!: number;

  @Field(() => Int, { description: 'What one operation may cost at most.' })
  maxCost!: number;
}

/** The budget of the caller. */
@Resolver()
export class RateLimitResolver {
  @Public()
  @Query(() => RateLimit, {
    nullable: true,
    description: 'What the caller may still ask; null for nodes, which have no budget to keep.',
  })
  rateLimit(@Ctx() { budget }: Context): RateLimit | null {
    return budget && { ...budget, maxDepth: DEPTH_MAX, maxCost: COST_MAX };
  }
}
