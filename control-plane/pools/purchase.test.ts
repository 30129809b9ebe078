/** Tests of purchases: atomic, once per idempotency key, paid from cash, refused with stable codes. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { BASE, codeOf, freshName, FURTHER, GIFT, openMarket } from '../../test/pools-fixture.ts';
import type { CountedTable, Market } from '../../test/pools-fixture.ts';
import { reported } from '../../test/money-fixture.ts';
import { setModelState } from '../catalog/catalog.service.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import { settle } from '../usage/settlement.service.ts';
import { closeLease } from '../wallet/lease.end.ts';
import { requestLease } from '../wallet/lease.service.ts';
import { clawBack } from '../wallet/movements.ts';
import { purchasePool } from './purchase.service.ts';

const TABLES: CountedTable[] = [
  'pools',
  'pool_models',
  'pool_periods',
  'payments',
  'gifts',
  'records',
  'audits',
];

let market: Market;
beforeAll(async () => {
  market = await openMarket();
});
afterEach(async () => {
  expect(await market.violations()).toEqual([]);
});
afterAll(() => market.close());

const counts = async (): Promise<number[]> => Promise.all(TABLES.map((table) => market.count(table)));

const poolRecord = async (id: string): Promise<Record<string, unknown> | undefined> =>
  (
    await queryOne<{ payload: Record<string, unknown> }>(
      market.em(),
      sql`select payload from config_log where kind = 'POOL' and key = ${id}`,
    )
  )?.payload;

describe('a purchase', () => {
  it('debits cash, freezes the models, credits the gift and publishes the pool to the nodes', async () => {
    const buyer = await market.buyer(200_000_000n);
    const quote = await market.quote(buyer, 5);
    expect(quote.total).toBe(BASE + 2n * FURTHER);
    const subdomain = freshName();
    const { pool, period, replayed } = await market.buy(buyer, {
      quoteId: quote.id,
      expectedTotal: quote.total,
      subdomain,
    });
    expect({ replayed, state: pool.state, rpmCap: pool.rpmCap }).toEqual({
      replayed: false,
      state: 'ACTIVE',
      rpmCap: 60,
    });
    expect(period.endsAt.getTime() - period.startsAt.getTime()).toBe(30 * 24 * 60 * 60 * 1000);
    expect(await market.balances(buyer.walletId)).toEqual({ cash: 200_000_000n - quote.total, gift: GIFT });
    expect(await poolRecord(pool.id)).toMatchObject({
      subdomain,
      rpmCap: 60,
      paidUntil: period.endsAt.getTime(),
      models: [
        { name: 'flagship-max', prices: { default: { base: '600000', ratio: '1', price: '600000' } } },
        { name: 'flagship' },
        { name: 'coder-max' },
        { name: 'coder' },
        { name: 'reasoner' },
      ],
    });
  });

  it('succeeds once for fifty concurrent requests with cash for one', async () => {
    const buyer = await market.buyer(BASE + BASE / 2n);
    const before = await counts();
    const quotes = await Promise.all(Array.from({ length: 49 }, () => market.quote(buyer)));
    const outcomes = await Promise.all(
      [...quotes, quotes[0]].map((quote) => codeOf(market.buy(buyer, { quoteId: quote?.id ?? '' }))),
    );
    const after = await counts();
    expect(outcomes.filter((code) => code === 'done')).toHaveLength(1);
    expect(new Set(outcomes)).toEqual(
      new Set(
        outcomes.includes('CONFLICT')
          ? ['done', 'INSUFFICIENT_BALANCE', 'CONFLICT']
          : ['done', 'INSUFFICIENT_BALANCE'],
      ),
    );
    expect(after.map((count, at) => count - (before[at] ?? 0))).toEqual([1, 3, 1, 1, 1, 1, 1]);
    expect(await market.balances(buyer.walletId)).toEqual({ cash: BASE / 2n, gift: GIFT });
  });

  it('is made once per idempotency key, which is refused with another input', async () => {
    const buyer = await market.buyer(2n * BASE);
    const quote = await market.quote(buyer);
    const input = {
      quoteId: quote.id,
      name: 'Team',
      subdomain: freshName(),
      autoRenew: false,
      expectedTotal: BASE,
      idempotencyKey: randomUUID(),
    };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => purchasePool(market.em(), buyer, input)),
    );
    expect(new Set(answers.map(({ pool }) => pool.id)).size).toBe(1);
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await market.balances(buyer.walletId)).toEqual({ cash: BASE, gift: GIFT });
    const other = purchasePool(market.em(), buyer, { ...input, name: 'Other' });
    expect(await codeOf(other)).toBe('IDEMPOTENCY_MISMATCH');
  });

  it('gives a subdomain to one of several concurrent buyers', async () => {
    const buyers = await Promise.all(Array.from({ length: 12 }, () => market.buyer(BASE)));
    const subdomain = freshName();
    const outcomes = await Promise.all(buyers.map((buyer) => codeOf(market.buy(buyer, { subdomain }))));
    expect(outcomes.toSorted()).toEqual([...Array(11).fill('SUBDOMAIN_TAKEN'), 'done']);
  });

  it('is refused once the storefront is closed, also if it closes during the purchase', async () => {
    const buyer = await market.buyer(BASE);
    const quote = await market.quote(buyer);
    let outcome: Promise<string> | undefined;
    await inTransaction(market.em(), async (em) => {
      await query(em, sql`update storefront set state = 'CLOSED'`);
      outcome = codeOf(market.buy(buyer, { quoteId: quote.id }));
      await waitForLock();
    });
    expect(await outcome).toBe('STOREFRONT_CLOSED');
    expect(await codeOf(market.quote(buyer))).toBe('STOREFRONT_CLOSED');
    await market.setStorefront('OPEN');
    expect(await codeOf(market.buy(buyer, { quoteId: quote.id }))).toBe('done');
  });

  it('is refused with stable codes for an invalid quote, total or subdomain', async () => {
    const buyer = await market.buyer(3n * BASE);
    const [old, dear, used] = await Promise.all([
      market.quote(buyer),
      market.quote(buyer),
      market.quote(buyer),
    ]);
    await query(market.em(), sql`update pool_quotes set expires_at = now() where id = ${old.id}`);
    expect(await codeOf(market.buy(buyer, { quoteId: old.id }))).toBe('QUOTE_EXPIRED');
    expect(await codeOf(market.buy(buyer, { quoteId: dear.id, expectedTotal: 1n }))).toBe('PRICE_CHANGED');
    await market.buy(buyer, { quoteId: used.id });
    expect(await codeOf(market.buy(buyer, { quoteId: used.id }))).toBe('CONFLICT');
    expect(await codeOf(market.buy(await market.buyer(BASE), { quoteId: dear.id }))).toBe('NOT_FOUND');
    for (const [subdomain, code] of [
      ['ab', 'INVALID'],
      ['a'.repeat(33), 'INVALID'],
      ['-abc', 'INVALID'],
      ['abc-', 'INVALID'],
      ['xn--abc', 'INVALID'],
      ['a.bc', 'INVALID'],
      ['admin', 'SUBDOMAIN_RESERVED'],
      ['Graph-QL', 'SUBDOMAIN_RESERVED'],
      ['4dm1n', 'done'],
      ['adm1n', 'SUBDOMAIN_RESERVED'],
      ['s1gn-1n', 'SUBDOMAIN_RESERVED'],
    ] as const) {
      const outcome = await codeOf(market.buy(await market.buyer(BASE), { subdomain }));
      expect([subdomain, outcome]).toEqual([subdomain, code]);
    }
  });

  it('is refused if a model was retired between quote and purchase', async () => {
    const buyer = await market.buyer(BASE);
    const quote = await market.quote(buyer);
    const change = { id: quote.modelIds[1] ?? '', reason: 'test' };
    await setModelState(market.em(), { ...change, state: 'RETIRED' }, SYSTEM_ACTOR);
    expect(await codeOf(market.buy(buyer, { quoteId: quote.id }))).toBe('MODEL_UNAVAILABLE');
    await setModelState(market.em(), { ...change, state: 'PUBLISHED' }, SYSTEM_ACTOR);
    expect(await codeOf(market.buy(buyer, { quoteId: quote.id }))).toBe('done');
  });

  it('is paid from cash only, and not from a frozen wallet', async () => {
    const { userId, walletId } = await market.wallet({ cash: BASE - 1n, gift: 10n * BASE });
    const poor = { userId, walletId, actor: SYSTEM_ACTOR };
    expect(await codeOf(market.buy(poor))).toBe('INSUFFICIENT_BALANCE');
    const frozen = await market.buyer(BASE);
    await clawBack(market.em(), {
      walletId: frozen.walletId,
      amount: BASE + 1n,
      kind: 'DISPUTE_HOLD',
      reference: `dispute:${frozen.walletId}`,
      actor: SYSTEM_ACTOR,
      description: 'test',
    });
    expect(await codeOf(market.buy(frozen))).toBe('WALLET_FROZEN');
  });
});

describe('a purchase whose cash is in leases', () => {
  it('recalls the leases and is paid once they are closed', async () => {
    const buyer = await market.buyer(BASE);
    const node = await market.node();
    const price = 250_000n;
    const request = { ...node, walletId: buyer.walletId, keyId: null, requestNo: 1, waiting: 0n };
    const lease = await requestLease(market.em(), { ...request, need: price, want: BASE });
    expect(lease.cash).toBeGreaterThan(0n);
    const bought = codeOf(market.buy(buyer));
    await vi.waitFor(
      async () => {
        const row = await queryOne<{ recalled: boolean }>(
          market.em(),
          sql`select recalled_at is not null as recalled from wallet_lease where id = ${lease.id}`,
        );
        expect(row?.recalled).toBe(true);
      },
      { timeout: 20_000 },
    );
    await closeLease(market.em(), { ...node, leaseId: lease.id, count: 0, sum: 0n, actor: SYSTEM_ACTOR });
    expect(await bought).toBe('done');
    expect(await market.balances(buyer.walletId)).toEqual({ cash: 0n, gift: GIFT });
  });

  it('is refused if the leases were spent', async () => {
    const buyer = await market.buyer(BASE);
    const node = await market.node();
    const price = 250_000n;
    const request = { ...node, walletId: buyer.walletId, keyId: null, requestNo: 1, waiting: 0n };
    const lease = await requestLease(market.em(), { ...request, need: price, want: BASE });
    const charge = { journalId: node.journalId, seq: 1, leaseId: lease.id, walletId: buyer.walletId };
    await settle(market.em(), {
      node: { ...SYSTEM_ACTOR, id: node.nodeId },
      records: [reported({ ...charge, cost: price })],
    });
    expect(await codeOf(market.buy(buyer))).toBe('INSUFFICIENT_BALANCE');
    expect(await market.balances(buyer.walletId)).toMatchObject({ gift: 0n });
  });
});

interface Failing {
  /** Number of statements so far. */
  seen: () => number;
  restore: () => void;
}

