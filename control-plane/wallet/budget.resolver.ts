/** The monthly budget of an account, in the API. */
import 'reflect-metadata';
import { Arg, Ctx, FieldResolver, Mutation, Resolver, Root } from 'type-graphql';
import { Authorized, viewerOf } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome } from '../graphql/errors.ts';
import { budgetsOfWallets, setBudget } from './budget.service.ts';
import { WalletBudget, WalletBudgetInput } from './budget.types.ts';
import { walletView } from './wallet.resolver.ts';
import { ensureWallet } from './wallet.service.ts';
import { Wallet, WalletPayload } from './wallet.types.ts';

/** The field of a wallet, and the mutation that sets it. */
@Resolver(() => Wallet)
export class BudgetResolver {
  @FieldResolver(() => WalletBudget, { description: 'The monthly budget, and what was spent of it.' })
  async budget(@Root() wallet: Wallet, @Ctx() context: Context): Promise<WalletBudget> {
    const none = { monthly: null, spentThisMonth: 0n };
    return (await context.batches.load(budgetsOfWallets, wallet.id)) ?? none;
  }

  @Authorized('USER')
  @Mutation(() => WalletPayload, {
    description: 'Sets the monthly budget of the caller. It warns by mail and refuses nothing.',
  })
  walletBudgetSet(
    @Ctx() context: Context,
    @Arg('input', () => WalletBudgetInput, { description: 'The budget.' }) input: WalletBudgetInput,
  ): Promise<WalletPayload> {
    return outcome({ wallet: null }, async () => {
      const walletId = await ensureWallet(context.em, viewerOf(context).id);
      await setBudget(context.em, walletId, input.monthly ?? null);
      return { wallet: await walletView(context, walletId) };
    });
  }
}
