/** The attempts of a request on the API; routes and statuses of upstreams only for administrators. */
import 'reflect-metadata';
import { Ctx, Field, FieldResolver, ID, Int, ObjectType, Resolver, Root } from 'type-graphql';
import type { AttemptOutcome, AttemptRecord } from '@gateway/shared/records';
import { isAdminFor } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { describeEnum } from '../graphql/enums.ts';
import { routesById } from '../lookups.ts';
import { Money } from '../graphql/scalars.ts';
import { UpstreamRoute } from '../upstreams/upstream.type.ts';

export const AttemptOutcomeEnum = describeEnum<AttemptOutcome>('AttemptOutcome', 'How an attempt ended.', {
  ANSWERED: 'The upstream answered.',
  BROKE_OFF: 'The answer broke off while it was relayed.',
  FAILED: 'The upstream refused or gave no usable answer; the next upstream was tried, if there was one.',
  CUT:
    'The request was cut meanwhile: by the client, because its key was stopped, because another upstream ' +
    'answered first (lost_race), or because another upstream refused the request.',
  SKIPPED: 'The upstream was skipped without being asked; errorCode says why.',
});

/** One try of one upstream for a request. */
@ObjectType({ description: 'One try of one upstream for a request. Metadata only, no text of the upstream.' })
export class UpstreamAttempt {
  @Field(() => AttemptOutcomeEnum, { description: 'How the attempt ended.' })
  outcome!: AttemptOutcome;

  @Field(() => String, {
    nullable: true,
    description:
      'Code of the failure. For a skipped upstream: unavailable, it failed too often recently; ' +
      'upstream_busy, its credentials are cooling down; too_many_concurrent, it has reached its limit of ' +
      'concurrent requests; upstream_failed, no credential is bound to its address. For a cut request: ' +
      'lost_race, another upstream answered first.',
  })
  errorCode!: string | null;

  @Field(() => Int, {
    description:
      'Duration in milliseconds; measured from the arrival of the request if this is the only attempt.',
  })
  ms!: number;
}

/** Fields of an attempt that only administrators see. */
@Resolver(() => UpstreamAttempt)
export class AttemptFields {
  @FieldResolver(() => Int, {
    nullable: true,
    description:
      'HTTP status of an answer that could not be relayed; null if there was none, and for callers who are ' +
      'no administrators.',
  })
  httpStatus(@Root() attempt: AttemptRecord, @Ctx() context: Context): number | null {
    return isAdminFor(context, 'ADMIN_UPSTREAMS') ? attempt.httpStatus : null;
  }

  @FieldResolver(() => Money, {
    nullable: true,
    description:
      'With lost_race, what the operator paid for the attempt, by the cost of the route at that time; null ' +
      'if it is unknown, and for callers who are not administrators. The customer pays nothing for it.',
  })
  extraCost(@Root() { cost }: AttemptRecord, @Ctx() context: Context): bigint | null {
    return cost !== undefined && isAdminFor(context, 'ADMIN_UPSTREAMS') ? BigInt(cost) : null;
  }

  @FieldResolver(() => ID, {
    nullable: true,
    description: 'The route; null for callers who are not administrators.',
  })
  routeId(@Root() attempt: AttemptRecord, @Ctx() context: Context): string | null {
    return isAdminFor(context, 'ADMIN_UPSTREAMS') ? attempt.routeId : null;
  }

  @FieldResolver(() => UpstreamRoute, {
    nullable: true,
    description: 'The route; null if it was removed, and for callers who are not administrators.',
  })
  async route(@Root() attempt: AttemptRecord, @Ctx() context: Context): Promise<UpstreamRoute | null> {
    if (!isAdminFor(context, 'ADMIN_UPSTREAMS')) return null;
    return (await context.batches.load(routesById, attempt.routeId)) ?? null;
  }
}
