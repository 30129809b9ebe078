/**
 * Wallets on the API: queries, live updates and settings for owners; ledger and adjustments for
 * administrators.
 */
import 'reflect-metadata';
import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Resolver, Root, Subscription } from 'type-graphql';
import { formatDollars } from '@gateway/shared/money';
import { User } from '../accounts/user.type.ts';
import { AdminQuery } from '../graphql/admin-query.ts';
import { audit } from '../audit/audit.service.ts';
import type { Lookup } from '../database/batches.ts';
import { connectionFrom, positionOf } from '../graphql/connections.ts';
import type { Connection } from '../graphql/connections.ts';
import { cursorsOf } from '../graphql/cursors.ts';
import { actorOf, Authorized, viewerOf } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome } from '../graphql/errors.ts';
import type { Event } from '../database/events.ts';
import { inTransaction } from '../database/sql.ts';
import { ownersOfWallets } from '../lookups.ts';
import { countEntries, entriesPage, entryOfTransaction } from './entries.service.ts';
import type { EntryConditions, EntryView } from './entries.service.ts';
import { leasesOfWallet } from './lease.rows.ts';
import { queueReceipt } from './notice.service.ts';
import {
  adjust,
  availableIn,
  ensureWallet,
  setLowBalanceThreshold,
  walletById,
  walletOfUser,
  walletsById,
  walletsOfUsers,
} from './wallet.service.ts';
import type { WalletState } from './wallet.service.ts';
import {
  AdminWalletAdjustInput,
  AdminWalletPayload,
  LedgerArguments,
  LedgerEntry,
  LedgerEntryConnection,
  Wallet,
  WalletLease,
  WalletPayload,
  WalletSettingsInput,
} from './wallet.types.ts';

const CURSORS = cursorsOf('entries', 'BIGINT');

/** The field `wallet` of a user. */
@Resolver(() => User)
export class UserWalletResolver {
  @FieldResolver(() => Wallet, { description: "The user's wallet." })
  async wallet(@Root() user: User, @Ctx() context: Context): Promise<Wallet> {
    const known = await context.batches.load(walletsOfUsers, user.id);
    if (known) return toWallet(known);
    return walletView(context, await ensureWallet(context.em, user.id));
  }
}

/** Fields, mutations and the subscription of a wallet. */
@Resolver(() => Wallet)
export class WalletResolver {
  @FieldResolver(() => [WalletLease], { description: 'Open leases of nodes, oldest first.' })
  async leases(@Root() wallet: Wallet, @Ctx() context: Context): Promise<WalletLease[]> {
    const leases = await leasesOfWallet(context.em, wallet.id);
    return leases.map((lease) => ({ ...lease, spent: lease.chargeSum }));
  }

  @FieldResolver(() => User, { nullable: true, description: 'The owner of the wallet.' })
  async owner(@Root() wallet: Wallet, @Ctx() { batches }: Context): Promise<User | null> {
    return (await batches.load(ownersOfWallets, wallet.id)) ?? null;
  }

  @FieldResolver(() => LedgerEntryConnection, { description: 'Credits and debits, newest first.' })
  ledger(
    @Root() wallet: Wallet,
    @Ctx() context: Context,
    @Args(() => LedgerArguments) page: LedgerArguments,
  ): Promise<Connection<LedgerEntry>> {
    return ledgerPage(context, page, wallet.id);
  }

  @Authorized('USER')
  @Mutation(() => WalletPayload, { description: 'Sets the balance below which the caller is warned.' })
  walletSettingsUpdate(
    @Ctx() context: Context,
    @Arg('input', () => WalletSettingsInput, { description: 'The settings.' }) input: WalletSettingsInput,
  ): Promise<WalletPayload> {
    return outcome({ wallet: null }, async () => {
      const walletId = await ensureWallet(context.em, viewerOf(context).id);
      await setLowBalanceThreshold(context.em, walletId, input.lowBalanceThreshold ?? null);
      return { wallet: await walletView(context, walletId) };
    });
  }

