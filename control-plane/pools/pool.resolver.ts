/** Pools on the API: lists, purchases, renewals and changes, for owners and administrators. */
import 'reflect-metadata';
import {
  Arg,
  Args,
  Ctx,
  FieldResolver,
  ID,
  Mutation,
  Query,
  Resolver,
  Root,
  Subscription,
} from 'type-graphql';
import { User } from '../accounts/user.type.ts';
import { AdminQuery } from '../graphql/admin-query.ts';
import { connectionFrom, positionOf } from '../graphql/connections.ts';
import type { Connection, PageRequest } from '../graphql/connections.ts';
import { cursorsOf } from '../graphql/cursors.ts';
import { actorOf, Authorized, isAdminFor, viewerOf } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome, requestError } from '../graphql/errors.ts';
import type { Event } from '../database/events.ts';
import { ApiKey } from '../keys/key.type.ts';
import type { KeyRow } from '../keys/key.entity.ts';
import { WebAddress } from '../graphql/scalars.ts';
import { UsageEntry } from '../usage/usage.types.ts';
import { walletView } from '../wallet/wallet.resolver.ts';
import { entriesOfPeriod } from './period.queries.ts';
import { changePool } from './pool.admin.ts';
import type { PoolRow } from './pool.entity.ts';
import { addressOfKey, poolsByIds } from './pool.lookups.ts';
import { countPools, findPools, poolById } from './pool.queries.ts';
import type { PoolQuery } from './pool.queries.ts';
import { updatePool } from './pool.service.ts';
import {
  AdminPoolArguments,
  AdminPoolInput,
  Pool,
  PoolConnection,
  PoolListArguments,
  PoolOrder,
  PoolPayload,
  PoolPurchaseInput,
  PoolPurchasePayload,
  PoolRenewInput,
  PoolUpdateInput,
} from './pool.type.ts';
import { purchasePool, renewPool } from './purchase.service.ts';
import type { Purchase } from './purchase.service.ts';

const CURSORS = {
  CREATED_AT: cursorsOf('pools by CREATED_AT', 'TEXT', 'TEXT'),
  NAME: cursorsOf('pools by NAME', 'TEXT', 'TEXT'),
  ENDS_AT: cursorsOf('pools by ENDS_AT', 'TIME', 'TEXT'),
};

const NOTHING_BOUGHT = { pool: null, period: null, wallet: null, ledgerEntries: null, replayed: false };

/** Queries, mutations and the subscription for owners of pools. */
@Resolver()
export class PoolResolver {
  @Authorized('USER')
  @Query(() => Pool, { nullable: true, description: 'A pool; null if it is unknown or of another user.' })
  async pool(
    @Ctx() context: Context,
    @Arg('id', () => ID, { description: 'The id of the pool.' }) id: string,
  ): Promise<Pool | null> {
    return visiblePool(context, id);
  }

  @Authorized('USER')
  @Mutation(() => PoolPurchasePayload, {
    description: 'Buys a pool as quoted: it is paid from cash, its models are frozen, and it serves at once.',
  })
  poolPurchase(
    @Ctx() context: Context,
    @Arg('input', () => PoolPurchaseInput, { description: 'The purchase.' }) input: PoolPurchaseInput,
  ): Promise<PoolPurchasePayload> {
    const buyer = { userId: viewerOf(context).id, actor: actorOf(context) };
    return outcome(NOTHING_BOUGHT, async () =>
      receiptOf(context, await purchasePool(context.em, buyer, input)),
    );
  }

  @Authorized('USER')
  @Mutation(() => PoolPurchasePayload, {
    description: 'Buys another period from the end of the pool on, also while the storefront is closed.',
  })
  poolRenew(
    @Ctx() context: Context,
    @Arg('input', () => PoolRenewInput, { description: 'The renewal.' }) input: PoolRenewInput,
  ): Promise<PoolPurchasePayload> {
    const buyer = { userId: viewerOf(context).id, actor: actorOf(context) };
    return outcome(NOTHING_BOUGHT, async () => receiptOf(context, await renewPool(context.em, buyer, input)));
  }

  @Authorized('USER')
  @Mutation(() => PoolPayload, { description: 'Renames a pool or switches its automatic renewal.' })
  poolUpdate(
    @Ctx() context: Context,
    @Arg('input', () => PoolUpdateInput, { description: 'The changes.' }) input: PoolUpdateInput,
  ): Promise<PoolPayload> {
    return outcome({ pool: null }, async () => ({
      pool: await updatePool(context.em, viewerOf(context).id, input),
    }));
  }

