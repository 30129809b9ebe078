/**
 * The answers of ClickHouse over many rows, and the time that they take beside those of PostgreSQL.
 * BENCH_USAGE rows are generated and exported; then ClickHouse alone is asked with BENCH_COPIES further
 * copies. The times are printed into `.bench/clickhouse.json`: `npm run bench:clickhouse`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { ChConditions } from '../../control-plane/clickhouse/conditions.ts';
import { textIn } from '../../control-plane/clickhouse/fields.ts';
import { findEntries } from '../../control-plane/clickhouse/found.ts';
import { startExporter } from '../../control-plane/clickhouse/exporter.ts';
import { ClickHouseUsage } from '../../control-plane/clickhouse/reader.ts';
import { setsIn } from '../../control-plane/clickhouse/sets.ts';
import { readState } from '../../control-plane/clickhouse/state.ts';
import { ch, countOf, tableOf, textOf } from '../../control-plane/clickhouse/statement.ts';
import type { ChStatement } from '../../control-plane/clickhouse/statement.ts';
import { ClickHouseStore } from '../../control-plane/clickhouse/store.ts';
import { partitionOf } from '../../control-plane/clickhouse/table.ts';
import { queryRow, sql, toDate } from '../../control-plane/database/sql.ts';
import { POSTGRES_USAGE } from '../../control-plane/usage/usage.reader.ts';
import type { UsageReader } from '../../control-plane/usage/usage.reader.ts';
import { seedDatabase } from '../seed/seed.ts';
import { startTestApp } from '../control/app.ts';
import type { TestApp } from '../control/app.ts';
import { hasEngine, openEngine } from './engine.ts';

const USAGE = Number(process.env['BENCH_USAGE'] ?? 20_000);
const COPIES = Number(process.env['BENCH_COPIES'] ?? 2);
const USERS = 200;
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const LIMIT_MS = 3_600_000;
const MONTH_MS = 30 * 24 * 3_600_000;
const READ_MS = 60_000;
const PAGE = 51;
const OUTPUT = path.join(import.meta.dirname, '..', '..', '.bench');

/** Median and 95th percentile. */
interface Times {
  medianMs: number;
  p95Ms: number;
}

async function timesOf(work: () => Promise<unknown>): Promise<Times> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  times.sort((left, right) => left - right);
  const at = (share: number): number => Math.round((times[Math.floor(share * ROUNDS)] ?? 0) * 10) / 10;
  return { medianMs: at(0.5), p95Ms: at(0.95) };
}

const BY_MODEL = { groupBy: ['MODEL' as const], bucket: 'DAY' as const, pointsMax: 2000, groupsMax: 100 };

interface Parts {
  orm: MikroORM;
  store: ClickHouseStore;
}

/** Exports all rows, and returns the seconds that it took. */
async function exportAll({ orm, store }: Parts): Promise<number> {
  const started = performance.now();
  const exporter = startExporter({ em: () => orm.em.fork(), store });
  await exporter.exportDue();
  await exporter.stop();
  return (performance.now() - started) / 1000;
}

/** The user with the most requests, and the month that ends with the last request. */
async function subjectOf({ orm }: Parts) {
  const user = await queryRow<{ id: string; walletId: string; last: string }>(
    orm.em.fork(),
    sql`select w.user_id as id, w.id as "walletId", max(u.at)::text as last from usage_entry u
      join wallet w on w.id = u.wallet_id group by 1, 2 order by count(*) desc limit 1`,
  );
  const to = toDate(user.last);
  return { ...user, range: { from: new Date(to.getTime() - MONTH_MS), to } };
}

type Subject = Awaited<ReturnType<typeof subjectOf>>;

/** Times the questions of pages. */
async function measure({ orm }: Parts, read: UsageReader, { id: userId, range }: Subject) {
  const em = () => orm.em.fork();
  const span = { range, conditions: {}, byOwner: false };
  const questions = {
    'first page, all users': () => read.page(em(), {}, { limit: PAGE }),
    'first page, one user': () => read.page(em(), { userId }, { limit: PAGE }),
    'no entry of an unknown model': () => read.page(em(), { modelNames: ['none'] }, { limit: PAGE }),
    'month by model and day': () => read.sets(em(), span, BY_MODEL),
    'the same, of requests that cost something': () =>
      read.sets(em(), { ...span, conditions: { minCost: 1n } }, BY_MODEL),
  };
  const figures: Record<string, Times> = {};
  for (const [name, ask] of Object.entries(questions)) figures[name] = await timesOf(ask);
  return figures;
}

