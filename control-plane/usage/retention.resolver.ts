/** How long the usage log is kept, as this gateway is set up: for everybody of whom something is kept. */
import 'reflect-metadata';
import { Ctx, Int, Query, Resolver } from 'type-graphql';
import { Public } from '../context.ts';
import type { Context } from '../context.ts';

/** The setting, public. */
@Resolver()
export class RetentionResolver {
  @Public()
  @Query(() => Int, {
    nullable: true,
    description:
      'Months of the usage log that ended more than so many days ago are dropped whole; null keeps all. ' +
      'Sums and charges stay.',
  })
  usageRetentionDays(@Ctx() context: Context): number | null {
    return context.settings.usageRetentionDays;
  }
}
