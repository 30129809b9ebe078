/** Property tests: summaries from stored sums equal the sums over the rows of the usage log. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { countUsage } from './count.service.ts';
import type { ReportedUsage } from './settlement.rules.ts';
import { settle } from './settlement.service.ts';
import { summarise, totalsBeforeOfKeys } from './summary.service.ts';
import type { BucketWidth, Dimension } from './summary.sets.ts';
import { checkInvariants } from '../wallet/invariants.ts';
import { ofWallet, whereOf } from './usage.service.ts';
import type { UsageConditions } from './usage.service.ts';

const HOUR_MS = 3_600_000;
/** Four weeks, so that ranges contain whole weeks. */
const SPREAD_HOURS = 30 * 24;
const ROWS = 300;
const MODELS = ['swift', 'budget', 'coder'];
const STATUSES = ['SUCCEEDED', 'FAILED', 'CANCELLED'] as const;
/** Leaves time to shrink a failing example. */
const FOR_EXAMPLES_MS = 120_000;

let money: Money;
let users: string[];
const now = Date.now();

beforeAll(async () => {
  money = await openMoney();
  await query(money.em(), sql`select usage_make_partitions(now() - interval '32 days', now())`);
  const wallets = [await money.wallet({}), await money.wallet({})];
  users = wallets.map((wallet) => wallet.userId);
  const { nodeId } = await money.node();
  const records = Array.from({ length: ROWS }, (_, index): ReportedUsage =>
    reported({
      journalId: null,
      leaseId: null,
      seq: null,
      cost: 0n,
      walletId: wallets[index % 2]?.walletId ?? '',
      keyId: `key_${index % 5}`,
      poolId: index % 7 === 0 ? 'pool_1' : null,
      modelName: MODELS[index % MODELS.length] ?? '',
      status: STATUSES[index % 4] ?? 'SUCCEEDED',
      at: new Date(now - ((index * 7919) % (SPREAD_HOURS * HOUR_MS))),
      inputTokens: index,
      outputTokens: index % 3 === 0 ? null : 2 * index,
      cachedTokens: index % 5 === 0 ? null : Math.floor(index / 2),
    }),
  );
  await settle(money.em(), { node: { ...SYSTEM_ACTOR, kind: 'NODE', id: nodeId }, records });
});
afterAll(() => money.close());

const spans = fc
  .tuple(
    fc.integer({ min: 0, max: SPREAD_HOURS * HOUR_MS }),
    fc.integer({ min: 1, max: SPREAD_HOURS * HOUR_MS }),
  )
  .map(([back, length]) => ({ from: new Date(now - back - length), to: new Date(now - back) }));

const conditions = fc.record(
  {
    modelNames: fc.subarray(MODELS, { minLength: 1 }),
    keyIds: fc.subarray(['key_0', 'key_1', 'key_2', 'key_3', 'key_4'], { minLength: 1 }),
    poolIds: fc.constantFrom(['pool_1'], [''], ['', 'pool_1']),
    statuses: fc.subarray([...STATUSES], { minLength: 1 }),
    userId: fc.integer({ min: 0, max: 1 }).map((index) => users[index] ?? ''),
  },
  { requiredKeys: [] },
);

async function counted(wanted: UsageConditions, range: { from: Date; to: Date }): Promise<unknown> {
  const own = await ofWallet(money.em(), wanted);
  return queryOne(
    money.em(),
    sql`select count(*)::integer as requests,
      count(*) filter (where status <> 'SUCCEEDED')::integer as failed,
      coalesce(sum(input_tokens), 0)::text as "inputTokens",
      coalesce(sum(output_tokens), 0)::text as "outputTokens",
      coalesce(sum(cached_tokens), 0)::text as "cachedTokens"
    from usage_entry where ${whereOf({ ...own, range })}`,
  );
}

describe('a summary', { timeout: FOR_EXAMPLES_MS }, () => {
  it('equals the sums over the rows of the log, for any range and filter', async () => {
    const dimensions: Dimension[] = ['MODEL', 'KEY', 'POOL', 'SOURCE', 'STATUS', 'GROUP', 'USER'];
    await fc.assert(
      fc.asyncProperty(
        spans,
        conditions,
        fc.subarray(dimensions, { maxLength: 3 }),
        fc.constantFrom<BucketWidth[]>('HOUR', 'DAY', 'WEEK', 'MONTH'),
        async (range, wanted, groupBy, bucket) => {
          const request = { range, conditions: wanted, groupBy, bucket };
          const { totals, groups, series } = await summarise(money.em(), request);
          expect(totals).toMatchObject((await counted(wanted, range)) as object);
          const sum = (list: { totals: { requests: number } }[]): number =>
            list.reduce((total, one) => total + one.totals.requests, 0);
          expect(sum(series)).toBe(totals.requests);
          if (groupBy.length > 0) expect(sum(groups)).toBe(totals.requests);
          expect(await countUsage(money.em(), { ...wanted, range })).toBe(totals.requests);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('computes the totals of the preceding range, for any range and filter and for each key', async () => {
    await fc.assert(
      fc.asyncProperty(spans, conditions, async (range, wanted) => {
        const lengthMs = range.to.getTime() - range.from.getTime();
        const before = { from: new Date(range.from.getTime() - lengthMs), to: range.from };
        const request = { range, conditions: wanted, groupBy: [], bucket: null };
        const summary = await summarise(money.em(), request);
        expect(await summary.before()).toMatchObject((await counted(wanted, before)) as object);
        const keys = await totalsBeforeOfKeys(money.em(), ['key_3', 'key_none'], range);
        expect(keys.get('key_3')).toMatchObject((await counted({ keyIds: ['key_3'] }, before)) as object);
        expect(keys.get('key_none')).toMatchObject({ requests: 0, cost: 0n });
      }),
      { numRuns: 30 },
    );
  });

  it('has the sums and points of every user, for any range and bucket', async () => {
    await fc.assert(
      fc.asyncProperty(
        spans,
        fc.constantFrom<BucketWidth[]>('HOUR', 'DAY', 'WEEK', 'MONTH'),
        async (range, bucket) => {
          const everybody = { range, conditions: {}, groupBy: ['USER' as const], bucket };
          const { groups, series } = await summarise(money.em(), everybody);
          for (const userId of users) {
            const own = (await counted({ userId }, range)) as { requests: number };
            const group = groups.find(({ key }) => key === userId);
            if (own.requests === 0) expect(group).toBeUndefined();
            else expect(group?.totals).toMatchObject(own);
            const alone = { range, conditions: { userId }, groupBy: [], bucket };
            const points = (await summarise(money.em(), alone)).series;
            const those = series.filter(({ key }) => key === userId);
            expect(those.map(({ at, totals }) => ({ at, totals }))).toEqual(
              points.map(({ at, totals }) => ({ at, totals })),
            );
          }
        },
      ),
      { numRuns: 40 },
    );
    expect(await checkInvariants(money.em())).toEqual([]);
  });

  it('names users by their ids in groups', async () => {
    const range = { from: new Date(now - 2 * SPREAD_HOURS * HOUR_MS), to: new Date(now + HOUR_MS) };
    const { groups } = await summarise(money.em(), {
      range,
      conditions: {},
      groupBy: ['USER', 'STATUS'],
      bucket: null,
    });
    expect(new Set(groups.map((group) => group.key.split('/')[0]))).toEqual(new Set(users));
  });
});
