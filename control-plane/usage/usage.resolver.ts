/** The usage log on the API: of one user, and of all users for administrators. */
import 'reflect-metadata';
import { Arg, Args, Ctx, FieldResolver, Query, Resolver, Root, Subscription } from 'type-graphql';
import { User } from '../accounts/user.type.ts';
import { AdminQuery } from '../graphql/admin-query.ts';
import { connectionFrom, positionOf } from '../graphql/connections.ts';
import type { Connection } from '../graphql/connections.ts';
import { cursorsOf } from '../graphql/cursors.ts';
import { Authorized, isAdminFor, viewerOf } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { requestError, UserFailure } from '../graphql/errors.ts';
import type { Event } from '../database/events.ts';
import { summarise } from './summary.service.ts';
import type { Summary, SummaryRequest } from './summary.service.ts';
import type { SummaryTimings } from './timing.service.ts';
import { UsageTimings } from './timing.types.ts';
import { usageOfRequest, usagePage } from './usage.service.ts';
import type { UsageConditions, UsageView } from './usage.service.ts';
import {
  SummaryArguments,
  UsageArguments,
  UsageEntry,
  UsageEntryConnection,
  UsageFilter,
  UsageSummary,
  UsageTotals,
} from './usage.types.ts';

const CURSORS = cursorsOf('requests by CREATED_AT', 'TIME', 'TEXT');

/** Requests of one user. */
@Resolver(() => User)
export class UserUsageResolver {
  @FieldResolver(() => UsageEntryConnection, {
    description: 'Requests of this user; newest first by default.',
  })
  usage(
    @Root() user: User,
    @Ctx() context: Context,
    @Args(() => UsageArguments) page: UsageArguments,
  ): Promise<Connection<UsageEntry>> {
    return pageOf(context, page, { ...page.filter, userId: user.id });
  }

  @FieldResolver(() => UsageSummary, { description: 'Summary of the requests of this user.' })
  usageSummary(
    @Root() user: User,
    @Ctx() context: Context,
    @Args(() => SummaryArguments) request: SummaryArguments,
  ): Promise<Summary> {
    return summaryOf(context, { ...request, filter: { ...request.filter, userId: user.id } });
  }
}

/** Requests of all users, for administrators. */
@Resolver(() => AdminQuery)
export class AdminUsageResolver {
  @FieldResolver(() => UsageEntryConnection, {
    description: 'Requests of all users; newest first by default.',
  })
  usage(
    @Ctx() context: Context,
    @Args(() => UsageArguments) page: UsageArguments,
  ): Promise<Connection<UsageEntry>> {
    return pageOf(context, page, { ...page.filter });
  }

  @FieldResolver(() => UsageSummary, { description: 'Summary of the requests of all users.' })
  usageSummary(
    @Ctx() context: Context,
    @Args(() => SummaryArguments) request: SummaryArguments,
  ): Promise<Summary> {
    return summaryOf(context, request);
  }
}

/** Fields of a summary that are computed only if a query selects them. */
@Resolver(() => UsageSummary)
export class SummaryFields {
  @FieldResolver(() => UsageTotals, {
    nullable: true,
    description: 'Totals of the preceding range of the same length.',
  })
  previousTotals(@Root() summary: Summary): Promise<UsageTotals | undefined> {
    return summary.before();
  }

  @FieldResolver(() => UsageTimings, { description: 'Times of the succeeded requests.' })
  timings(@Root() summary: Summary): Promise<SummaryTimings> {
    return summary.timings();
  }
}

/** The query and the subscription for single requests. */
@Resolver(() => UsageEntry)
export class UsageResolver {
  @Authorized('USER')
  @Query(() => UsageEntry, {
    nullable: true,
    description: 'The entry of a request; null if it is unknown or of another user.',
  })
  async usageEntry(
    @Ctx() context: Context,
    @Arg('requestId', () => String, { description: 'The x-request-id of the answer.' }) requestId: string,
  ): Promise<UsageEntry | null> {
    const viewer = viewerOf(context);
    return (
      (await usageOfRequest(context.em, requestId, isAdminFor(context, 'ADMIN_USERS') ? null : viewer.id)) ??
      null
    );
  }

  @Authorized('USER')
  @Subscription(() => UsageEntry, {
    topics: 'usageAdded',
    topicId: ({ context, args }: AddedRequest) => ownerOf(context, args.filter),
    filter: ({ payload, context, args }: AddedRequest & { payload: Event }) =>
      matches(context, payload, args),
    nullable: true,
    description: "The caller's requests as they finish, or those of the user that an administrator selects.",
  })
  async usageAdded(
    @Root() event: Event,
    @Ctx() context: Context,
    @Arg('filter', () => UsageFilter, { nullable: true, description: 'Which requests.' })
    filter: UsageFilter | null,
  ): Promise<UsageEntry | null> {
    return (await usageOfRequest(context.em, event.id, ownerOf(context, filter))) ?? null;
  }
}

/** Context and arguments of a subscription to new requests. */
interface AddedRequest {
  context: Context;
  args: { filter?: UsageFilter | null };
}

/** The user whose requests the subscription gets: the caller, or the user that an administrator selects. */
function ownerOf(context: Context, filter: UsageFilter | null | undefined): string {
  const viewer = viewerOf(context);
  return filter?.userId && isAdminFor(context, 'ADMIN_USERS') ? filter.userId : viewer.id;
}

/** Whether a new request matches the filter, by the same query as lists. */
async function matches(context: Context, event: Event, { filter }: AddedRequest['args']): Promise<boolean> {
  if (!filter) return true;
  if (filter.requestId && filter.requestId !== event.id) return false;
  const conditions = { ...filter, requestId: event.id, userId: ownerOf(context, filter) };
  return (await usagePage(context.em, conditions, { limit: 1 })).length > 0;
}

async function pageOf(
  context: Context,
  page: UsageArguments,
  conditions: UsageConditions,
): Promise<Connection<UsageView>> {
  const { direction = 'DESC' } = page.orderBy ?? {};
  const position = positionOf(page, CURSORS);
  const rows = await context.usage.page(context.em, conditions, { ...position, direction });
  return connectionFrom(rows, {
    position,
    totalCount: () => context.usage.count(context.em, conditions),
    cursor: (row) => CURSORS.encode(row.sortValues),
    node: (row) => row.entry,
  });
}

/**
 * Summary of the requests that match. Throws BAD_USER_INPUT for a range, bucket or dimensions beyond the
 * limits.
 */
export async function summaryOf(
  context: Context,
  { range, groupBy, bucket, filter }: SummaryArguments,
): Promise<Summary> {
  const request: SummaryRequest = { range, groupBy, bucket: bucket ?? null, conditions: { ...filter } };
  try {
    return await summarise(context.em, request, context.usage);
  } catch (error) {
    if (error instanceof UserFailure) throw requestError('BAD_USER_INPUT', error.message);
    throw error;
  }
}
