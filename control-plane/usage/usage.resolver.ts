/** The usage log on the API: of the signed-in user, and of everybody for administrators. */
import 'reflect-metadata';
import { Arg, Args, Ctx, FieldResolver, Query, Resolver, Root, Subscription } from 'type-graphql';
import { User } from '../accounts/user.type.ts';
import { AdminQuery } from '../admin-query.ts';
import { connectionFrom, decodeCursor, encodeCursor, pageSize } from '../connections.ts';
import type { Connection } from '../connections.ts';
import { Authorized, isAdminFor, viewerOf } from '../context.ts';
import type { Context } from '../context.ts';
import { requestError, UserFailure } from '../errors.ts';
import type { Event } from '../events.ts';
import { summarise } from './summary.service.ts';
import type { Summary, SummaryRequest } from './summary.service.ts';
import { countUsage } from './count.service.ts';
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

/** Requests of one user. */
@Resolver(() => User)
export class UserUsageResolver {
  @FieldResolver(() => UsageEntryConnection, { description: 'Requests of this user, newest first.' })
  usage(
    @Root() user: User,
    @Ctx() context: Context,
    @Args(() => UsageArguments) asked: UsageArguments,
  ): Promise<Connection<UsageEntry>> {
    return pageOf(context, asked, { ...asked.filter, userId: user.id });
  }

  @FieldResolver(() => UsageSummary, { description: 'Sums over requests of this user.' })
  usageSummary(
    @Root() user: User,
    @Ctx() context: Context,
    @Args(() => SummaryArguments) asked: SummaryArguments,
  ): Promise<Summary> {
    return summaryOf(context, { ...asked, filter: { ...asked.filter, userId: user.id } });
  }
}

/** Requests of everybody. */
@Resolver(() => AdminQuery)
export class AdminUsageResolver {
  @FieldResolver(() => UsageEntryConnection, { description: 'Requests of everybody, newest first.' })
  usage(
    @Ctx() context: Context,
    @Args(() => UsageArguments) asked: UsageArguments,
  ): Promise<Connection<UsageEntry>> {
    return pageOf(context, asked, { ...asked.filter });
  }

  @FieldResolver(() => UsageSummary, { description: 'Sums over requests of everybody.' })
  usageSummary(
    @Ctx() context: Context,
    @Args(() => SummaryArguments) asked: SummaryArguments,
  ): Promise<Summary> {
    return summaryOf(context, asked);
  }
}

/** What of a summary is added up where somebody asks for it. */
@Resolver(() => UsageSummary)
export class SummaryFields {
  @FieldResolver(() => UsageTotals, {
    nullable: true,
    description: 'Sums of the span of the same length before it.',
  })
  previousTotals(@Root() summary: Summary): Promise<UsageTotals | undefined> {
    return summary.before();
  }
}

/** Single requests, looked up and live. */
@Resolver(() => UsageEntry)
export class UsageResolver {
  @Authorized('USER')
  @Query(() => UsageEntry, {
    nullable: true,
    description: 'The entry of a request, for its owner and administrators; else null.',
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
    topicId: ({ context, args }: AddedAsked) => ownerOf(context, args.filter),
    filter: ({ payload, context, args }: AddedAsked & { payload: Event }) => isMeant(context, payload, args),
    nullable: true,
    description: "The caller's requests as they finish, or those of the user whom an administrator names.",
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

/** What a subscription to new requests asks for. */
interface AddedAsked {
  context: Context;
  args: { filter?: UsageFilter | null };
}

/** Whose requests are meant: everybody's own, and those of others for administrators who name them. */
function ownerOf(context: Context, filter: UsageFilter | null | undefined): string {
  const viewer = viewerOf(context);
  return filter?.userId && isAdminFor(context, 'ADMIN_USERS') ? filter.userId : viewer.id;
}

/** Whether a new request meets the filter, as the list decides it. */
async function isMeant(context: Context, event: Event, { filter }: AddedAsked['args']): Promise<boolean> {
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
  const first = pageSize(page.first);
  const [at, id] = decodeCursor(page.after, 2) ?? [];
  const after = typeof at === 'string' && typeof id === 'string' ? { at, id } : undefined;
  const rows = await usagePage(context.em, conditions, { after, limit: first + 1 });
  return connectionFrom(rows, {
    first,
    after: page.after,
    totalCount: () => countUsage(context.em, conditions),
    cursor: (row) => encodeCursor([row.place.at, row.place.id]),
    node: (row) => row.entry,
  });
}

/** Sums over requests that meet the conditions. Throws BAD_USER_INPUT for a span that cannot be summed up. */
export async function summaryOf(
  context: Context,
  { range, groupBy, bucket, filter }: SummaryArguments,
): Promise<Summary> {
  const request: SummaryRequest = { range, groupBy, bucket: bucket ?? null, conditions: { ...filter } };
  try {
    return await summarise(context.em, request);
  } catch (error) {
    if (error instanceof UserFailure) throw requestError('BAD_USER_INPUT', error.message);
    throw error;
  }
}
