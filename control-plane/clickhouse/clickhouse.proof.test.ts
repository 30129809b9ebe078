/** Tests of the export to ClickHouse and of the pages that it answers, with its engine if it is installed. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hasEngine, openEngine } from '../../test/clickhouse/engine.ts';
import type { Engine } from '../../test/clickhouse/engine.ts';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { query, sql } from '../database/sql.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import type { ReportedUsage } from '../usage/settlement.rules.ts';
import { settle } from '../usage/settlement.service.ts';
import { requestLease } from '../wallet/lease.service.ts';
import { sumUpAllHours } from '../usage/hour-sums.service.ts';
import { summarise } from '../usage/summary.service.ts';
import type { Summary } from '../usage/summary.service.ts';
import { setsOf } from '../usage/summary.sets.ts';
import type { BucketWidth, Dimension } from '../usage/summary.sets.ts';
import { summarySource } from '../usage/summary.source.ts';
import { POSTGRES_USAGE } from '../usage/usage.reader.ts';
import type { UsageConditions } from '../usage/usage.service.ts';
import { compareDays } from './comparison.ts';
import { answers } from './export.metrics.ts';
import { startExporter } from './exporter.ts';
import { ClickHouseUsage } from './reader.ts';
import { setsIn } from './sets.ts';
import { readState } from './state.ts';
import { ClickHouseStore } from './store.ts';
import { ch, tableOf, textOf } from './statement.ts';

const HOUR_MS = 3_600_000;
const SPREAD_HOURS = 30 * 24;
const ROWS = 400;
/** Credit of a wallet in micro-USD. */
const CREDIT = 10_000_000n;
const STATUSES = ['SUCCEEDED', 'FAILED', 'CANCELLED'] as const;
const MODELS = ['swift', "o'hara", 'tab\tand\\slash'];
const FOR_EXAMPLES_MS = 120_000;

const engineIsThere = hasEngine();
if (!engineIsThere)
  process.stderr.write('Skipped: tests with the engine of ClickHouse. Install the Python package chdb.\n');

const test = it.skipIf(!engineIsThere);

let money: Money;
let engine: Engine;
let store: ClickHouseStore;
let usage: ClickHouseUsage;
let users: string[];
let node: Awaited<ReturnType<Money['node']>>;
const now = Date.now();

beforeAll(async () => {
  if (!engineIsThere) return;
  [money, engine] = await Promise.all([openMoney(), openEngine()]);
  store = new ClickHouseStore(engine.url, 30_000);
  usage = new ClickHouseUsage(store);
  await query(money.em(), sql`select usage_make_partitions(now() - interval '32 days', now())`);
  const wallets = [await money.wallet({ cash: CREDIT }), await money.wallet({ cash: CREDIT })];
  users = wallets.map(({ userId }) => userId);
  node = await money.node();
  const leases: Payer[] = [];
  for (const { walletId } of wallets) {
    const wish = { requestNo: leases.length + 1, need: 1n, waiting: 0n, want: CREDIT };
    const lease = await requestLease(money.em(), { ...node, ...wish, walletId, keyId: null });
    leases.push({ walletId, leaseId: lease.id });
  }
  const records = recordsOf(leases);
  await settleAll(records.slice(0, ROWS / 2));
  await exportAll();
  await settleAll(records.slice(ROWS / 2));
  await exportAll();
  await sumUpAllHours(money.em());
});
afterAll(async () => {
  if (!engineIsThere) return;
  await store.close();
  await Promise.all([money.close(), engine.close()]);
});

/** A summary with what is asked for later, without its age. */
const wholeOf = async (summary: Summary) => ({
  ...summary,
  before: await summary.before(),
  timings: await summary.timings(),
  asOf: null,
});

/** The wallet of a record and its lease. */
type Payer = Pick<ReportedUsage, 'walletId' | 'leaseId'>;

