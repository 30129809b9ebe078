/** The history of a wallet, in the API. */
import 'reflect-metadata';
import { Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { connectionFrom, positionOf } from '../graphql/connections.ts';
import type { Connection } from '../graphql/connections.ts';
import type { Context } from '../graphql/context.ts';
import { cursorsOf } from '../graphql/cursors.ts';
import { countEntries, entriesPage } from './entries.service.ts';
import { entriesOfDay, historyPage } from './history.service.ts';
import {
  HistoryArguments,
  UsageDayArguments,
  WalletHistoryConnection,
  WalletHistoryLine,
} from './history.types.ts';
import { LedgerEntry, LedgerEntryConnection, Wallet } from './wallet.types.ts';

const CURSORS = cursorsOf('history', 'BIGINT');
/** Those of the ledger, whose entries the list has. */
const DAY_CURSORS = cursorsOf('entries', 'BIGINT');

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
    const position = positionOf(page, CURSORS);
    const conditions = { walletId: wallet.id, kinds: page.kinds ?? null };
    return connectionFrom(await historyPage(context.em, conditions, position), {
      position,
      totalCount: null,
      cursor: ({ seq }) => CURSORS.encode([seq]),
      node: (line) => ({ ...line, id: `${wallet.id}:${line.seq}` }),
    });
  }

  @FieldResolver(() => LedgerEntryConnection, { description: 'The entries of a day of usage, newest first.' })
  async usageOfDay(
    @Root() wallet: Wallet,
    @Ctx() context: Context,
    @Args(() => UsageDayArguments) { day, bucket, ...page }: UsageDayArguments,
  ): Promise<Connection<LedgerEntry>> {
    const position = positionOf(page, DAY_CURSORS);
    const { em } = context;
    const conditions = await entriesOfDay(em, { walletId: wallet.id, day, bucket });
    return connectionFrom(conditions ? await entriesPage(em, conditions, position) : [], {
      position,
      totalCount: async () => (conditions ? countEntries(em, conditions) : 0),
      cursor: ({ seq }) => DAY_CURSORS.encode([seq]),
      node: (entry) => entry,
    });
  }
}
