/** Set-up for tests of dedicated pools: a catalog, an open storefront, and buyers with cash. */
import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { seedCatalog } from '../control-plane/catalog/catalog.service.ts';
import { ModelSchema } from '../control-plane/catalog/model.entity.ts';
import { SYSTEM_ACTOR } from '../control-plane/graphql/context.ts';
import { UserFailure } from '../control-plane/graphql/errors.ts';
import type { PoolQuoteRow } from '../control-plane/pools/pool.entity.ts';
import { purchasePool, renewPool } from '../control-plane/pools/purchase.service.ts';
import type { Buyer, Purchase, PurchaseInput } from '../control-plane/pools/purchase.service.ts';
import { quotePool, quoteRenewal } from '../control-plane/pools/quote.service.ts';
import { query, queryOne, sql } from '../control-plane/database/sql.ts';
import { checkInvariants } from '../control-plane/wallet/invariants.ts';
import { openMoney } from './money-fixture.ts';
import type { Money } from './money-fixture.ts';

/** Price of a pool with three models, in micro-USD. */
export const BASE = 99_000_000n;
/** Price of each further model, in micro-USD. */
export const FURTHER = 19_000_000n;
/** Gift credit of each period, in micro-USD. */
export const GIFT = 10_000_000n;

export interface Market extends Money {
  /** Ids of the seeded models, in the catalog's order. */
  models: string[];
  /** Creates a user with cash in micro-USD. */
  buyer(cash: bigint): Promise<Buyer & { walletId: string }>;
  /** Quotes a pool of the first `count` models; 3 by default. */
  quote(buyer: Buyer, count?: number): Promise<PoolQuoteRow>;
  /** Quotes and buys a pool of three models, with defaults for parts of the input that are not given. */
  buy(buyer: Buyer, input?: Partial<PurchaseInput>): Promise<Purchase>;
  renew(buyer: Buyer, poolId: string): Promise<Purchase>;
  /** Moves the end of a pool and of its last period to now plus the interval, e.g. `-1 hour`. */
  endIn(poolId: string, interval: string): Promise<void>;
  setStorefront(state: 'OPEN' | 'CLOSED'): Promise<void>;
  count(table: CountedTable): Promise<number>;
  balances(walletId: string): Promise<{ cash: bigint; gift: bigint }>;
  /** The present violations of the ledger's invariants. */
  violations(): ReturnType<typeof checkInvariants>;
}

const COUNTS = {
  pools: sql`select count(*)::integer as count from pools`,
  pool_models: sql`select count(*)::integer as count from pool_models`,
  pool_periods: sql`select count(*)::integer as count from pool_periods`,
  pool_notices: sql`select count(*)::integer as count from pool_notices`,
  payments: sql`select count(*)::integer as count from ledger_transaction where kind like 'POOL%'`,
  gifts: sql`select count(*)::integer as count from ledger_transaction where kind = 'GIFT_POOL'`,
  records: sql`select count(*)::integer as count from config_log where kind = 'POOL' and not removed`,
  audits: sql`select count(*)::integer as count from audit_event where action like 'pool.%'`,
};
export type CountedTable = keyof typeof COUNTS;

/** A unique subdomain. */
export const freshName = (): string => `p-${randomUUID().slice(0, 18)}`;

/** The code of the UserFailure that the work throws, or `done`. */
export function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'done',
    (error: unknown) => {
      if (error instanceof UserFailure) return error.code;
      throw error;
    },
  );
}

/** Opens a test database with a catalog and an open storefront. The caller closes it. */
export async function openMarket(): Promise<Market> {
  const money = await openMoney();
  const em = (): EntityManager => money.em();
  await seedCatalog(em());
  const rows = await em().find(ModelSchema, {}, { orderBy: { position: 'asc' } });
  const market: Market = {
    ...money,
    models: rows.map((row) => row.id),
    buyer: async (cash) => {
      const { userId, walletId } = await money.wallet({ cash });
      return { userId, walletId, actor: { ...SYSTEM_ACTOR, kind: 'USER', id: userId, label: userId } };
    },
    quote: (buyer, count = 3) => quotePool(em(), buyer.userId, market.models.slice(0, count)),
    buy: async (buyer, input = {}) => {
      const quote = input.quoteId ? null : await market.quote(buyer);
      return purchasePool(em(), buyer, {
        quoteId: quote?.id ?? '',
        name: 'Team',
        subdomain: freshName(),
        autoRenew: false,
        expectedTotal: quote?.total ?? BASE,
        idempotencyKey: randomUUID(),
        ...input,
      });
    },
    renew: async (buyer, poolId) => {
      const quote = await quoteRenewal(em(), buyer.userId, poolId);
      return renewPool(em(), buyer, {
        poolId,
        quoteId: quote.id,
        expectedTotal: quote.total,
        idempotencyKey: randomUUID(),
      });
    },
    ...stateOfMarket(em),
    violations: () => checkInvariants(em()),
  };
  await market.setStorefront('OPEN');
  return market;
}

/** Functions that read and change the database directly. */
function stateOfMarket(
  em: () => EntityManager,
): Pick<Market, 'endIn' | 'setStorefront' | 'count' | 'balances'> {
  return {
    endIn: async (poolId, interval) => {
      await query(
        em(),
        sql`with moved as (update pools
            set ends_at = date_trunc('milliseconds', now()) + ${interval}::interval,
            starts_at = now() - interval '30 days' where id = ${poolId} returning id, ends_at)
          update pool_periods p set ends_at = moved.ends_at, starts_at = moved.ends_at - interval '30 days'
          from moved where p.pool_id = moved.id
            and p.number = (select max(number) from pool_periods where pool_id = moved.id)`,
      );
    },
    setStorefront: async (state) => {
      await query(
        em(),
        sql`update storefront
          set state = ${state}, prices_confirmed_at = coalesce(prices_confirmed_at, now())`,
      );
    },
    count: async (table) => (await queryOne<{ count: number }>(em(), COUNTS[table]))?.count ?? 0,
    balances: async (walletId) => {
      const row = await queryOne<{ cash: string; gift: string }>(
        em(),
        sql`select sum(balance) filter (where bucket = 'CASH')::text as cash,
          sum(balance) filter (where bucket = 'GIFT')::text as gift
        from ledger_account where wallet_id = ${walletId} and kind = 'WALLET'`,
      );
      return { cash: BigInt(row?.cash ?? '0'), gift: BigInt(row?.gift ?? '0') };
    },
  };
}
