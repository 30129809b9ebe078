/** The retention of the usage log on the API; public, because the log is about every user. */
import 'reflect-metadata';
import { Ctx, Int, Query, Resolver } from 'type-graphql';
import { Public } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';

/** The query for the retention setting. */
@Resolver()
export class RetentionResolver {
  @Public()
  @Query(() => Int, {
    nullable: true,
    description:
      'A month of the usage log is dropped as a whole when it ended more than this many days ago; null if ' +
      'all months are kept. Sums and charges are always kept.',
  })
  usageRetentionDays(@Ctx() context: Context): number | null {
    return context.settings.usageRetentionDays;
  }
}