describe('a purchase that fails between two statements', () => {
  /**
   * Counts the statements of all connections, and makes the n-th fail: by an error or a terminated
   * connection.
   */
  function failAt(target: number, how: 'error' | 'terminate'): Failing {
    let seen = 0;
    const original = Object.getOwnPropertyDescriptor(pg.Client.prototype, 'query')?.value as (
      this: pg.Client,
      ...parameters: unknown[]
    ) => Promise<unknown>;
    Reflect.set(pg.Client.prototype, 'query', async function (this: pg.Client, ...parameters: unknown[]) {
      // On a live connection BEGIN does not fail, so it is only counted for terminated connections.
      if (how === 'terminate' || !/^(begin|start)/i.test(String(parameters[0]))) seen += 1;
      if (seen === target && how === 'error') throw new Error(`Statement ${target} failed.`);
      if (seen === target) await terminate(this);
      return original.apply(this, parameters);
    });
    return { seen: () => seen, restore: () => void Reflect.set(pg.Client.prototype, 'query', original) };

    async function terminate(client: pg.Client): Promise<void> {
      const pid: unknown = Reflect.get(client, 'processID');
      const killer = new pg.Client({ connectionString: market.url });
      // The statement itself fails with the same error, so the connection's error event is ignored.
      client.on('error', () => {});
      await killer.connect();
      await original.call(killer, 'select pg_terminate_backend($1)', [pid]);
      await killer.end();
    }
  }

  it.each(['error', 'terminate'] as const)(
    'is stored completely or not at all (%s)',
    async (how) => {
      const buyer = await market.buyer(BASE);
      const quote = await market.quote(buyer);
      const input = { quoteId: quote.id, subdomain: freshName(), idempotencyKey: randomUUID() };
      const before = await counts();
      let statements = 0;
      for (let target = 1; ; target += 1) {
        const { seen, restore } = failAt(target, how);
        const done = await market.buy(buyer, input).then(
          () => true,
          () => false,
        );
        statements = seen();
        restore();
        const grown = (await counts()).map((count, at) => count - (before[at] ?? 0));
        const balances = await market.balances(buyer.walletId);
        const isBought = grown[0] === 1;
        expect([target, grown, balances]).toEqual(
          isBought
            ? [target, [1, 3, 1, 1, 1, 1, 1], { cash: 0n, gift: GIFT }]
            : [target, [0, 0, 0, 0, 0, 0, 0], { cash: BASE, gift: 0n }],
        );
        // A successful answer means that the purchase is stored; after a failure it may be, if the commit
        // succeeded.
        if (done) expect(isBought).toBe(true);
        if (isBought) break;
      }
      expect(statements).toBeGreaterThan(20);
      const again = await market.buy(buyer, input);
      expect(again.replayed).toBe(true);
      expect(await market.balances(buyer.walletId)).toEqual({ cash: 0n, gift: GIFT });
    },
    120_000,
  );
});

/** Resolves when a transaction waits for a lock. */
async function waitForLock(): Promise<void> {
  await vi.waitFor(
    async () => {
      const row = await queryOne<{ waiting: number }>(
        market.em(),
        sql`select count(*)::integer as waiting from pg_locks where not granted`,
      );
      expect(row?.waiting).toBeGreaterThan(0);
    },
    { timeout: 20_000 },
  );
}
