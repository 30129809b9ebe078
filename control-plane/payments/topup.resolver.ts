/**
 * Top-ups on the API: what customers are offered, begin, follow and cancel; lists and refunds for
 * administrators.
 */
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
import { connectionFrom, PageArguments, positionOf } from '../graphql/connections.ts';
import type { Connection } from '../graphql/connections.ts';
import { cursorsOf } from '../graphql/cursors.ts';
import { actorOf, Authorized, isAdminFor, viewerOf } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome } from '../graphql/errors.ts';
import type { Event } from '../database/events.ts';
import { IdInput } from '../graphql/inputs.ts';
import { usersById } from '../lookups.ts';
import { Wallet } from '../wallet/wallet.types.ts';
import { beginCardTopUp, cancelTopUp } from './card/checkout.service.ts';
import { refundTopUp } from './refund.service.ts';
import { failureOf, TopUpFailure } from './topup.failure.ts';
import type { TopUpIssue, TopUpRow } from './topup.entity.ts';
import { countTopUps, disputesOfTopUps, refundsOfTopUps, topUpById, topUpsPage } from './topup.queries.ts';
import type { TopUpFilter } from './topup.queries.ts';
import {
  AdminTopUpArguments,
  AdminTopUpRefundInput,
  TopUp,
  TopUpCardInput,
  TopUpConnection,
  TopUpDispute,
  TopUpIssueEnum,
  TopUpOrder,
  TopUpPayload,
  TopUpRefund,
} from './topup.type.ts';

const CURSORS = {
  CREATED_AT: cursorsOf('top-ups by CREATED_AT', 'TEXT', 'TEXT'),
  AMOUNT: cursorsOf('top-ups by AMOUNT', 'BIGINT', 'TEXT'),
};

/** Queries, mutations and the subscription of customers. */
@Resolver(() => TopUp)
export class TopUpResolver {
  @Authorized('USER')
  @Query(() => TopUp, {
    nullable: true,
    description: 'A top-up; null if there is none that the caller may see.',
  })
  topUp(
    @Ctx() context: Context,
    @Arg('id', () => ID, { description: 'Id of the top-up.' }) id: string,
  ): Promise<TopUpRow | null> {
    return visibleTopUp(context, id);
  }

  @Authorized('USER')
  @Mutation(() => TopUpPayload, {
    description: "Begins a top-up by card. Lead the browser to checkoutUrl, the processor's page.",
  })
  topUpCardCreate(
    @Ctx() context: Context,
    @Arg('input', () => TopUpCardInput, { description: 'The top-up.' }) input: TopUpCardInput,
  ): Promise<TopUpPayload> {
    const { settings } = context;
    const who = { userId: viewerOf(context).id, actor: actorOf(context), settings };
    return outcome({ topUp: null, replayed: false }, () => beginCardTopUp(context.em, who, input));
  }

  @Authorized('USER')
  @Mutation(() => TopUpPayload, { description: 'Closes the page of an unpaid top-up by card.' })
  topUpCancel(
    @Ctx() context: Context,
    @Arg('input', () => IdInput, { description: 'The top-up.' }) { id }: IdInput,
  ): Promise<TopUpPayload> {
    const { settings } = context;
    const who = { userId: viewerOf(context).id, actor: actorOf(context), settings };
    return outcome({ topUp: null, replayed: false }, async () => ({
      topUp: await cancelTopUp(context.em, who, id),
      replayed: false,
    }));
  }

  @Authorized('USER')
  @Subscription(() => TopUp, {
    topics: 'topUpUpdated',
    topicId: ({ context }: { context: Context }) => viewerOf(context).id,
    filter: ({ payload, args }: { payload: Event; args: { id: string } }) => payload.id === args.id,
    description: "The caller's top-up whenever it changes.",
  })
  async topUpUpdated(
    @Root() event: Event,
    @Ctx() context: Context,
    @Arg('id', () => ID, { description: 'Id of the top-up.' }) _id: string,
  ): Promise<TopUpRow> {
    const row = await topUpById(context.em, event.id);
    if (!row) throw new Error(`The top-up ${event.id} is gone.`);
    return row;
  }

