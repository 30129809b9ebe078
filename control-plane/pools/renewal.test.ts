/** Tests of the life of a pool: renewals, notices, its end, frozen models, and changes by administrators. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { BASE, codeOf, freshName, GIFT, openMarket } from '../../test/pools-fixture.ts';
import type { Market } from '../../test/pools-fixture.ts';
import { setModelState, upsertModel } from '../catalog/catalog.service.ts';
import { ModelSchema } from '../catalog/model.entity.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { keyById } from '../keys/key.queries.ts';
import { currentDisabledReason } from '../keys/key.record.ts';
import { createKey, enableKey, disableKey, revealKey } from '../keys/key.service.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { debitGift } from '../wallet/movements.ts';
import { changePool } from './pool.admin.ts';
import type { PoolRow } from './pool.entity.ts';
import { runPoolJobs } from './pool.jobs.ts';
import { poolById, countPoolsWithModel } from './pool.queries.ts';
import { stateOf } from './pool.rules.ts';
import { updatePool } from './pool.service.ts';
import { renewPool } from './purchase.service.ts';
import type { Buyer } from './purchase.service.ts';
import { quoteRenewal } from './quote.service.ts';
import { availabilityOf } from './subdomain.service.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

let market: Market;
beforeAll(async () => {
  market = await openMarket();
});
afterEach(async () => {
  expect(await market.violations()).toEqual([]);
});
afterAll(() => market.close());

const poolNow = async (id: string): Promise<PoolRow> => {
  const pool = await poolById(market.em(), id);
  if (!pool) throw new Error(`There is no pool ${id}.`);
  return pool;
};

const notices = async (poolId: string): Promise<string[]> =>
  (
    await query<{ notice: string }>(
      market.em(),
      sql`select notice from pool_notices where pool_id = ${poolId} order by at, notice`,
    )
  ).map((row) => row.notice);

async function poolOf(buyer: Buyer, endIn?: string): Promise<PoolRow> {
  const { pool } = await market.buy(buyer);
  if (endIn) await market.endIn(pool.id, endIn);
  return poolNow(pool.id);
}

const viewerOf = ({ userId }: Buyer) => ({
  id: userId,
  email: 'somebody@example.com',
  role: 'USER' as const,
  allowedGroups: ['default' as const],
  session: null,
  token: null,
});

async function keyOf(buyer: Buyer, poolId: string): Promise<string> {
  const draft = { name: 'pool key', group: 'default' as const, poolId, idempotencyKey: randomUUID() };
  const { key } = await createKey(market.em(), viewerOf(buyer), draft);
  await revealKey(market.em(), buyer.userId, key.id);
  return key.id;
}

const reason = async (keyId: string): Promise<string | null> => {
  const key = await keyById(market.em(), keyId);
  if (!key) throw new Error(`There is no key ${keyId}.`);
  return currentDisabledReason(key, new Date());
};

describe('a renewal', () => {
  it('starts at the old end, keeps subdomain and models, and needs no open storefront', async () => {
    const buyer = await market.buyer(2n * BASE);
    const pool = await poolOf(buyer, '5 days');
    await market.setStorefront('CLOSED');
    const { period, pool: after } = await market.renew(buyer, pool.id);
    await market.setStorefront('OPEN');
    expect(period.number).toBe(2);
    expect(period.startsAt).toEqual(pool.endsAt);
    expect(after.endsAt.getTime() - pool.endsAt.getTime()).toBe(30 * DAY_MS);
    expect([after.id, after.subdomain]).toEqual([pool.id, pool.subdomain]);
    expect(await market.balances(buyer.walletId)).toEqual({ cash: 0n, gift: 2n * GIFT });
    const record = await queryOne<{ until: string }>(
      market.em(),
      sql`select payload->>'paidUntil' as until from config_log where kind = 'POOL' and key = ${pool.id}`,
    );
    expect(Number(record?.until)).toBe(after.endsAt.getTime());
  });

  it('is paid once if several quotes for the same end are bought at once', async () => {
    const buyer = await market.buyer(5n * BASE);
    const pool = await poolOf(buyer, '5 days');
    const quotes = await Promise.all([1, 2, 3].map(() => quoteRenewal(market.em(), buyer.userId, pool.id)));
    const outcomes = await Promise.all(
      quotes.map((quote) =>
        codeOf(
          renewPool(market.em(), buyer, {
            poolId: pool.id,
            quoteId: quote.id,
            expectedTotal: quote.total,
            idempotencyKey: randomUUID(),
          }),
        ),
      ),
    );
    expect(outcomes.toSorted()).toEqual(['CONFLICT', 'CONFLICT', 'done']);
    expect((await poolNow(pool.id)).endsAt.getTime() - pool.endsAt.getTime()).toBe(30 * DAY_MS);
  });

  it('starts now if the pool has ended, and is refused after fourteen days', async () => {
    const buyer = await market.buyer(4n * BASE);
    const pool = await poolOf(buyer, '-13 days');
    const { period } = await market.renew(buyer, pool.id);
    expect(period.startsAt.getTime()).toBeGreaterThan(pool.endsAt.getTime() + 12 * DAY_MS);
    await market.endIn(pool.id, '-15 days');
    expect(await codeOf(market.renew(buyer, pool.id))).toBe('POOL_EXPIRED');
  });

  it('is refused to other users', async () => {
    const pool = await poolOf(await market.buyer(BASE));
    expect(await codeOf(market.renew(await market.buyer(BASE), pool.id))).toBe('NOT_FOUND');
  });
});

describe('automatic renewal', () => {
  const autoRenew = async (buyer: Buyer, endIn: string): Promise<PoolRow> => {
    const pool = await poolOf(buyer);
    await updatePool(market.em(), buyer.userId, { id: pool.id, version: pool.version, autoRenew: true });
    await market.endIn(pool.id, endIn);
    return poolNow(pool.id);
  };

  it('charges once when several control planes run the job', async () => {
    const buyer = await market.buyer(5n * BASE);
    const pool = await autoRenew(buyer, '23 hours');
    await Promise.all([1, 2, 3, 4].map(() => runPoolJobs(market.em())));
    await runPoolJobs(market.em());
    const after = await poolNow(pool.id);
    expect(after.endsAt.getTime() - pool.endsAt.getTime()).toBe(30 * DAY_MS);
    expect(await market.balances(buyer.walletId)).toEqual({ cash: 3n * BASE, gift: 2n * GIFT });
    expect(await notices(pool.id)).not.toContain('RENEWAL_24H_FAILED');
  });

  it('waits until a day before the end, and ignores pools without automatic renewal', async () => {
    const buyer = await market.buyer(4n * BASE);
    const pools = [await autoRenew(buyer, '25 hours'), await poolOf(buyer, '30 minutes')];
    await runPoolJobs(market.em());
    expect(await market.balances(buyer.walletId)).toMatchObject({ cash: 2n * BASE });
    for (const pool of pools) expect((await poolNow(pool.id)).endsAt).toEqual(pool.endsAt);
  });

  it('fails for one pool without stopping the renewal of others', async () => {
    const owner = await market.buyer(4n * BASE);
    const broken = await autoRenew(owner, '21 hours');
    const pool = await autoRenew(owner, '22 hours');
    const number = sql`update pool_periods set number = 3 where pool_id = ${broken.id}`;
    await query(market.em(), number);
    await query(
      market.em(),
      sql`insert into pool_periods (id, pool_id, number, quote_id, starts_at, ends_at, paid, gift_granted)
        select ${`per_${randomUUID()}`}, pool_id, 5, ${(await market.quote(owner)).id}, starts_at, ends_at,
          0, 0
        from pool_periods where pool_id = ${broken.id}`,
    );
    await expect(runPoolJobs(market.em())).rejects.toThrow();
    expect((await poolNow(broken.id)).endsAt).toEqual(broken.endsAt);
    expect((await poolNow(pool.id)).endsAt.getTime() - pool.endsAt.getTime()).toBe(30 * DAY_MS);
    await query(market.em(), sql`update pools set auto_renew = false where id = ${broken.id}`);
  });

  it('is attempted twice without enough cash, and each notice names the shortfall', async () => {
    const buyer = await market.buyer(BASE + 1n);
    const pool = await autoRenew(buyer, '23 hours');
    await Promise.all([1, 2, 3].map(() => runPoolJobs(market.em())));
    expect((await notices(pool.id)).filter((name) => name.startsWith('RENEWAL'))).toEqual([
      'RENEWAL_24H_FAILED',
    ]);
    await market.endIn(pool.id, '50 minutes');
    await runPoolJobs(market.em());
    await runPoolJobs(market.em());
    const failures = await query<{ notice: string; detail: string }>(
      market.em(),
      sql`select notice, detail from pool_notices where pool_id = ${pool.id} and notice like 'RENEWAL%'`,
    );
    expect(failures.map(({ notice }) => notice).toSorted()).toEqual([
      'RENEWAL_1H_FAILED',
      'RENEWAL_24H_FAILED',
    ]);
    expect(failures[0]?.detail).toContain('98.999999');
    expect(await market.balances(buyer.walletId)).toMatchObject({ cash: 1n });
  });
});

describe('the end of a pool', () => {
  it('is announced a week, three days and a day before, and when it has come, once each', async () => {
    const buyer = await market.buyer(BASE);
    const pool = await poolOf(buyer);
    for (const [endIn, wanted] of [
      ['8 days', []],
      ['6 days', ['DAYS_7']],
      ['2 days', ['DAYS_7', 'DAYS_3']],
      ['3 hours', ['DAYS_7', 'DAYS_3', 'HOURS_24']],
      ['-1 minute', ['DAYS_7', 'DAYS_3', 'HOURS_24', 'ENDED']],
    ] as const) {
      await market.endIn(pool.id, endIn);
      await Promise.all([runPoolJobs(market.em()), runPoolJobs(market.em())]);
      expect([endIn, await notices(pool.id)]).toEqual([endIn, wanted]);
    }
    expect((await poolNow(pool.id)).state).toBe('EXPIRED');
  });

  it('disables its keys and refuses new ones; a renewal enables the keys again', async () => {
    const buyer = await market.buyer(2n * BASE);
    const pool = await poolOf(buyer);
    const [key, disabled] = [await keyOf(buyer, pool.id), await keyOf(buyer, pool.id)];
    await disableKey(market.em(), buyer.userId, { id: disabled, leaked: false });
    expect(await reason(key)).toBeNull();
    await market.endIn(pool.id, '-1 second');
    expect([await reason(key), await reason(disabled)]).toEqual(['POOL_EXPIRED', 'OWNER']);
    expect(await codeOf(keyOf(buyer, pool.id))).toBe('POOL_EXPIRED');
    await runPoolJobs(market.em());
    await market.renew(buyer, pool.id);
    expect(stateOf(await poolNow(pool.id), new Date())).toBe('ACTIVE');
    expect([await reason(key), await reason(disabled)]).toEqual([null, 'OWNER']);
    await enableKey(market.em(), buyer.userId, disabled);
    expect(await reason(disabled)).toBeNull();
  });

  it('keeps the subdomain for its owner for fourteen days, then removes it from the nodes', async () => {
    const [buyer, other] = [await market.buyer(3n * BASE), await market.buyer(3n * BASE)];
    const pool = await poolOf(buyer, '-13 days');
    const available = async (who: Buyer): Promise<boolean> =>
      (await availabilityOf(market.em(), who.userId, pool.subdomain)).available;
    expect([await available(buyer), await available(other)]).toEqual([true, false]);
    expect(await codeOf(market.buy(other, { subdomain: pool.subdomain }))).toBe('SUBDOMAIN_TAKEN');
    await market.endIn(pool.id, '-15 days');
    expect([await available(buyer), await available(other)]).toEqual([true, true]);
    await runPoolJobs(market.em());
    expect((await poolNow(pool.id)).holdsSubdomain).toBe(false);
    const { pool: next } = await market.buy(other, { subdomain: pool.subdomain });
    const records = await query<{ key: string; removed: boolean }>(
      market.em(),
      sql`select key, removed from config_log
      where kind = 'POOL' and key in (${pool.id}, ${next.id}) order by key`,
    );
    expect(records).toEqual([
      { key: pool.id, removed: true },
      { key: next.id, removed: false },
    ]);
    expect(await codeOf(market.renew(buyer, pool.id))).toBe('POOL_EXPIRED');
  });
});

describe('frozen models', () => {
  it('stay as they were bought when the catalog changes', async () => {
    const buyer = await market.buyer(BASE);
    const { pool } = await market.buy(buyer);
    const frozen = async (): Promise<unknown> =>
      (
        await queryOne<{ models: unknown }>(
          market.em(),
          sql`select payload->'models' as models from config_log where kind = 'POOL' and key = ${pool.id}`,
        )
      )?.models;
    const before = await frozen();
    const [id = ''] = market.models;
    const model = await market.em().findOneOrFail(ModelSchema, { id });
    await upsertModel(
      market.em(),
      { ...model, pricePerRequest: 9_000_000n, displayName: 'Renamed', reason: 'test' },
      SYSTEM_ACTOR,
    );
    await setModelState(market.em(), { id, state: 'RETIRED', reason: 'test' }, SYSTEM_ACTOR);
    const current = await poolNow(pool.id);
    await updatePool(market.em(), buyer.userId, { id: pool.id, version: current.version, name: 'Other' });
    expect(await frozen()).toEqual(before);
    expect(await countPoolsWithModel(market.em(), id)).toBeGreaterThan(0);
    for (const statement of [
      sql`update pool_models set record = '{}' where pool_id = ${pool.id}`,
      sql`delete from pool_models where pool_id = ${pool.id}`,
    ])
      await expect(query(market.em(), statement)).rejects.toThrow('frozen');
    await setModelState(market.em(), { id, state: 'PUBLISHED', reason: 'test' }, SYSTEM_ACTOR);
  });

  it('are the only models that a key of the pool can be limited to', async () => {
    const buyer = await market.buyer(BASE);
    const { pool } = await market.buy(buyer);
    const draft = { name: 'x', group: 'default' as const, poolId: pool.id };
    const make = (allowedModelIds: string[]): Promise<string> =>
      codeOf(
        createKey(market.em(), viewerOf(buyer), { ...draft, allowedModelIds, idempotencyKey: randomUUID() }),
      );
    expect(await make(market.models.slice(0, 2))).toBe('done');
    expect(await make(market.models.slice(2, 4))).toBe('NOT_FOUND');
    const stranger = viewerOf(await market.buyer(0n));
    expect(await codeOf(createKey(market.em(), stranger, { ...draft, idempotencyKey: randomUUID() }))).toBe(
      'NOT_FOUND',
    );
  });
});

describe('a change by an administrator', () => {
  const change = async (id: string, what: object): Promise<PoolRow> =>
    changePool(
      market.em(),
      { id, version: (await poolNow(id)).version, reason: 'test', ...what },
      SYSTEM_ACTOR,
    );

  it('sets the cap and adds days, also to a pool that has just ended', async () => {
    const pool = await poolOf(await market.buyer(BASE), '-1 day');
    const after = await change(pool.id, { rpmCap: 600, extendDays: 3 });
    expect([after.rpmCap, after.state]).toEqual([600, 'EXPIRING']);
    expect(after.endsAt.getTime() - pool.endsAt.getTime()).toBe(3 * DAY_MS);
    const stale = changePool(market.em(), { id: pool.id, version: 1, rpmCap: 1, reason: 'x' }, SYSTEM_ACTOR);
    expect(await codeOf(stale)).toBe('STALE_VERSION');
    expect(await codeOf(change(pool.id, { rpmCap: 0 }))).toBe('INVALID');
  });

  it('cancels the pool with a refund of the unused share, minus spent gift credit', async () => {
    const half = '15 days';
    const buyer = await market.buyer(BASE);
    const pool = await poolOf(buyer, half);
    const cancelled = await change(pool.id, { cancel: true });
    expect(cancelled.state).toBe('CANCELLED');
    const { cash, gift } = await market.balances(buyer.walletId);
    expect(Number(cash)).toBeCloseTo(Number(BASE / 2n), -5);
    expect(Number(gift)).toBeCloseTo(Number(GIFT / 2n), -5);
    expect(await codeOf(change(pool.id, { cancel: true }))).toBe('CONFLICT');
    expect(await codeOf(market.renew(buyer, pool.id))).toBe('POOL_EXPIRED');

    const spender = await market.buyer(BASE);
    const second = await poolOf(spender, half);
    await debitGift(market.em(), {
      walletId: spender.walletId,
      amount: GIFT,
      kind: 'ADJUSTMENT',
      reference: `spent:${spender.walletId}`,
      actor: SYSTEM_ACTOR,
      description: 'test',
    });
    await change(second.id, { cancel: true });
    const left = await market.balances(spender.walletId);
    expect(left.gift).toBe(0n);
    expect(Number(left.cash)).toBeCloseTo(Number(BASE / 2n - GIFT / 2n), -5);
  });

  it('refunds nothing for days that were added free of charge', async () => {
    const buyer = await market.buyer(2n * BASE);
    const pool = await poolOf(buyer, '1 minute');
    await change(pool.id, { extendDays: 300 });
    await change(pool.id, { cancel: true });
    const { cash, gift } = await market.balances(buyer.walletId);
    expect(cash - BASE).toBeLessThan(BASE / 1000n);
    expect(GIFT - gift).toBeLessThan(GIFT / 1000n);
  });

  it('lets the owner take the subdomain of a cancelled pool again', async () => {
    const buyer = await market.buyer(3n * BASE);
    const subdomain = freshName();
    const { pool } = await market.buy(buyer, { subdomain });
    await change(pool.id, { cancel: true });
    expect(await codeOf(market.buy(buyer, { subdomain }))).toBe('done');
  });
});
