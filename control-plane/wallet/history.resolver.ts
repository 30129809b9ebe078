/** The history of a wallet, in the API. */
import 'reflect-metadata';
import { Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { connectionFrom, encodeCursor, positionOf } from '../graphql/connections.ts';
import type { Connection } from '../graphql/connections.ts';
import type { Context } from '../graphql/context.ts';
import { countEntries, entriesPage } from './entries.service.ts';
import { entriesOfDay, historyPage } from './history.service.ts';
import {
  HistoryArguments,
  UsageDayArguments,
  WalletHistoryConnection,
  WalletHistoryLine,
} from './history.types.ts';
import { LedgerEntry, LedgerEntryConnection, Wallet } from './wallet.types.ts';

/** The fields of a wallet. */
@Resolver(() => Wallet)
export class HistoryResolver {
  @FieldResolver(() => WalletHistoryConnection, {
    description: 'Entries that are not usage, and usage by day and bucket, newest first.',
  })
  async history(
    @Root() wallet: Wallet,
    @Ctx() context: Context,
    @Args(() => HistoryArguments) page: HistoryArguments,
  ): Promise<Connection<WalletHistoryLine>> {
    const position = positionOf(page, 1);
    const conditions = { walletId: wallet.id, kinds: page.kinds ?? null };
    return connectionFrom(await historyPage(context.em, conditions, position), {
      position,
      totalCount: null,
      cursor: ({ seq }) => encodeCursor([seq]),
      node: (line) => ({ ...line, id: `${wallet.id}:${line.seq}` }),
    });
  }

  @FieldResolver(() => LedgerEntryConnection, { description: 'The entries of a day of usage, newest first.' })
  async usageOfDay(
    @Root() wallet: Wallet,
    @Ctx() context: Context,
    @Args(() => UsageDayArguments) { day, bucket, ...page }: UsageDayArguments,
  ): Promise<Connection<LedgerEntry>> {
    const position = positionOf(page, 1);
    const { em } = context;
    const conditions = await entriesOfDay(em, { walletId: wallet.id, day, bucket });
    return connectionFrom(conditions ? await entriesPage(em, conditions, position) : [], {
      position,
      totalCount: async () => (conditions ? countEntries(em, conditions) : 0),
      cursor: ({ seq }) => encodeCursor([seq]),
      node: (entry) => entry,
    });
  }
}