  @FieldResolver(() => [TopUpRefund], { description: 'Refunds, oldest first.' })
  async refunds(@Root() { id }: TopUpRow, @Ctx() { batches }: Context): Promise<TopUpRefund[]> {
    return (await batches.load(refundsOfTopUps, id)) ?? [];
  }

  @FieldResolver(() => [TopUpDispute], { description: 'Disputes, oldest first.' })
  async disputes(@Root() { id }: TopUpRow, @Ctx() { batches }: Context): Promise<TopUpDispute[]> {
    return (await batches.load(disputesOfTopUps, id)) ?? [];
  }

  @FieldResolver(() => User, {
    nullable: true,
    description: 'The owner; null if the caller may not see them.',
  })
  async user(@Root() row: TopUpRow, @Ctx() context: Context): Promise<User | null> {
    const isSeen = context.viewer?.id === row.userId || isAdminFor(context, 'ADMIN_WALLET');
    return isSeen ? ((await context.batches.load(usersById, row.userId)) ?? null) : null;
  }

  @FieldResolver(() => TopUpFailure, {
    nullable: true,
    description: 'Why it failed, as data for clients with other languages; null if there is no reason.',
  })
  failure(@Root() row: TopUpRow): TopUpFailure | null {
    return failureOf(row);
  }

  @FieldResolver(() => TopUpIssueEnum, {
    nullable: true,
    description: 'Why an administrator should look at it; null for callers who are not administrators.',
  })
  issue(@Root() row: TopUpRow, @Ctx() context: Context): TopUpIssue | null {
    return isAdminFor(context, 'ADMIN_WALLET') ? (row.issue ?? null) : null;
  }
}

/** The top-ups of a wallet. */
@Resolver(() => Wallet)
export class WalletTopUpsResolver {
  @FieldResolver(() => TopUpConnection, { description: 'Top-ups, newest first.' })
  topUps(
    @Root() wallet: Wallet,
    @Ctx() context: Context,
    @Args(() => PageArguments) page: PageArguments,
  ): Promise<Connection<TopUpRow>> {
    return pageOf(context, page, { walletId: wallet.id });
  }
}

/** The top-ups of all users, and refunds. */
@Resolver(() => AdminQuery)
export class AdminTopUpsResolver {
  @FieldResolver(() => TopUpConnection, { description: 'Top-ups of all users; newest first by default.' })
  topUps(
    @Ctx() context: Context,
    @Args(() => AdminTopUpArguments) page: AdminTopUpArguments,
  ): Promise<Connection<TopUpRow>> {
    const { states = null, method = null, userId = null, stuck = null } = page;
    return pageOf(context, page, { states, method, userId, stuck });
  }

  @Authorized('ADMIN')
  @Mutation(() => TopUpPayload, {
    description: 'Refunds a part or all of a payment by card, from the free cash of the wallet; audited.',
  })
  adminTopUpRefund(
    @Ctx() context: Context,
    @Arg('input', () => AdminTopUpRefundInput, { description: 'The refund.' }) input: AdminTopUpRefundInput,
  ): Promise<TopUpPayload> {
    const by = { userId: viewerOf(context).id, actor: actorOf(context), settings: context.settings };
    return outcome({ topUp: null, replayed: false }, () => refundTopUp(context.em, by, input));
  }
}

/** The top-up if the caller owns it or administers wallets; else null. */
export async function visibleTopUp(context: Context, id: string): Promise<TopUpRow | null> {
  const row = context.viewer ? await topUpById(context.em, id) : null;
  const isSeen = row?.userId === context.viewer?.id || isAdminFor(context, 'ADMIN_WALLET');
  return row && isSeen ? row : null;
}

async function pageOf(
  { em }: Context,
  page: PageArguments & { orderBy?: TopUpOrder | null },
  filter: TopUpFilter,
): Promise<Connection<TopUpRow>> {
  const { field = 'CREATED_AT', direction = 'DESC' } = page.orderBy ?? {};
  const position = positionOf(page, CURSORS[field]);
  const rows = await topUpsPage(em, filter, { ...position, order: { field, direction } });
  return connectionFrom(rows, {
    position,
    totalCount: () => countTopUps(em, filter),
    cursor: ({ id, amount }) => CURSORS[field].encode([field === 'AMOUNT' ? Number(amount) : '', id]),
    node: (row) => row,
  });
}
