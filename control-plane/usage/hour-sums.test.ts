/** Times of requests, and traffic of upstreams and nodes, equal what the rows of the usage log say. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LOST_RACE } from '@gateway/shared/attempts';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { query, sql } from '../database/sql.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { sumUpAllHours, sumUpHours } from './hour-sums.service.ts';
import type { ReportedUsage } from './settlement.rules.ts';
import { settle } from './settlement.service.ts';
import { summarise } from './summary.service.ts';
import type { BucketWidth, Dimension } from './summary.sets.ts';
import type { Percentiles } from './timing.buckets.ts';
import { timingsOfKeys } from './timing.service.ts';
import type { SummaryTimings } from './timing.service.ts';
import { trafficOf } from './traffic.service.ts';
import type { UsageConditions } from './usage.service.ts';

const HOUR_MS = 3_600_000;
const SPREAD_HOURS = 40;
const ROWS = 240;
const MODELS = ['swift', 'budget'];
const STATUSES = ['SUCCEEDED', 'SUCCEEDED', 'FAILED'] as const;
const TOLERANCE = 0.033;
/** Leaves time to shrink a failing example. */
const FOR_EXAMPLES_MS = 120_000;
/** Start of the current hour, so that no row of this test lies in the future. */
const hour = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;

let money: Money;
let wallets: { userId: string; walletId: string }[];
let nodeIds: string[];
let records: ReportedUsage[];

beforeAll(async () => {
  money = await openMoney();
  await query(money.em(), sql`select usage_make_partitions(now() - interval '3 days', now())`);
  wallets = [await money.wallet({}), await money.wallet({})];
  nodeIds = [(await money.node()).nodeId, (await money.node()).nodeId];
  records = Array.from({ length: ROWS }, (_, index) => recordOf(index));
  for (const [at, nodeId] of nodeIds.entries())
    await settleAt(
      nodeId,
      records.filter((_, index) => index % 2 === at),
    );
  await sumUpHours(money.em());
}, FOR_EXAMPLES_MS);
afterAll(() => money.close());

function recordOf(index: number): ReportedUsage {
  return reported({
    ...{ journalId: null, leaseId: null, seq: null, cost: 0n },
    walletId: wallets[index % 2]?.walletId ?? '',
    keyId: `key_${index % 3}`,
    modelName: MODELS[index % MODELS.length] ?? '',
    status: STATUSES[index % STATUSES.length] ?? 'SUCCEEDED',
    at: new Date(hour - ((index * 7919) % (SPREAD_HOURS * HOUR_MS))),
    latencyMs: (index * index * 13) % 90_000,
    ttftMs: index % 5 === 0 ? null : (index * 17) % 3000,
    ip: index % 2 === 0 ? '192.0.2.7' : '192.0.2.8',
  });
}

async function settleAt(nodeId: string, of: readonly ReportedUsage[]): Promise<void> {
  await settle(money.em(), { node: { ...SYSTEM_ACTOR, kind: 'NODE', id: nodeId }, records: of });
}

const SUMS = ['usage_timing', 'usage_timing_all', 'traffic_hour', 'traffic_timing', 'extra_request_hour'];

/** An hour of `day` that has sums. */
const summedHour = new Date(hour - 5 * HOUR_MS);

/** Deletes the sums of an hour. Returns the number of rows that they were computed from. */
async function forget(at: Date): Promise<{ requests: string }[]> {
  for (const table of SUMS)
    await query(money.em(), { text: `delete from ${table} where hour = $1`, values: [at] });
  return query(money.em(), sql`delete from hour_summed where hour = ${at} returning requests`);
}

/** Number of rows of each table from more than 400 days ago. */
async function oldSums(): Promise<number[]> {
  const counts = [];
  for (const table of [...SUMS, 'hour_summed']) {
    const text = `select from ${table} where hour < now() - interval '400 days'`;
    counts.push((await query(money.em(), { text, values: [] })).length);
  }
  return counts;
}

async function timesOfDay(): Promise<SummaryTimings> {
  const request = { range: day, conditions: {}, groupBy: [], bucket: null };
  return (await summarise(money.em(), request)).timings();
}

