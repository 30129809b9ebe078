/** Fields of pools and their periods that are computed when asked for. */
import 'reflect-metadata';
import { Args, Ctx, FieldResolver, Int, Resolver, Root } from 'type-graphql';
import { User } from '../accounts/user.type.ts';
import { CatalogModel } from '../catalog/catalog.type.ts';
import { PageArguments } from '../connections.ts';
import type { Connection } from '../connections.ts';
import { isAdminFor } from '../context.ts';
import type { Context } from '../context.ts';
import { modelsByIds, usersById } from '../lookups.ts';
import { listKeys } from '../keys/key.lists.ts';
import { ApiKey, ApiKeyConnection } from '../keys/key.type.ts';
import { WebAddress } from '../scalars.ts';
import type { RouteRow } from '../upstreams/upstream.entity.ts';
import { UpstreamRoute } from '../upstreams/upstream.type.ts';
import { summaryOf } from '../usage/usage.resolver.ts';
import { UsageSummary } from '../usage/usage.types.ts';
import { LedgerEntry } from '../wallet/wallet.types.ts';
import { entriesOfPeriod } from './period.queries.ts';
import { rpmNow, rpmPeak, throttledSince } from './permit.service.ts';
import type { PoolPeriodRow, PoolRow, PoolState } from './pool.entity.ts';
import { modelsOfPools, poolsFreezingModels } from './pool.lookups.ts';
import { periodsOf, poolsFreezing } from './pool.queries.ts';
import { poolAddress, stateOf } from './pool.rules.ts';
import { Pool, PoolModel, PoolPeriod, PoolStateEnum, PoolSummaryArguments } from './pool.type.ts';
import { DAY_MS } from './quote.rules.ts';
import { openRenewalQuote } from './quote.service.ts';
import { PoolQuote } from './storefront.type.ts';

/** What is not a column of the pool, or not as it stands there. */
@Resolver(() => Pool)
export class PoolFields {
  @FieldResolver(() => WebAddress, { description: 'The base address for its keys.' })
  baseUrl(@Root() pool: PoolRow, @Ctx() { settings }: Context): string {
    return poolAddress(settings.publicUrl, pool.subdomain);
  }

  @FieldResolver(() => PoolStateEnum, { description: 'Where its paid period stands.' })
  state(@Root() pool: PoolRow): PoolState {
    return stateOf(pool, new Date());
  }

  @FieldResolver(() => User, { nullable: true, description: 'Whose pool it is.' })
  async owner(@Root() pool: PoolRow, @Ctx() context: Context): Promise<User | null> {
    return (await context.batches.load(usersById, pool.ownerId)) ?? null;
  }

  @FieldResolver(() => [PoolModel], { description: 'Its frozen models, in the order they were chosen.' })
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
    description: 'The newest quote for renewing it that can still be used.',
  })
  renewalQuote(@Root() pool: PoolRow, @Ctx() context: Context): Promise<PoolQuote | null> {
    return openRenewalQuote(context.em, pool);
  }

  @FieldResolver(() => [PoolPeriod], { description: 'What was paid for it, newest first.' })
  periods(@Root() pool: PoolRow, @Ctx() context: Context): Promise<PoolPeriod[]> {
    return periodsOf(context.em, pool.id);
  }

  @FieldResolver(() => ApiKeyConnection, { description: 'Its keys, newest first.' })
  keys(
    @Root() pool: PoolRow,
    @Ctx() context: Context,
    @Args(() => PageArguments) page: PageArguments,
  ): Promise<Connection<ApiKey>> {
    return listKeys(context, { ownerId: pool.ownerId, poolId: pool.id }, page);
  }

  @FieldResolver(() => UsageSummary, { description: 'Sums over requests with its keys.' })
  usageSummary(
    @Root() pool: PoolRow,
    @Ctx() context: Context,
    @Args(() => PoolSummaryArguments) { range, bucket }: PoolSummaryArguments,
  ): Promise<UsageSummary> {
    const asked = { range, bucket: bucket ?? null, groupBy: [], filter: { poolIds: [pool.id] } };
    return summaryOf(context, asked);
  }

  @FieldResolver(() => Int, { description: 'Requests admitted in the last 60 seconds.' })
  rpmNow(@Root() pool: PoolRow, @Ctx() context: Context): Promise<number> {
    return rpmNow(context.em, pool.id);
  }

  @FieldResolver(() => Int, { description: 'The most requests admitted in any minute of the last 24 hours.' })
  rpmPeak24h(@Root() pool: PoolRow, @Ctx() context: Context): Promise<number> {
    return rpmPeak(context.em, pool.id, dayAgo());
  }

  @FieldResolver(() => Int, { description: 'Requests refused because of the cap in the last 24 hours.' })
  throttled24h(@Root() pool: PoolRow, @Ctx() context: Context): Promise<number> {
    return throttledSince(context.em, pool.id, dayAgo());
  }
}

/** What a frozen model was taken from. */
@Resolver(() => PoolModel)
export class PoolModelFields {
  @FieldResolver(() => CatalogModel, {
    nullable: true,
    description: 'The model as the catalog has it now, where it is still on offer.',
  })
  async currentModel(@Root() { modelId }: PoolModel, @Ctx() context: Context): Promise<CatalogModel | null> {
    const model = await context.batches.load(modelsByIds, modelId);
    return model && (model.state === 'PUBLISHED' || model.state === 'DEPRECATED') ? model : null;
  }
}

/** What stands in the ledger of a period. */
@Resolver(() => PoolPeriod)
export class PoolPeriodFields {
  @FieldResolver(() => [LedgerEntry], {
    nullable: true,
    description: 'What was paid, what was given, and what came back.',
  })
  ledgerEntries(@Root() period: PoolPeriodRow, @Ctx() context: Context): Promise<LedgerEntry[]> {
    return entriesOfPeriod(context.em, period);
  }
}

/** How many pools hold a model. */
@Resolver(() => CatalogModel)
export class FrozenModelResolver {
  @FieldResolver(() => Int, {
    nullable: true,
    description:
      'Running pools that froze this model: they go on offering it, whatever becomes of it, and need ' +
      'its routes. For administrators alone.',
  })
  frozenInPools(@Root() model: CatalogModel, @Ctx() context: Context): Promise<number> | null {
    return isAdminFor(context, 'ADMIN_CATALOG') ? poolsFreezing(context.em, model.id) : null;
  }
}

/** Which pools need a route. */
@Resolver(() => UpstreamRoute)
export class RoutePoolsResolver {
  @FieldResolver(() => [Pool], {
    nullable: true,
    description:
      'Running pools that froze its model, at most 100: they need it as long as they last. For ' +
      'administrators of pools alone.',
  })
  async pools(@Root() route: RouteRow, @Ctx() context: Context): Promise<PoolRow[] | null> {
    if (!isAdminFor(context, 'ADMIN_STOREFRONT')) return null;
    return (await context.batches.load(poolsFreezingModels, route.modelId)) ?? [];
  }
}

function dayAgo(): Date {
  return new Date(Date.now() - DAY_MS);
}
