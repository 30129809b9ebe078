/** Deposits on blockchains on the API: offered tokens, addresses, deposits, and settings. */
import 'reflect-metadata';
import { Arg, Ctx, FieldResolver, Int, Mutation, Resolver, Root } from 'type-graphql';
import { AdminQuery } from '../../graphql/admin-query.ts';
import { actorOf, Authorized, viewerOf } from '../../graphql/context.ts';
import type { Context } from '../../graphql/context.ts';
import { outcome } from '../../graphql/errors.ts';
import { walletById } from '../../wallet/wallet.service.ts';
import { Wallet } from '../../wallet/wallet.types.ts';
import type { SettingsChange } from '../settings.service.ts';
import type { TopUpRow } from '../topup.entity.ts';
import { TopUp } from '../topup.type.ts';
import { addressesOf, depositAddress, listDepositKeys, setDepositKey } from './address.service.ts';
import { TokenSchema } from './chain.entity.ts';
import type { ChainRow, TokenRow } from './chain.entity.ts';
import { listChains, resumeChain, setChain, setToken } from './chain.settings.ts';
import {
  AdminChainInput,
  AdminChainResumeInput,
  AdminChainTokenInput,
  AdminDepositKeyInput,
  Chain,
  ChainPayload,
  ChainToken,
  DepositKey,
  DepositKeysPayload,
} from './chain.type.ts';
import { CryptoDeposit, DepositAddress, DepositAddressInput, DepositAddressPayload } from './crypto.type.ts';
import { addressViews, depositViews } from './deposit.queries.ts';

/** Addresses of customers. */
@Resolver(() => Wallet)
export class DepositAddressResolver {
  @FieldResolver(() => [DepositAddress], { description: 'Addresses for deposits, newest first.' })
  async depositAddresses(@Root() { id }: Wallet, @Ctx() { em }: Context): Promise<DepositAddress[]> {
    const wallet = await walletById(em, id);
    return wallet ? addressViews(em, await addressesOf(em, wallet.userId)) : [];
  }

  @Authorized('USER')
  @Mutation(() => DepositAddressPayload, {
    description: "The caller's address for a token of a blockchain. It is made by the first call.",
  })
  depositAddressCreate(
    @Ctx() context: Context,
    @Arg('input', () => DepositAddressInput, { description: 'Chain and token.' }) input: DepositAddressInput,
  ): Promise<DepositAddressPayload> {
    const who = { userId: viewerOf(context).id, secretKey: context.settings.secretKey };
    return outcome({ address: null }, async () => {
      const row = await depositAddress(context.em, who, input);
      const [address = null] = await addressViews(context.em, [row]);
      return { address };
    });
  }
}

/** The deposit of a top-up. */
@Resolver(() => TopUp)
export class TopUpDepositResolver {
  @FieldResolver(() => CryptoDeposit, {
    nullable: true,
    description: 'The deposit; null for top-ups by card.',
  })
  async deposit(@Root() { reference }: TopUpRow, @Ctx() { batches }: Context): Promise<CryptoDeposit | null> {
    return reference ? ((await batches.load(depositViews, reference)) ?? null) : null;
  }
}

/** Tokens of a chain, and the block that stopped its credits. */
@Resolver(() => Chain)
export class ChainResolver {
  @FieldResolver(() => Int, {
    nullable: true,
    description: 'The block whose loss stopped its credits; null if they are not stopped.',
  })
  frozenBlock(@Root() { frozenAt, frozenBlock }: ChainRow): number | null {
    // A control plane of an earlier release resumes a chain and leaves the number.
    return frozenAt ? (frozenBlock ?? null) : null;
  }

  @FieldResolver(() => [ChainToken], { description: 'Its tokens.' })
  tokens(@Root() { chainId }: ChainRow, @Ctx() { em }: Context): Promise<TokenRow[]> {
    return em.find(TokenSchema, { chainId }, { orderBy: { symbol: 'asc', contract: 'asc' } });
  }
}

/** Settings for administrators. */
@Resolver(() => AdminQuery)
export class AdminChainResolver {
  @FieldResolver(() => [Chain], { description: 'The blockchains that are watched, with their state.' })
  chains(@Ctx() { em }: Context): Promise<ChainRow[]> {
    return listChains(em);
  }

  @FieldResolver(() => [DepositKey], { description: 'The extended public keys of addresses, oldest first.' })
  depositKeys(@Ctx() { em }: Context): Promise<DepositKey[]> {
    return listDepositKeys(em);
  }

  @Authorized('ADMIN')
  @Mutation(() => ChainPayload, {
    description: 'Adds or changes a blockchain, after its RPC services answered; audited.',
  })
  adminChainSet(
    @Ctx() context: Context,
    @Arg('input', () => AdminChainInput, { description: 'The chain.' }) input: AdminChainInput,
  ): Promise<ChainPayload> {
    return changed(() => setChain(context.em, input, changeOf(context)));
  }

  @Authorized('ADMIN')
  @Mutation(() => ChainPayload, { description: 'Adds or changes a token of a blockchain; audited.' })
  adminChainTokenSet(
    @Ctx() context: Context,
    @Arg('input', () => AdminChainTokenInput, { description: 'The token.' }) input: AdminChainTokenInput,
  ): Promise<ChainPayload> {
    return changed(() => setToken(context.em, input, changeOf(context)));
  }

  @Authorized('ADMIN')
  @Mutation(() => ChainPayload, { description: 'Lets a frozen blockchain credit deposits again; audited.' })
  adminChainResume(
    @Ctx() context: Context,
    @Arg('input', () => AdminChainResumeInput, { description: 'The chain.' }) input: AdminChainResumeInput,
  ): Promise<ChainPayload> {
    return changed(() => resumeChain(context.em, input, changeOf(context)));
  }

  @Authorized('ADMIN')
  @Mutation(() => DepositKeysPayload, {
    description: 'Sets the extended public key from which new addresses are derived; audited.',
  })
  adminDepositKeySet(
    @Ctx() context: Context,
    @Arg('input', () => AdminDepositKeyInput, { description: 'The key.' }) input: AdminDepositKeyInput,
  ): Promise<DepositKeysPayload> {
    return outcome({ keys: null }, async () => {
      await setDepositKey(context.em, input, changeOf(context));
      return { keys: await listDepositKeys(context.em) };
    });
  }
}

function changeOf(context: Context): SettingsChange {
  return { actor: actorOf(context), settings: context.settings };
}

async function changed(work: () => Promise<ChainRow>): Promise<ChainPayload> {
  return outcome({ chain: null }, async () => ({ chain: await work() }));
}