const day = { from: new Date(hour - 24 * HOUR_MS), to: new Date(hour + HOUR_MS) };
const DAY_BUCKET = 'DAY';

/** The nearest rank of each percentile among these times. */
function ranksOf(times: readonly number[]): Percentiles | null {
  const sorted = times.toSorted((left, right) => left - right);
  const rank = (percent: number): number => sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? 0;
  if (sorted.length === 0) return null;
  return { requests: sorted.length, p50Ms: rank(50), p95Ms: rank(95), p99Ms: rank(99) };
}

function expectNear(found: Percentiles | null | undefined, times: readonly number[]): void {
  const expected = ranksOf(times);
  expect(found?.requests).toBe(expected?.requests);
  for (const name of ['p50Ms', 'p95Ms', 'p99Ms'] as const)
    expect(Math.abs((found?.[name] ?? 0) - (expected?.[name] ?? 0))).toBeLessThanOrEqual(
      TOLERANCE * (expected?.[name] ?? 0),
    );
}

const timesIn = (rows: readonly ReportedUsage[]) => rows.flatMap(({ ttftMs }) => ttftMs ?? []);
const durationsIn = (rows: readonly ReportedUsage[]) => rows.map(({ latencyMs }) => latencyMs ?? 0);

describe('the times of a summary', () => {
  const conditions = fc.record(
    {
      modelNames: fc.subarray(MODELS, { minLength: 1 }),
      keyIds: fc.subarray(['key_0', 'key_1', 'key_2'], { minLength: 1 }),
      userId: fc.integer({ min: 0, max: 1 }).map((index) => wallets[index]?.userId ?? ''),
      ip: fc.constant('192.0.2.7'),
      statuses: fc.constantFrom(['SUCCEEDED' as const, 'FAILED' as const], ['FAILED' as const]),
    },
    { requiredKeys: [] },
  );

  it(
    'are those of the succeeded requests that match, in total, per bucket and per group',
    async () => {
      const hours = fc.tuple(
        fc.integer({ min: 0, max: SPREAD_HOURS }),
        fc.integer({ min: 1, max: SPREAD_HOURS }),
      );
      const buckets = fc.constantFrom<BucketWidth>('HOUR', DAY_BUCKET);
      const dimensions = fc.constantFrom<Dimension>('MODEL', 'KEY', 'USER');
      const property = fc.asyncProperty(
        conditions,
        hours,
        buckets,
        dimensions,
        async (wanted, [back, length], bucket, dimension) => {
          const range = {
            from: new Date(hour - (back + length) * HOUR_MS),
            to: new Date(hour - back * HOUR_MS),
          };
          const summary = await summarise(money.em(), {
            range,
            conditions: wanted,
            groupBy: [dimension],
            bucket,
          });
          const { totals, series, groups } = await summary.timings();
          const match = records.filter(
            (row) => row.at >= range.from && row.at < range.to && isIn(row, wanted),
          );
          expectNear(totals.duration, durationsIn(match));
          expectNear(totals.ttft, timesIn(match));
          const width = bucket === 'HOUR' ? HOUR_MS : 24 * HOUR_MS;
          const points = Map.groupBy(match, ({ at }) => Math.floor(at.getTime() / width) * width);
          expect(series.map(({ at }) => at.getTime())).toEqual([...points.keys()].toSorted((a, b) => a - b));
          for (const { at, timings } of series)
            expectNear(timings.duration, durationsIn(points.get(at.getTime()) ?? []));
          const own = Map.groupBy(match, (row) => keyOf(row, dimension));
          expect(groups.map(({ key }) => key)).toEqual([...own.keys()].toSorted());
          for (const { key, timings } of groups) expectNear(timings.ttft, timesIn(own.get(key) ?? []));
        },
      );
      await fc.assert(property, { numRuns: 40 });
    },
    FOR_EXAMPLES_MS,
  );

  it('include a request that was reported late, after the next run of the job', async () => {
    const request = { range: day, conditions: { keyIds: ['key_late'] }, groupBy: [], bucket: null };
    const found = async () => (await (await summarise(money.em(), request)).timings()).totals;
    expect(await found()).toEqual({ ttft: null, duration: null });
    await settleAt(nodeIds[0] ?? '', [
      { ...recordOf(0), keyId: 'key_late', at: new Date(hour - 5 * HOUR_MS), latencyMs: 0, ttftMs: null },
    ]);
    await sumUpHours(money.em());
    const zero = { requests: 1, p50Ms: 0, p95Ms: 0, p99Ms: 0 };
    expect(await found()).toEqual({ ttft: null, duration: zero });
  });

  it('are the same for one key and for many keys in one query', async () => {
    const keyIds = ['key_0', 'key_1', 'key_none'];
    const many = await timingsOfKeys(money.em(), keyIds, { range: day, bucket: 'HOUR' });
    expect([...many.keys()]).toEqual(keyIds);
    for (const [id, timings] of many) {
      const request = { range: day, conditions: { keyIds: [id] }, groupBy: [], bucket: 'HOUR' } as const;
      expect(timings).toEqual(await (await summarise(money.em(), request)).timings());
    }
    expect(many.get('key_0')?.series).not.toEqual([]);
    expect(many.get('key_0')).not.toEqual(many.get('key_1'));
  });

  it('of a missing hour are computed, and those of more than 400 days ago deleted', async () => {
    const before = await timesOfDay();
    await forget(summedHour);
    expect(await timesOfDay()).not.toEqual(before);
    await query(money.em(), sql`insert into extra_request_hour values (${summedHour}, 'x', 'x', 1, 0, 0)`);
    for (const table of [...SUMS, 'hour_summed'])
      await query(money.em(), {
        text: `insert into ${table} select (jsonb_populate_record(t, jsonb_build_object(
          'hour', date_trunc('hour', now() - interval '401 days')))).* from ${table} t limit 1`,
        values: [],
      });
    expect(await oldSums()).toEqual([1, 1, 1, 1, 1, 1]);
    await sumUpAllHours(money.em());
    expect(await timesOfDay()).toEqual(before);
    expect(await oldSums()).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('of an hour are computed once by control planes that run together', async () => {
    const [noted] = await forget(summedHour);
    const missing = await timesOfDay();
    let running: Promise<void> | undefined;
    await money.em().transactional(async (em) => {
      await query(em, sql`select pg_advisory_xact_lock(hashtextextended('hour sums', 0))`);
      running = sumUpHours(money.em());
      const waiting = sql`select from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`;
      await expect.poll(() => query(money.em(), waiting)).toHaveLength(1);
      await query(em, sql`insert into hour_summed values (${summedHour}, ${noted?.requests})`);
    });
    await running;
    expect(await timesOfDay()).toEqual(missing);
    await forget(summedHour);
    await sumUpHours(money.em());
    expect(await timesOfDay()).not.toEqual(missing);
  });
});

describe('an hour with more than 100,000 requests', () => {
  const noted = 200_000;
  const ended = new Date(hour - (SPREAD_HOURS + 5) * HOUR_MS);
  /** No other test uses it, and it has not ended. */
  const running = new Date(hour + 2 * HOUR_MS);

  /** Runs the job when the log has these rows. Returns whether it computed the hour. */
  async function isComputed(run: typeof sumUpHours, at: Date, requests: number): Promise<boolean> {
    await query(money.em(), sql`insert into hour_summed values (${at}, ${noted})`);
    await query(
      money.em(),
      sql`insert into usage_hour_all (hour, model_name, pool_id, billing_group, source, status, requests,
        input_tokens, output_tokens, cost) values (${at}, 'x', '', 'x', 'x', 'x', ${requests}, 0, 0, 0)`,
    );
    await run(money.em());
    await query(money.em(), sql`delete from usage_hour_all where hour = ${at}`);
    const [row] = await forget(at);
    return row?.requests !== String(noted);
  }

  it('is computed again every minute only if it grew by half, or by 1 % since it ended', async () => {
    expect(await isComputed(sumUpHours, running, noted * 1.5 - 1)).toBe(false);
    expect(await isComputed(sumUpHours, running, noted * 1.5)).toBe(true);
    expect(await isComputed(sumUpHours, ended, noted * 1.01 - 1)).toBe(false);
    expect(await isComputed(sumUpHours, ended, noted * 1.01)).toBe(true);
  });

  it('is computed again by the hourly run if it changed at all', async () => {
    expect(await isComputed(sumUpAllHours, ended, noted)).toBe(false);
    expect(await isComputed(sumUpAllHours, ended, noted + 1)).toBe(true);
  });
});

function isIn(row: ReportedUsage, { modelNames, keyIds, userId, ip, statuses }: UsageConditions): boolean {
  const owner = wallets.find(({ walletId }) => walletId === row.walletId)?.userId;
  return (
    row.status === 'SUCCEEDED' &&
    (modelNames?.includes(row.modelName) ?? true) &&
    (keyIds?.includes(row.keyId) ?? true) &&
    (!userId || userId === owner) &&
    (!ip || ip === row.ip) &&
    (statuses?.includes('SUCCEEDED') ?? true)
  );
}

function keyOf(row: ReportedUsage, dimension: Dimension): string {
  if (dimension === 'MODEL') return row.modelName;
  if (dimension === 'KEY') return row.keyId;
  return wallets.find(({ walletId }) => walletId === row.walletId)?.userId ?? '';
}

describe('traffic', () => {
  const attempt = { errorCode: null, httpStatus: null, ms: 100 };
  const PROVIDERS = ['prv_a', 'prv_b'];
  const earlier = new Date(hour - 3 * HOUR_MS);

  beforeAll(async () => {
    await query(
      money.em(),
      sql`insert into model (id, name, display_name, description, tier, traits, context_tokens,
          input_modalities, output_modalities, price, groups, families, limits, state, position)
        values ('mod_x', 'x', 'x', '', 'budget', '{}', 1, '{}', '{}', 1, '{}', '{}', '{}', 'DRAFT', 1)`,
    );
    for (const id of PROVIDERS) {
      await query(
        money.em(),
        sql`insert into provider (id, name, base_url, protocols, enabled, timeouts)
          values (${id}, ${`name of ${id}`}, 'https://x.example', '{openai-chat}', true, '{}')`,
      );
      await query(
        money.em(),
        sql`insert into route (id, model_id, provider_id, upstream_model, families, priority, weight, enabled)
          select ${`rte_${id}`}, id, ${id}, 'x', '{chat_completions}', 0, 1, true from model limit 1`,
      );
    }
    const batch = requestsOverBoth();
    await settleAt(nodeIds[1] ?? '', batch);
    // A node may report a batch twice.
    await settleAt(nodeIds[1] ?? '', batch);
    await sumUpHours(money.em());
  });

  /** Requests over both upstreams; in the hour `earlier` with attempts that were cut. */
  function requestsOverBoth(): ReportedUsage[] {
    const answered = { ...attempt, routeId: 'rte_prv_b', outcome: 'ANSWERED' } as const;
    const skipped = { ...attempt, routeId: 'rte_prv_a', outcome: 'SKIPPED', ms: 0 } as const;
    const failed = { ...attempt, routeId: 'rte_prv_a', outcome: 'FAILED' } as const;
    const lost = { ...attempt, routeId: 'rte_prv_a', outcome: 'CUT', errorCode: LOST_RACE } as const;
    const left = { ...attempt, routeId: 'rte_prv_a', outcome: 'CUT' } as const;
    const base = { keyId: 'key_traffic', at: new Date(hour - 2 * HOUR_MS) };
    return [
      { ...recordOf(0), ...base, routeId: 'rte_prv_a', latencyMs: 1000, ttftMs: 50 },
      {
        ...{ ...recordOf(0), ...base, routeId: 'rte_prv_b', latencyMs: 2000, ttftMs: 60 },
        tried: { attempts: [failed, skipped, answered], omitted: 0 },
      },
      {
        ...{ ...recordOf(2), ...base, routeId: 'rte_prv_a', outcome: 'UPSTREAM_FAILED' },
        errorCode: 'upstream_failed',
      },
      ...[{ ...lost, cost: '12500' }, { ...lost, cost: '7500' }, lost].map((one) => ({
        ...{ ...recordOf(0), ...base, at: earlier, routeId: 'rte_prv_b' },
        tried: { attempts: [one, answered], omitted: 0 },
      })),
      {
        ...{ ...recordOf(0), ...base, at: earlier, modelName: 'budget', routeId: 'rte_prv_a' },
        outcome: 'CLIENT_LEFT',
        tried: {
          attempts: [failed, { ...left, errorCode: 'client_closed' }, { ...lost, cost: '4' }, left],
          omitted: 0,
        },
      },
    ];
  }

  const read = (subject: 'UPSTREAM' | 'NODE', ids: string[] | null = null) =>
    trafficOf(money.em(), { subject, ids, range: day, bucket: 'HOUR' });

  it('of upstreams counts attempts with their outcome and time, without skipped ones', async () => {
    const { totals, rows, series } = await read('UPSTREAM');
    expect(totals).toMatchObject({ requests: 14, failed: 3 });
    const [one, other] = rows;
    expect(one).toMatchObject({
      subjectId: 'prv_a',
      name: 'name of prv_a',
      figures: { requests: 10, failed: 3 },
    });
    expectNear(one?.figures.timings.duration, [1000]);
    expectNear(one?.figures.timings.ttft, [50]);
    expect(other).toMatchObject({ subjectId: 'prv_b', figures: { requests: 4, failed: 0 } });
    expectNear(other?.figures.timings.duration, [100, 100, 100, 100]);
    expect(other?.figures.timings.ttft).toBeNull();
    expect(series.map(({ subjectId }) => subjectId)).toEqual(
      expect.arrayContaining([null, 'prv_a', 'prv_b']),
    );
  });

  it('of upstreams has extra requests with their cost, and no other attempts that were cut', async () => {
    const { totals, rows, series, extraByModel } = await read('UPSTREAM');
    const extra = { requests: 4, withoutCost: 1, cost: 20_004n };
    expect(totals.extra).toEqual(extra);
    expect(rows.map(({ subjectId, figures }) => [subjectId, figures.extra])).toEqual([
      ['prv_a', extra],
      ['prv_b', { requests: 0, withoutCost: 0, cost: 0n }],
    ]);
    expect(series.filter(({ figures }) => figures.extra.requests > 0).map(({ at }) => at)).toEqual([
      earlier,
      earlier,
    ]);
    expect(extraByModel).toEqual([
      { modelName: 'swift', extra: { requests: 3, withoutCost: 1, cost: 20_000n } },
      { modelName: 'budget', extra: { requests: 1, withoutCost: 0, cost: 4n } },
    ]);
    expect((await read('UPSTREAM', ['prv_b'])).extraByModel).toEqual([]);
    const { totals: ofNodes, extraByModel: noModels } = await read('NODE');
    expect([ofNodes.extra.requests, noModels]).toEqual([0, []]);
  });

  it('has the same extra requests if an hour is computed after the cost of a route changed', async () => {
    const before = await read('UPSTREAM');
    await query(money.em(), sql`update route set cost = 999999`);
    await forget(earlier);
    expect((await read('UPSTREAM')).totals.extra.requests).toBe(0);
    await sumUpAllHours(money.em());
    expect(await read('UPSTREAM')).toEqual(before);
  });

  it('of nodes counts all requests, and fails those that the upstream or the gateway failed', async () => {
    const all = await read('NODE');
    const { totals, rows } = await read('NODE', [nodeIds[1] ?? '']);
    expect(rows.map(({ subjectId }) => subjectId)).toEqual([nodeIds[1]]);
    expect(totals.failed).toBe(1);
    expect(all.rows).toHaveLength(2);
    expect(all.totals.requests).toBe(all.rows.reduce((sum, { figures }) => sum + figures.requests, 0));
  });

  it('of a deleted upstream is no longer shown with its name', async () => {
    await query(money.em(), sql`delete from provider where id = 'prv_b'`);
    expect((await read('UPSTREAM', ['prv_b'])).rows.map(({ name }) => name)).toEqual(['prv_b']);
  });

  it('refuses a range above 400 days', async () => {
    const range = { from: new Date(0), to: new Date(hour) };
    await expect(
      trafficOf(money.em(), { subject: 'NODE', ids: null, range, bucket: 'MONTH' }),
    ).rejects.toThrow('400 days');
  });
});
