/** Spend alerts in the API. */
import 'reflect-metadata';
import { Arg, Ctx, FieldResolver, Mutation, Resolver, Root } from 'type-graphql';
import { Authorized, viewerOf } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome } from '../graphql/errors.ts';
import { IdInput } from '../graphql/inputs.ts';
import { alertsOfWallets, dismissAlert } from './spend-alert.reading.ts';
import { SpendAlert } from './spend-alert.types.ts';
import { walletView } from './wallet.resolver.ts';
import { ensureWallet } from './wallet.service.ts';
import { Wallet, WalletPayload } from './wallet.types.ts';

/** The field of a wallet, and the mutation that dismisses an alert. */
@Resolver(() => Wallet)
export class SpendAlertResolver {
  @FieldResolver(() => [SpendAlert], {
    description:
      'Keys of the owner and the account itself that have reached 50, 80 or 100 % of their monthly cap or ' +
      'budget, without dismissed alerts; the highest percentage first, at most 20.',
  })
  async spendAlerts(@Root() wallet: Wallet, @Ctx() context: Context): Promise<SpendAlert[]> {
    return (await context.batches.load(alertsOfWallets, wallet.id)) ?? [];
  }

  @Authorized('USER')
  @Mutation(() => WalletPayload, {
    description:
      'Dismisses a spend alert of the caller on all devices. A higher percentage alerts again, and so does ' +
      'the next month.',
  })
  spendAlertDismiss(
    @Ctx() context: Context,
    @Arg('input', () => IdInput, { description: 'The alert.' }) input: IdInput,
  ): Promise<WalletPayload> {
    return outcome({ wallet: null }, async () => {
      const { id } = viewerOf(context);
      await dismissAlert(context.em, id, input.id);
      return { wallet: await walletView(context, await ensureWallet(context.em, id)) };
    });
  }
}
