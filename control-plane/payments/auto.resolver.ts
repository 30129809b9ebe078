/** Automatic top-ups and the saved card on the API. */
import 'reflect-metadata';
import { Arg, Ctx, FieldResolver, Mutation, Resolver, Root } from 'type-graphql';
import { Authorized, viewerOf } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome } from '../graphql/errors.ts';
import { inTransaction } from '../database/sql.ts';
import { walletView } from '../wallet/wallet.resolver.ts';
import { ensureWallet } from '../wallet/wallet.service.ts';
import { Wallet } from '../wallet/wallet.types.ts';
import { autoTopUpOf, setAutoTopUp } from './auto.settings.ts';
import { AutoTopUp, AutoTopUpInput, AutoTopUpPayload, SavedCard } from './auto.type.ts';
import { forgetCard } from './card/forgotten-card.ts';
import { openProcessor } from './card/processor.ts';
import { detachCard, savedCard } from './card/saved-card.ts';

/** Fields and mutations of automatic top-ups. */
@Resolver(() => Wallet)
export class AutoTopUpResolver {
  @FieldResolver(() => AutoTopUp, {
    nullable: true,
    description: 'Automatic top-ups; null before their settings were saved once.',
  })
  autoTopUp(@Root() { id }: Wallet, @Ctx() { em }: Context): Promise<AutoTopUp | null> {
    return autoTopUpOf(em, id);
  }

  @FieldResolver(() => SavedCard, { nullable: true, description: 'The saved card; null without one.' })
  savedCard(@Root() { id }: Wallet, @Ctx() { em }: Context): Promise<SavedCard | null> {
    return savedCard(em, id);
  }

  @Authorized('USER')
  @Mutation(() => AutoTopUpPayload, { description: 'Sets when the saved card tops the wallet up by itself.' })
  autoTopUpSet(
    @Ctx() context: Context,
    @Arg('input', () => AutoTopUpInput, { description: 'The settings.' }) input: AutoTopUpInput,
  ): Promise<AutoTopUpPayload> {
    return outcome({ wallet: null }, async () => {
      const walletId = await ensureWallet(context.em, viewerOf(context).id);
      await setAutoTopUp(context.em, walletId, input);
      return { wallet: await walletView(context, walletId) };
    });
  }

  @Authorized('USER')
  @Mutation(() => AutoTopUpPayload, {
    description: 'Removes the saved card here and at the processor, and switches automatic top-ups off.',
  })
  savedCardRemove(@Ctx() context: Context): Promise<AutoTopUpPayload> {
    return outcome({ wallet: null }, async () => {
      const walletId = await ensureWallet(context.em, viewerOf(context).id);
      const methodId = await inTransaction(context.em, (inner) => forgetCard(inner, walletId));
      const processor = methodId ? await openProcessor(context.em, context.settings) : null;
      if (processor && methodId) await detachCard(context.em, processor, methodId);
      return { wallet: await walletView(context, walletId) };
    });
  }
}
