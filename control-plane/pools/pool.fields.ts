/**
 * Resolvers of fields that are computed only if a query selects them: of pools, pool models, periods, catalog
 * models and routes.
 */
import 'reflect-metadata';
import { Args, Ctx, FieldResolver, Int, Resolver, Root } from 'type-graphql';
import { User } from '../accounts/user.type.ts';
import { CatalogModel } from '../catalog/catalog.type.ts';
import { PageArguments } from '../graphql/connections.ts';
import type { Connection } from '../graphql/connections.ts';
import { isAdminFor } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { modelsByIds, usersById } from '../lookups.ts';
import { listKeys } from '../keys/key.lists.ts';
import { ApiKey, ApiKeyConnection } from '../keys/key.type.ts';
import { WebAddress } from '../graphql/scalars.ts';
import type { RouteRow } from '../upstreams/upstream.entity.ts';
import { UpstreamRoute } from '../upstreams/upstream.type.ts';
import { summaryOf } from '../usage/usage.resolver.ts';
import { UsageSummary } from '../usage/usage.types.ts';
import { LedgerEntry } from '../wallet/wallet.types.ts';
import { entriesOfPeriod } from './period.queries.ts';
import { rpmNow as countRpmNow, rpmPeak, throttledSince } from './permit.service.ts';
import type { PoolPeriodRow, PoolRow, PoolState } from './pool.entity.ts';
import { modelsOfPools, poolsWithModels } from './pool.lookups.ts';
import { periodsOf, countPoolsWithModel } from './pool.queries.ts';
import { poolAddress, stateOf } from './pool.rules.ts';
import { Pool, PoolModel, PoolPeriod, PoolStateEnum, PoolSummaryArguments } from './pool.type.ts';
import { DAY_MS } from './quote.rules.ts';
import { newestRenewalQuote } from './quote.service.ts';
import { PoolQuote } from './storefront.type.ts';

/** Fields of a pool that are not columns, or whose value differs from the column. */
@Resolver(() => Pool)
export class PoolFields {
  @FieldResolver(() => WebAddress, { description: 'Base address at which clients use the keys of the pool.' })
  baseUrl(@Root() pool: PoolRow, @Ctx() { settings }: Context): string {
    return poolAddress(settings.publicUrl, pool.subdomain);
  }

  @FieldResolver(() => PoolStateEnum, { description: 'State of the pool.' })
  state(@Root() pool: PoolRow): PoolState {
    return stateOf(pool, new Date());
  }

  @FieldResolver(() => User, { nullable: true, description: 'Owner of the pool.' })
  async owner(@Root() pool: PoolRow, @Ctx() context: Context): Promise<User | null> {
    return (await context.batches.load(usersById, pool.ownerId)) ?? null;
  }

  @FieldResolver(() => [PoolModel], {
    description: 'Frozen models, in the order in which the buyer listed them.',
  })
  async models(@Root() pool: PoolRow, @Ctx() context: Context): Promise<PoolModel[]> {
    const models = (await context.batches.load(modelsOfPools, pool.id)) ?? [];
    return models.map(({ modelId, record, frozenAt }) => ({
      modelId,
      frozenAt,
      modelName: record.name,
      displayName: record.displayName,
    }));
  }

  @FieldResolver(() => PoolQuote, {
    nullable: true,
    description: 'Newest valid quote for a renewal; null if there is none.',
  })
  renewalQuote(@Root() pool: PoolRow, @Ctx() context: Context): Promise<PoolQuote | null> {
    return newestRenewalQuote(context.em, pool);
  }

  @FieldResolver(() => [PoolPeriod], { description: 'Paid periods, newest first.' })
  periods(@Root() pool: PoolRow, @Ctx() context: Context): Promise<PoolPeriod[]> {
    return periodsOf(context.em, pool.id);
  }

