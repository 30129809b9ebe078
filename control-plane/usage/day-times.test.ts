/** Times of models by day equal what the rows of the usage log say, and describe no single customer. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { query, sql } from '../database/sql.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { readDayTimes, sumUpAllDays, sumUpDays } from './day-times.service.ts';
import { sumUpHours } from './hour-sums.service.ts';
import { settle } from './settlement.service.ts';

const DAY_MS = 86_400_000;
const SETUP_MS = 60_000;
/** Number of requests of each customer: seven of three customers are enough, two customers are not. */
const OF_EACH = 7;
const now = new Date();
/** Noon of yesterday. */
const yesterday = new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS - DAY_MS / 2);

let money: Money;
let walletIds: string[];
let nodeId: string;

beforeAll(async () => {
  money = await openMoney();
  await query(money.em(), sql`select usage_make_partitions(now() - interval '3 days', now())`);
  walletIds = await Promise.all(Array.from({ length: 12 }, async () => (await money.wallet({})).walletId));
  ({ nodeId } = await money.node());
}, SETUP_MS);
afterAll(() => money.close());

interface Requests {
  modelName: string;
  customers: number;
  latencyMs: number;
  ttftMs: number | null;
  at?: Date;
}

/** Settles requests, and runs the jobs. */
async function serve(requests: Requests): Promise<void> {
  await settleAll(requests);
  await sumUpHours(money.em());
  await sumUpDays(money.em());
}

async function settleAll({ customers, at = yesterday, ...of }: Requests): Promise<void> {
  const owners = [...new Set(walletIds)].slice(0, customers);
  const records = owners.flatMap((walletId) =>
    Array.from({ length: OF_EACH }, () =>
      reported({
        ...{ journalId: null, leaseId: null, seq: null, cost: 0n, status: 'SUCCEEDED' },
        ...{ walletId, keyId: 'key_1', at },
        ...of,
      }),
    ),
  );
  await settle(money.em(), { node: { ...SYSTEM_ACTOR, kind: 'NODE', id: nodeId }, records });
}

const timesOf = async (modelName: string) => (await readDayTimes(money.em(), now)).get(modelName) ?? [];

describe('the times of a model by day', () => {
  it('are the median and the 95th percentile of its requests, for days of enough customers', async () => {
    await serve({ modelName: 'shown', customers: 12, latencyMs: 20, ttftMs: 10 });
    await serve({ modelName: 'shown', customers: 3, latencyMs: 30, ttftMs: null });
    expect(await timesOf('shown')).toEqual([
      {
        day: new Date(yesterday.getTime() - DAY_MS / 2),
        ...{ p50FirstTokenMs: 10, p95FirstTokenMs: 10, p50LatencyMs: 20, p95LatencyMs: 30 },
      },
    ]);
  });

  it('are hidden for two customers, however many requests they send', async () => {
    for (let times = 0; times < 4; times += 1)
      await serve({ modelName: 'hidden', customers: 2, latencyMs: 20, ttftMs: 10 });
    expect(await timesOf('hidden')).toEqual([]);
  });

  it('hide a measure that too few customers have, and show the other one', async () => {
    await serve({ modelName: 'half', customers: 12, latencyMs: 20, ttftMs: null });
    await serve({ modelName: 'half', customers: 1, latencyMs: 20, ttftMs: 10 });
    expect(await timesOf('half')).toMatchObject([{ p50FirstTokenMs: null, p50LatencyMs: 20 }]);
  });

  it('change with a late report, and stay when the hours and the log are gone', async () => {
    await serve({ modelName: 'late', customers: 12, latencyMs: 20, ttftMs: 10 });
    await serve({ modelName: 'late', customers: 12, latencyMs: 25, ttftMs: 10 });
    await serve({ modelName: 'late', customers: 12, latencyMs: 25, ttftMs: 10 });
    const changed = await timesOf('late');
    expect(changed).toMatchObject([{ p50LatencyMs: 25 }]);
    const hour = sql`hour = date_trunc('hour', ${yesterday}::timestamptz)`;
    await query(money.em(), sql`delete from usage_timing_all where ${hour}`);
    await sumUpAllDays(money.em());
    expect(await timesOf('late')).toEqual(changed);
  });
});

describe('a day with an hour that a control plane of the release before computed', () => {
  it('is computed after the hour was computed again with its customers', async () => {
    await settleAll({ modelName: 'upgraded', customers: 12, latencyMs: 20, ttftMs: 10 });
    await sumUpHours(money.em());
    // The release before does not know the column, and notes the hour as computed.
    await query(money.em(), sql`update usage_timing_all set customers = default`);
    await sumUpDays(money.em());
    expect(await timesOf('upgraded')).toEqual([]);
    await sumUpHours(money.em());
    await sumUpDays(money.em());
    expect(await timesOf('upgraded')).toMatchObject([{ p50FirstTokenMs: 10, p50LatencyMs: 20 }]);
  });
});

describe('days that are not shown any more', () => {
  it('are deleted by the hourly run', async () => {
    await query(
      money.em(),
      sql`insert into model_day_times values (current_date - 120, 'old', 'TTFT', 30, 7, 1, 1)`,
    );
    await query(money.em(), sql`insert into day_summed values (current_date - 120, 30)`);
    await sumUpAllDays(money.em());
    for (const table of ['model_day_times', 'day_summed']) {
      const text = `select from ${table} where day < current_date - 100`;
      expect(await query(money.em(), { text, values: [] })).toEqual([]);
    }
  });
});
