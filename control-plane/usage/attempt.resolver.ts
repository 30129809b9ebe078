/** The upstreams that a request tried, on the API: which they were is for administrators alone. */
import 'reflect-metadata';
import { Ctx, Field, FieldResolver, ID, Int, ObjectType, Resolver, Root } from 'type-graphql';
import type { AttemptOutcome, AttemptRecord } from '@gateway/shared/records';
import { isAdminFor } from '../context.ts';
import type { Context } from '../context.ts';
import { describeEnum } from '../enums.ts';
import { routesById } from '../lookups.ts';
import { UpstreamRoute } from '../upstreams/upstream.type.ts';

export const AttemptOutcomeEnum = describeEnum<AttemptOutcome>(
  'AttemptOutcome',
  "What became of an upstream's turn in a request.",
  {
    ANSWERED: 'It answered.',
    BROKE_OFF: 'Its answer broke off while it was relayed.',
    FAILED: 'It refused, or gave no usable answer: the next one was asked where there was one.',
    CUT: 'The request was cut meanwhile, by its client or with its key.',
    SKIPPED: 'It was passed over without being asked; errorCode says why.',
  },
);

/** One upstream's turn in a request. */
@ObjectType({ description: "One upstream's turn in a request: metadata only, never a word of the upstream." })
export class UpstreamAttempt {
  @Field(() => AttemptOutcomeEnum, { description: 'What became of it.' })
  outcome!: AttemptOutcome;

  @Field(() => String, {
    nullable: true,
    description:
      'Code of the failure. Of one that was passed over: unavailable, it failed too often just then; ' +
      'upstream_busy, its credentials rest; too_many_concurrent, it has as many requests as it may; ' +
      'upstream_failed, none of its credentials is for its address.',
  })
  errorCode!: string | null;

  @Field(() => Int, {
    description:
      'How long the turn took, in milliseconds; from the arrival of the request on where it is the only one.',
  })
  ms!: number;
}

/** What administrators see besides. */
@Resolver(() => UpstreamAttempt)
export class AttemptFields {
  @FieldResolver(() => Int, {
    nullable: true,
    description:
      'HTTP status of an answer that could not be relayed, null where there was none; for administrators, ' +
      'else null.',
  })
  httpStatus(@Root() attempt: AttemptRecord, @Ctx() context: Context): number | null {
    return isAdminFor(context, 'ADMIN_UPSTREAMS') ? attempt.httpStatus : null;
  }

  @FieldResolver(() => ID, { nullable: true, description: 'The way there; for administrators, else null.' })
  routeId(@Root() attempt: AttemptRecord, @Ctx() context: Context): string | null {
    return isAdminFor(context, 'ADMIN_UPSTREAMS') ? attempt.routeId : null;
  }

  @FieldResolver(() => UpstreamRoute, {
    nullable: true,
    description: 'The way there, null where it was removed; for administrators, else null.',
  })
  async route(@Root() attempt: AttemptRecord, @Ctx() context: Context): Promise<UpstreamRoute | null> {
    if (!isAdminFor(context, 'ADMIN_UPSTREAMS')) return null;
    return (await context.batches.load(routesById, attempt.routeId)) ?? null;
  }
}