  @Authorized('ADMIN')
  @Mutation(() => AdminWalletPayload, { description: 'Credits or debits a wallet by hand; audited.' })
  adminWalletAdjust(
    @Ctx() context: Context,
    @Arg('input', () => AdminWalletAdjustInput, { description: 'The adjustment.' })
    input: AdminWalletAdjustInput,
  ): Promise<AdminWalletPayload> {
    return outcome({ wallet: null, entry: null, replayed: false }, () =>
      inTransaction(context.em, async (em) => {
        const actor = actorOf(context);
        const { walletId, transactionId, replayed } = await adjust(em, { ...input, actor });
        const entry = (await entryOfTransaction(em, walletId, transactionId)) ?? null;
        if (!replayed) {
          await audit(em, { ...adjustmentEvent(input, entry), actor, targetId: walletId });
          if (input.bucket === 'CASH' && input.amount > 0n) await queueReceipt(em, walletId, input.amount);
        }
        return { wallet: await walletView({ em }, walletId), entry, replayed };
      }),
    );
  }

  @Authorized('USER')
  @Subscription(() => Wallet, {
    topics: 'walletUpdated',
    topicId: ({ context }: { context: Context }) => viewerOf(context).id,
    description: "The caller's wallet whenever its balances change.",
  })
  walletUpdated(@Root() event: Event, @Ctx() context: Context): Promise<Wallet> {
    return walletView(context, event.id);
  }
}

/** The ledger of all wallets, for administrators. */
@Resolver(() => AdminQuery)
export class AdminLedgerResolver {
  @FieldResolver(() => LedgerEntryConnection, { description: 'Entries of all wallets, newest first.' })
  async ledger(
    @Ctx() context: Context,
    @Args(() => LedgerArguments) page: LedgerArguments,
    @Arg('userId', () => ID, { nullable: true, description: 'Only of this user.' }) userId: string | null,
  ): Promise<Connection<LedgerEntry>> {
    return ledgerPage(
      context,
      page,
      userId ? ((await walletOfUser(context.em, userId))?.id ?? 'none') : null,
    );
  }
}

async function ledgerPage(
  context: Context,
  page: LedgerArguments,
  walletId: string | null,
): Promise<Connection<LedgerEntry>> {
  const position = positionOf(page, CURSORS);
  const conditions: EntryConditions = { walletId, kinds: page.kinds ?? null, range: page.range ?? null };
  const rows = await entriesPage(context.em, conditions, position);
  return connectionFrom(rows, {
    position,
    totalCount: () => countEntries(context.em, conditions),
    cursor: (row) => CURSORS.encode([row.seq]),
    node: (row) => row,
  });
}

/** The audit event of an adjustment; without balances if the whole amount repaid a debt. */
function adjustmentEvent({ bucket, amount, reason }: AdminWalletAdjustInput, entry: EntryView | null) {
  const after = { bucket, amount: formatDollars(amount), transactionId: entry?.transactionId ?? null };
  const balances = entry && {
    before: { bucket, balance: formatDollars(entry.balanceAfter - entry.amount) },
    after: { ...after, balance: formatDollars(entry.balanceAfter) },
  };
  return { action: 'wallet.adjust', targetType: 'Wallet', reason, ...(balances ?? { after }) };
}

/** The wallet as the API shows it. The caller has to check access. */
export async function walletView({ em }: Pick<Context, 'em'>, walletId: string): Promise<Wallet> {
  const wallet = await walletById(em, walletId);
  if (!wallet) throw new Error(`Wallet ${walletId} does not exist.`);
  return toWallet(wallet);
}

/** Wallets by their ids, as the API shows them. The caller has to check access. */
export const walletsByIds: Lookup<Wallet> = async (em, ids) =>
  new Map((await walletsById(em, ids)).map((wallet) => [wallet.id, toWallet(wallet)]));

function toWallet(wallet: WalletState): Wallet {
  const { id, cash, gift, held, receivable, frozen, lowBalanceThreshold } = wallet;
  return {
    id,
    cash,
    gift,
    held,
    receivable,
    frozen,
    lowBalanceThreshold,
    currency: 'USD',
    balance: cash + gift + held,
    available: availableIn(wallet),
  };
}