const recordOf = (index: number): Partial<ReportedUsage> => ({
  keyId: `key_${index % 5}`,
  poolId: index % 7 === 0 ? 'pool_1' : null,
  modelName: MODELS[index % MODELS.length] ?? '',
  status: STATUSES[index % 4] ?? 'SUCCEEDED',
  at: new Date(now - ((index * 7_919_017) % (SPREAD_HOURS * HOUR_MS))),
  latencyMs: 3 * (index % 40) ** 2,
  ttftMs: index % 6 === 0 ? null : index,
  inputTokens: index,
  outputTokens: index % 3 === 0 ? null : 2 * index,
  cachedTokens: index % 5 === 0 ? null : Math.floor(index / 2),
  ip: index % 2 === 0 ? '192.0.2.7' : '2001:db8:0:0::1',
});

/** Records of the payers in turn; most that succeeded have a price of their own. */
function recordsOf(payers: readonly Payer[]): ReportedUsage[] {
  let seq = 0;
  return Array.from({ length: ROWS }, (_, index) => {
    const record = recordOf(index);
    const { walletId, leaseId } = payers[index % payers.length] ?? { walletId: '', leaseId: null };
    const isFree = record.status !== 'SUCCEEDED' || index % 3 === 0;
    if (isFree) return reported({ journalId: null, leaseId: null, seq: null, cost: 0n, walletId, ...record });
    seq += 1;
    const cost = BigInt(1 + ((index * 31) % 97)) * 10n;
    return reported({ journalId: node.journalId, leaseId, seq, cost, walletId, ...record });
  });
}

const settleAll = async (records: ReportedUsage[]): Promise<void> => {
  await settle(money.em(), { node: { ...SYSTEM_ACTOR, kind: 'NODE', id: node.nodeId }, records });
};

/** Exports everything. The table is complete when transactions that began before the export have ended. */
async function exportAll(): Promise<void> {
  const exporter = startExporter({ em: money.em, store });
  do await exporter.exportDue();
  while ((await readState(money.em()))?.isComplete !== true);
  await exporter.stop();
}

const ranges = fc
  .tuple(fc.integer({ min: 0, max: SPREAD_HOURS }), fc.integer({ min: 1, max: SPREAD_HOURS * HOUR_MS }))
  .map(([hours, length]) => {
    const to = new Date(now - hours * HOUR_MS + (length % 1000));
    return { from: new Date(to.getTime() - length), to };
  });
const conditions: fc.Arbitrary<UsageConditions> = fc.record(
  {
    range: ranges,
    userId: fc.integer({ min: 0, max: 1 }).map((index) => users[index] ?? ''),
    modelNames: fc.subarray(MODELS),
    keyIds: fc.subarray(['key_0', 'key_1', 'key_4']),
    poolIds: fc.subarray(['pool_1', '', 'pool_2']),
    sources: fc.constant(['API_KEY'] as const),
    statuses: fc.subarray([...STATUSES]),
    ip: fc.constantFrom('192.0.2.7', '2001:DB8::1', 'nonsense'),
    minCost: fc.constantFrom(0n, 1n, 500n),
  },
  { requiredKeys: [] },
);

const failures = async (): Promise<number> =>
  (await answers.get()).values.find(({ labels }) => labels.by === 'postgresql: failed')?.value ?? 0;

test(
  'ClickHouse gives the same pages and counts as PostgreSQL',
  async () => {
    const property = fc.asyncProperty(conditions, fc.integer({ min: 1, max: 60 }), async (wanted, limit) => {
      const em = money.em();
      const page = await POSTGRES_USAGE.page(em, wanted, { limit });
      expect(await usage.page(em, wanted, { limit })).toEqual(page);
      expect(await usage.count(em, wanted)).toEqual(await POSTGRES_USAGE.count(em, wanted));
      const first = await POSTGRES_USAGE.lines(em, wanted, { after: undefined, limit });
      expect(await usage.lines(em, wanted, { after: undefined, limit })).toEqual(first);
      const next = { after: first.next, limit };
      expect(await usage.lines(em, wanted, next)).toEqual(await POSTGRES_USAGE.lines(em, wanted, next));
    });
    const failed = await failures();
    await fc.assert(property, { numRuns: 10 });
    expect(await failures()).toBe(failed);
  },
  FOR_EXAMPLES_MS,
);