/**
 * Adds copies of each row with other request ids, day by day, and merges each day into one part. ClickHouse
 * does so by itself with days that have no new rows for ten minutes.
 */
async function addCopies(store: ClickHouseStore, table: ChStatement): Promise<void> {
  const days = await store.slowRows(
    ch`select distinct toString(toDate(at)) as day from ${table} order by day`,
  );
  for (const row of days) {
    const day = textIn(row, 'day');
    await store.command(
      ch`insert into ${table} select * replace (concat(request_id, '+', toString(copy)) as request_id)
        except (copy) from (select *, arrayJoin(range(1, ${countOf(COPIES + 1)})) as copy from ${table} final
        where toString(toDate(at)) = ${textOf(day)})`,
    );
    await store.command(ch`optimize table ${table} partition id ${partitionOf(day)} final`);
  }
}

/** Times the questions to ClickHouse with copies of the rows, without PostgreSQL's part of the answer. */
async function measureCopies({ orm, store }: Parts, { walletId, range }: Subject) {
  const state = await readState(orm.em.fork());
  const name = state?.table ?? '';
  const table = tableOf(name);
  await addCopies(store, table);
  const [size] = await store.slowRows(ch`select toString(count()) as requests from ${table} final`);
  const find = (conditions: ChConditions) => () =>
    findEntries(store, name, { conditions, page: { limit: PAGE }, now: range.to });
  const sets = { em: orm.em.fork(), store, table: name };
  return {
    ...size,
    'first page, all users': await timesOf(find({})),
    'first page, one user': await timesOf(find({ walletId })),
    'month by model': await timesOf(() => setsIn(sets, range, { ...BY_MODEL, bucket: null })),
    'month by model and day': await timesOf(() => setsIn(sets, range, BY_MODEL)),
  };
}

/** Whether both readers give the same answers over all rows. */
async function expectSameAnswers({ orm, store }: Parts, { range, id: userId }: Subject): Promise<void> {
  const em = orm.em.fork();
  const [ours, theirs] = [new ClickHouseUsage(store), POSTGRES_USAGE];
  const span = { range, conditions: {}, byOwner: false };
  const { asOf: _, ...found } = await ours.sets(em, span, BY_MODEL);
  expect(await theirs.sets(em, span, BY_MODEL)).toMatchObject(found);
  const page = { limit: PAGE };
  for (const conditions of [{}, { userId }])
    expect(await ours.page(em, conditions, page)).toEqual(await theirs.page(em, conditions, page));
}

async function run({ orm, settings }: TestApp): Promise<void> {
  const size = { users: USERS, keys: 5 * USERS, usage: USAGE };
  await seedDatabase(settings.databaseUrl, size, () => undefined);
  const engine = await openEngine();
  const parts = { orm, store: new ClickHouseStore(engine.url, READ_MS) };
  try {
    const exportSeconds = await exportAll(parts);
    const subject = await subjectOf(parts);
    await expectSameAnswers(parts, subject);
    const result = {
      rows: USAGE,
      exportedPerSecond: Math.round(USAGE / exportSeconds),
      postgres: await measure(parts, POSTGRES_USAGE, subject),
      clickHouse: await measure(parts, new ClickHouseUsage(parts.store), subject),
      copies: await measureCopies(parts, subject),
    };
    mkdirSync(OUTPUT, { recursive: true });
    writeFileSync(path.join(OUTPUT, 'clickhouse.json'), `${JSON.stringify(result, null, 2)}\n`);
  } finally {
    await parts.store.close();
    await engine.close();
  }
}

it.skipIf(!hasEngine())(
  'ClickHouse answers as PostgreSQL does over many rows',
  async () => {
    const test = await startTestApp();
    try {
      await run(test);
    } finally {
      await test.close();
    }
  },
  LIMIT_MS,
);