  @FieldResolver(() => ApiKeyConnection, { description: 'Keys of the pool, newest first.' })
  keys(
    @Root() pool: PoolRow,
    @Ctx() context: Context,
    @Args(() => PageArguments) page: PageArguments,
  ): Promise<Connection<ApiKey>> {
    return listKeys(context, { ownerId: pool.ownerId, poolId: pool.id }, page);
  }

  @FieldResolver(() => UsageSummary, { description: 'Summary of the requests with keys of the pool.' })
  usageSummary(
    @Root() pool: PoolRow,
    @Ctx() context: Context,
    @Args(() => PoolSummaryArguments) { range, bucket }: PoolSummaryArguments,
  ): Promise<UsageSummary> {
    const request = { range, bucket: bucket ?? null, groupBy: [], filter: { poolIds: [pool.id] } };
    return summaryOf(context, request);
  }

  @FieldResolver(() => Int, { description: 'Requests admitted in the last 60 seconds.' })
  rpmNow(@Root() pool: PoolRow, @Ctx() context: Context): Promise<number> {
    return countRpmNow(context.em, pool.id);
  }

  @FieldResolver(() => Int, {
    description: 'Largest number of requests admitted in any minute of the last 24 hours.',
  })
  rpmPeak24h(@Root() pool: PoolRow, @Ctx() context: Context): Promise<number> {
    return rpmPeak(context.em, pool.id, dayAgo());
  }

  @FieldResolver(() => Int, { description: 'Requests refused because of the RPM cap in the last 24 hours.' })
  throttled24h(@Root() pool: PoolRow, @Ctx() context: Context): Promise<number> {
    return throttledSince(context.em, pool.id, dayAgo());
  }
}

/** The present catalog entry of a frozen model. */
@Resolver(() => PoolModel)
export class PoolModelFields {
  @FieldResolver(() => CatalogModel, {
    nullable: true,
    description: 'The present entry of the model in the catalog; null if the model is no longer offered.',
  })
  async currentModel(@Root() { modelId }: PoolModel, @Ctx() context: Context): Promise<CatalogModel | null> {
    const model = await context.batches.load(modelsByIds, modelId);
    return model && (model.state === 'PUBLISHED' || model.state === 'DEPRECATED') ? model : null;
  }
}

/** The ledger entries of a period. */
@Resolver(() => PoolPeriod)
export class PoolPeriodFields {
  @FieldResolver(() => [LedgerEntry], {
    nullable: true,
    description:
      'Payment, gift credit and refund of the period; null for callers who must not read the wallet.',
  })
  ledgerEntries(@Root() period: PoolPeriodRow, @Ctx() context: Context): Promise<LedgerEntry[]> {
    return entriesOfPeriod(context.em, period);
  }
}

/** Number of pools that have a frozen copy of a model. */
@Resolver(() => CatalogModel)
export class CatalogModelPoolFields {
  @FieldResolver(() => Int, {
    nullable: true,
    description:
      'Number of running pools with a frozen copy of this model. These pools offer the model even ' +
      'after it was retired, and need its routes. Null for callers who are not administrators.',
  })
  frozenInPools(@Root() model: CatalogModel, @Ctx() context: Context): Promise<number> | null {
    return isAdminFor(context, 'ADMIN_CATALOG') ? countPoolsWithModel(context.em, model.id) : null;
  }
}

/** The pools that need a route. */
@Resolver(() => UpstreamRoute)
export class RoutePoolFields {
  @FieldResolver(() => [Pool], {
    nullable: true,
    description:
      'Running pools with a frozen copy of the model of the route, at most 100. ' +
      'They need the route until they end. Null for callers who do not administer pools.',
  })
  async pools(@Root() route: RouteRow, @Ctx() context: Context): Promise<PoolRow[] | null> {
    if (!isAdminFor(context, 'ADMIN_STOREFRONT')) return null;
    return (await context.batches.load(poolsWithModels, route.modelId)) ?? [];
  }
}

function dayAgo(): Date {
  return new Date(Date.now() - DAY_MS);
}