test(
  'ClickHouse gives the same summaries as PostgreSQL',
  async () => {
    const dimensions = fc.subarray<Dimension>(['MODEL', 'KEY', 'POOL', 'SOURCE', 'STATUS', 'GROUP', 'USER'], {
      maxLength: 3,
    });
    const buckets = fc.constantFrom<BucketWidth | null>('HOUR', 'DAY', 'WEEK', 'MONTH', null);
    const property = fc.asyncProperty(
      conditions,
      ranges,
      dimensions,
      buckets,
      async (wanted, range, groupBy, bucket) => {
        const request = { range, groupBy, bucket, conditions: wanted };
        const found = await summarise(money.em(), request, usage);
        const expected = await summarise(money.em(), request);
        expect(await wholeOf(found)).toEqual(await wholeOf(expected));
      },
    );
    const failed = await failures();
    await fc.assert(property, { numRuns: 60 });
    expect(await failures()).toBe(failed);
  },
  FOR_EXAMPLES_MS,
);

test('sets that are cut at their limits have the same first points and largest groups', async () => {
  const state = await readState(money.em());
  const parts = { em: money.em(), store, table: state?.table ?? '' };
  const range = { from: new Date(now - SPREAD_HOURS * HOUR_MS), to: new Date(now + 1) };
  const dimensions: Dimension[][] = [['KEY'], ['MODEL', 'KEY'], ['KEY', 'USER', 'MODEL']];
  for (const groupBy of dimensions) {
    const request = { groupBy, bucket: 'HOUR' as const, pointsMax: 5, groupsMax: 3 };
    const source = summarySource({ range, conditions: {}, byOwner: true });
    expect(await setsIn(parts, range, request)).toEqual(await setsOf(money.em(), source, request));
  }
});

test('ClickHouse counts a request once however often it was exported, before merges too', async () => {
  const state = await readState(money.em());
  const table = state?.table ?? '';
  await query(
    money.em(),
    sql`update usage_export set rebuilt_at = '-infinity', rebuilt_id = '',
    is_complete = false`,
  );
  await exportAll();
  const [row] = await store.rows(
    ch`select count() as stored, uniqExact(request_id) as requests from ${tableOf(table)}`,
  );
  expect(Number(row?.['stored'])).toBeGreaterThan(ROWS);
  expect(Number(row?.['requests'])).toBe(ROWS);
  expect(await usage.count(money.em(), {})).toBe(ROWS);
});

test('days that differ from the ledger are exported again', async () => {
  const state = await readState(money.em());
  const table = state?.table ?? '';
  await store.command(ch`delete from ${tableOf(table)} where cityHash64(request_id) % 3 = 0`);
  expect(await usage.count(money.em(), {})).toBeLessThan(ROWS);
  const parts = { em: money.em, store, state: { table, droppedUntil: null }, proceed: async () => true };
  expect(await compareDays(parts, new Date(now + 24 * HOUR_MS))).toEqual([]);
  expect(await usage.count(money.em(), {})).toBe(ROWS);
});

test('days whose rows the log has dropped are dropped in ClickHouse, and no later row', async () => {
  const table = (await readState(money.em()))?.table ?? '';
  const dropped = new Date(now).toISOString().slice(0, 10);
  const counts = async () => {
    const [row] = await store.slowRows(
      ch`select countIf(toString(toDate(at)) < ${textOf(dropped)}) as earlier,
        countIf(toString(toDate(at)) >= ${textOf(dropped)}) as later from ${tableOf(table)} final`,
    );
    return { earlier: Number(row?.['earlier']), later: Number(row?.['later']) };
  };
  const before = await counts();
  expect(before.earlier).toBeGreaterThan(0);
  const state = { table, droppedUntil: `${dropped} 00:00:00+00` };
  const none = async () => false;
  expect(await compareDays({ em: money.em, store, state, proceed: none }, new Date(now))).toBeUndefined();
  expect(await counts()).toEqual({ earlier: 0, later: before.later });
});

test('ClickHouse is filled again after its tables were lost', async () => {
  const state = await readState(money.em());
  await store.command(ch`drop table ${tableOf(state?.table ?? '')} sync`);
  expect(await usage.count(money.em(), {})).toBe(ROWS);
  await exportAll();
  const after = await readState(money.em());
  expect(after).toMatchObject({ isComplete: true, isActive: true });
  expect(after?.table).not.toBe(state?.table);
  expect(await new ClickHouseUsage(store).count(money.em(), {})).toBe(ROWS);
});
