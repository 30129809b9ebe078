/**
 * The storefront on the API: its terms, live updates, quotes, subdomain look-ups, and changes by
 * administrators.
 */
import 'reflect-metadata';
import { Arg, Ctx, FieldResolver, Int, Mutation, Query, Resolver, Root, Subscription } from 'type-graphql';
import { modelsById } from '../catalog/catalog.service.ts';
import { CatalogModel } from '../catalog/catalog.type.ts';
import { actorOf, Authorized, isAdminFor, Public, viewerOf } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome, UserFailure } from '../graphql/errors.ts';
import { EVERYBODY } from '../database/events.ts';
import { Money } from '../graphql/scalars.ts';
import { ensureWallet } from '../wallet/wallet.service.ts';
import { payableCash } from './payment.ts';
import type { PoolQuoteRow } from './pool.entity.ts';
import { quotePool, quoteRenewal } from './quote.service.ts';
import type { StorefrontRow } from './storefront.entity.ts';
import { countOpenQuotes, offeredModels, setStorefront, storefront } from './storefront.service.ts';
import { availabilityOf } from './subdomain.service.ts';
import {
  AdminStorefrontInput,
  PoolQuote,
  PoolQuoteInput,
  PoolQuotePayload,
  PoolStorefront,
  QuoteLine,
  StorefrontPayload,
  SubdomainAvailability,
} from './storefront.type.ts';

const SECOND_MS = 1_000;

/** Queries, the subscription and the mutation of the storefront. */
@Resolver(() => PoolStorefront)
export class StorefrontResolver {
  @Public()
  @Query(() => PoolStorefront, { description: 'Whether dedicated pools are on sale, and on which terms.' })
  poolStorefront(@Ctx() context: Context): Promise<PoolStorefront> {
    return storefront(context.em);
  }

  @Public()
  @Subscription(() => PoolStorefront, {
    topics: 'storefrontUpdated',
    topicId: () => EVERYBODY,
    description: 'The storefront whenever administrators change it.',
  })
  storefrontUpdated(@Ctx() context: Context): Promise<PoolStorefront> {
    return storefront(context.em);
  }

  @Authorized('USER')
  @Query(() => SubdomainAvailability, {
    description: 'Whether the caller can take this subdomain for a new pool. At most 90 look-ups a minute.',
  })
  subdomainAvailability(
    @Ctx() context: Context,
    @Arg('subdomain', () => String, { description: 'The subdomain.' }) subdomain: string,
  ): Promise<SubdomainAvailability> {
    return availabilityOf(context.em, viewerOf(context).id, subdomain);
  }

  @Authorized('ADMIN')
  @Mutation(() => StorefrontPayload, {
    description: 'Opens or closes the storefront, and sets its terms. Open quotes keep their prices.',
  })
  adminStorefrontSet(
    @Ctx() context: Context,
    @Arg('input', () => AdminStorefrontInput, { description: 'The changes.' }) input: AdminStorefrontInput,
  ): Promise<StorefrontPayload> {
    const { settings } = context;
    return outcome({ storefront: null }, async () => ({
      storefront: await setStorefront(context.em, input, { actor: actorOf(context), settings }),
    }));
  }

  @FieldResolver(() => [CatalogModel], { description: 'Models that can be chosen for a pool.' })
  offeredModels(@Root() row: PoolStorefront, @Ctx() context: Context): Promise<CatalogModel[]> {
    return offeredModels(context.em, row as StorefrontRow);
  }

  @FieldResolver(() => Boolean, {
    description: 'Whether an administrator has confirmed the prices; opening requires it.',
  })
  pricesConfirmed(@Root() row: PoolStorefront): boolean {
    return Boolean(row.pricesConfirmedAt);
  }

  @FieldResolver(() => Int, {
    nullable: true,
    description: 'Number of valid unused quotes; null for callers who are not administrators.',
  })
  openQuotes(@Ctx() context: Context): Promise<number> | null {
    return isAdminFor(context, 'ADMIN_STOREFRONT') ? countOpenQuotes(context.em) : null;
  }
}

/** Quotes of the caller. */
@Resolver(() => PoolQuote)
export class QuoteResolver {
  @Authorized('USER')
  @Mutation(() => PoolQuotePayload, {
    description:
      'Creates a quote for a new pool or another period of a pool. Its price is valid for 15 minutes.',
  })
  poolQuoteCreate(
    @Ctx() context: Context,
    @Arg('input', () => PoolQuoteInput, { description: 'What to quote.' }) input: PoolQuoteInput,
  ): Promise<PoolQuotePayload> {
    const { id } = viewerOf(context);
    return outcome({ quote: null }, async () => {
      if (!input.renewPoolId) return { quote: await quotePool(context.em, id, input.modelIds) };
      if (input.modelIds.length > 0)
        throw new UserFailure('INVALID', 'A renewal keeps its models. Leave modelIds empty.', 'modelIds');
      return { quote: await quoteRenewal(context.em, id, input.renewPoolId) };
    });
  }

  @FieldResolver(() => Int, {
    description: 'Seconds until the quote expires. Clients whose clock is wrong can count down from it.',
  })
  validSeconds(@Root() quote: PoolQuoteRow): number {
    return Math.max(0, Math.floor((quote.expiresAt.getTime() - Date.now()) / SECOND_MS));
  }

  @FieldResolver(() => [CatalogModel], { description: 'The present catalog entries of the models.' })
  async models(@Root() quote: PoolQuoteRow, @Ctx() context: Context): Promise<CatalogModel[]> {
    const models = await modelsById(context.em, quote.modelIds);
    return models.toSorted((one, other) => quote.modelIds.indexOf(one.id) - quote.modelIds.indexOf(other.id));
  }

  @FieldResolver(() => [QuoteLine], { description: 'The lines of the total.' })
  lines(@Root() quote: PoolQuoteRow): QuoteLine[] {
    return quote.lines.map(({ unitPrice, amount, ...line }) => ({
      ...line,
      unitPrice: BigInt(unitPrice),
      amount: BigInt(amount),
    }));
  }

  @FieldResolver(() => Money, {
    description: 'Cash that can pay for the quote, including leases; 0 while the wallet is frozen.',
  })
  async payableFrom(@Root() quote: PoolQuoteRow, @Ctx() context: Context): Promise<bigint> {
    return payableCash(context.em, await ensureWallet(context.em, quote.userId));
  }

  @FieldResolver(() => Money, { description: 'Missing cash; 0 if the cash suffices.' })
  async shortfall(@Root() quote: PoolQuoteRow, @Ctx() context: Context): Promise<bigint> {
    const payable = await payableCash(context.em, await ensureWallet(context.em, quote.userId));
    return payable < quote.total ? quote.total - payable : 0n;
  }
}