  @Authorized('USER')
  @Subscription(() => Pool, {
    topics: 'poolUpdated',
    topicId: ({ context }) => viewerOf(context as Context).id,
    filter: ({ payload, args }: { payload: Event; args: { id?: string | null } }) =>
      !args.id || args.id === payload.id,
    description: "The caller's pools whenever they change; with `id`, only that pool.",
  })
  async poolUpdated(
    @Root() event: Event,
    @Ctx() context: Context,
    @Arg('id', () => ID, { nullable: true, description: 'Only this pool.' }) _id: string | null,
  ): Promise<Pool> {
    const pool = await poolById(context.em, event.id);
    if (pool?.ownerId === viewerOf(context).id) return pool;
    throw requestError('FORBIDDEN', 'This pool belongs to another user. Subscribe to your own pools.');
  }
}

/** The pools of a user. */
@Resolver(() => User)
export class UserPoolsResolver {
  @FieldResolver(() => PoolConnection, { description: "The user's pools, newest first." })
  pools(
    @Root() user: User,
    @Ctx() context: Context,
    @Args(() => PoolListArguments) page: PoolListArguments,
  ): Promise<Connection<Pool>> {
    return poolPage(context, page, { ownerId: user.id, states: page.state ?? null });
  }
}

/** All pools, for administrators. */
@Resolver(() => AdminQuery)
export class AdminPoolsResolver {
  @FieldResolver(() => PoolConnection, { description: 'Pools of all users, newest first.' })
  pools(
    @Ctx() context: Context,
    @Args(() => AdminPoolArguments) page: AdminPoolArguments,
  ): Promise<Connection<Pool>> {
    const { state, search } = page;
    return poolPage(context, page, { ownerId: null, states: state ?? null, search: search ?? null });
  }

  @Authorized('ADMIN')
  @Mutation(() => PoolPayload, { description: 'Changes the cap of a pool, extends the pool, or cancels it.' })
  adminPoolUpdate(
    @Ctx() context: Context,
    @Arg('input', () => AdminPoolInput, { description: 'The change.' }) input: AdminPoolInput,
  ): Promise<PoolPayload> {
    return outcome({ pool: null }, async () => ({
      pool: await changePool(context.em, input, actorOf(context)),
    }));
  }
}

/** The pool and base address of a key. */
@Resolver(() => ApiKey)
export class KeyPoolResolver {
  @FieldResolver(() => Pool, {
    nullable: true,
    description: 'The pool of the key; null if the key works on the main domain.',
  })
  async pool(@Root() key: KeyRow, @Ctx() context: Context): Promise<Pool | null> {
    return key.poolId ? ((await context.batches.load(poolsByIds, key.poolId)) ?? null) : null;
  }

  @FieldResolver(() => WebAddress, {
    description: 'The base address at which the key works: that of its pool, or the main one.',
  })
  baseUrl(@Root() key: KeyRow, @Ctx() context: Context): Promise<string> {
    return addressOfKey(context, key);
  }
}

/** The pool that a request was made to. */
@Resolver(() => UsageEntry)
export class UsagePoolResolver {
  @FieldResolver(() => Pool, { nullable: true, description: 'The dedicated pool; null on the main domain.' })
  async pool(@Root() entry: UsageEntry, @Ctx() context: Context): Promise<Pool | null> {
    return entry.poolId ? ((await context.batches.load(poolsByIds, entry.poolId)) ?? null) : null;
  }
}

/** The pool if the caller owns it or administers pools; else null. */
export async function visiblePool(context: Context, id: string): Promise<PoolRow | null> {
  const pool = context.viewer ? await poolById(context.em, id) : null;
  if (!pool) return null;
  return pool.ownerId === context.viewer?.id || isAdminFor(context, 'ADMIN_STOREFRONT') ? pool : null;
}

async function receiptOf(
  { em }: Context,
  { pool, period, replayed }: Purchase,
): Promise<Omit<PoolPurchasePayload, 'userErrors'>> {
  const ledgerEntries = await entriesOfPeriod(em, period);
  return { pool, period, replayed, ledgerEntries, wallet: await walletView({ em }, pool.walletId) };
}

async function poolPage(
  context: Context,
  page: PageRequest & { orderBy?: PoolOrder | null },
  wanted: PoolQuery,
): Promise<Connection<Pool>> {
  const { field = 'CREATED_AT', direction = 'DESC' } = page.orderBy ?? {};
  const position = positionOf(page, CURSORS[field]);
  const rows = await findPools(context.em, wanted, { ...position, order: { field, direction } });
  return connectionFrom(rows, {
    position,
    totalCount: () => countPools(context.em, wanted),
    cursor: ({ sortValues }) => CURSORS[field].encode(sortValues),
    node: ({ pool }): Pool => pool,
  });
}
