/**
 * Kills exporter, ClickHouse and PostgreSQL while requests are settled and exported, and compares
 * the sums with the ledger. `KILLS` is how often each is killed; 1 by default.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import { describe, expect, it } from 'vitest';
import { compareDays } from '../../control-plane/clickhouse/comparison.ts';
import { readState } from '../../control-plane/clickhouse/state.ts';
import { ch, tableOf } from '../../control-plane/clickhouse/statement.ts';
import { ClickHouseStore } from '../../control-plane/clickhouse/store.ts';
import { newId } from '../../control-plane/database/ids.ts';
import { createOrm, migrate } from '../../control-plane/database/orm.ts';
import { query, queryRow, sql } from '../../control-plane/database/sql.ts';
import { SYSTEM_ACTOR } from '../../control-plane/graphql/context.ts';
import { startPostgres } from '../../control-plane/local/postgres.ts';
import { settle } from '../../control-plane/usage/settlement.service.ts';
import type { ReportedUsage } from '../../control-plane/usage/settlement.rules.ts';
import { requestLease } from '../../control-plane/wallet/lease.service.ts';
import { creditCash } from '../../control-plane/wallet/movements.ts';
import { ensureWallet } from '../../control-plane/wallet/wallet.service.ts';
import { startProcess } from '../house/process.ts';
import type { HouseProcess } from '../house/process.ts';
import { addNode, reported } from '../money-fixture.ts';
import { hasEngine, openEngine } from './engine.ts';

const KILLS = Number(process.env['KILLS'] ?? 1);
const BATCH = 20;
const PRICE = 7n;
const CREDIT = 1_000_000_000n;
const DAY_MS = 86_400_000;
/** A killed process keeps its turn for ten seconds. */
const EXPORTED_WITHIN_MS = 60_000;
/** How long all parts run before the next kill. */
const LIFE_MS_MIN = 300;
const LIFE_MS_SPREAD = 1500;
const LIMIT_MS = 60_000 + KILLS * 3 * 10_000;

/** The parts of a settlement that stay the same over all batches. */
interface Payer {
  walletId: string;
  nodeId: string;
  journalId: string;
  leaseId: string;
}

async function openPayer(orm: MikroORM): Promise<Payer> {
  const em = () => orm.em.fork();
  const userId = newId('usr');
  await query(em(), sql`insert into users (id, email) values (${userId}, 'payer@example.com')`);
  const walletId = await ensureWallet(em(), userId);
  const movement = { walletId, actor: SYSTEM_ACTOR, description: 'test', reference: 'cash' };
  await creditCash(em(), { ...movement, amount: CREDIT, kind: 'ADJUSTMENT' });
  const node = { nodeId: newId('nod'), journalId: `jnl_${newId('nod')}` };
  await addNode(em(), node);
  const wish = { requestNo: 1, need: PRICE, waiting: 0n, want: CREDIT };
  const lease = await requestLease(em(), { ...node, ...wish, walletId, keyId: null });
  return { walletId, ...node, leaseId: lease.id };
}

/** Settles paid batches until it is stopped; repeats a batch that failed, as a node does. */
function startSettling(orm: MikroORM, payer: Payer): { stop(): Promise<number> } {
  let isStopping = false;
  let seq = 0;
  const run = async (): Promise<number> => {
    while (!isStopping) {
      const records = Array.from({ length: BATCH }, (): ReportedUsage => {
        seq += 1;
        return reported({ ...payer, seq, cost: PRICE });
      });
      while (!(await settleOnce(orm, payer, records))) await sleep(50);
      await sleep(20);
    }
    return seq;
  };
  const done = run();
  return {
    stop: () => {
      isStopping = true;
      return done;
    },
  };
}

async function settleOnce(orm: MikroORM, { nodeId }: Payer, records: ReportedUsage[]): Promise<boolean> {
  try {
    await settle(orm.em.fork(), { node: { ...SYSTEM_ACTOR, kind: 'NODE', id: nodeId }, records });
    return true;
  } catch {
    return false;
  }
}

/** Starts a control plane, which exports. */
function startExporting(databaseUrl: string, clickHouseUrl: string, folder: string): Promise<HouseProcess> {
  return startProcess({
    entry: 'dist/control-plane/main.js',
    env: {
      DATABASE_URL: databaseUrl,
      CLICKHOUSE_URL: clickHouseUrl,
      SECRET_KEY: 'a key of a test that is long enough',
      CONTROL_PORT: '0',
      DATA_DIR: folder,
      DEMO: 'off',
    },
    logFile: path.join(folder, 'control.log'),
  });
}

/** All parts, with a function for each that kills it and starts it again. */
async function openParts() {
  const folder = mkdtempSync(path.join(tmpdir(), 'gateway-kills-'));
  chmodSync(folder, 0o711);
  let postgres = await startPostgres({ dataDir: folder });
  const engine = await openEngine();
  await migrate(postgres.url);
  const orm = await createOrm(postgres.url);
  const { url } = postgres;
  let exporter = await startExporting(url, engine.url, folder);
  const store = new ClickHouseStore(engine.url);
  const kills = [
    async () => {
      await exporter.kill();
      exporter = await startExporting(url, engine.url, folder);
    },
    async () => {
      await engine.kill();
      await engine.start();
    },
    async () => {
      process.kill(postgres.pid, 'SIGKILL');
      while (postgres.isRunning()) await sleep(10);
      postgres = await startPostgres({ dataDir: folder, port: postgres.port });
    },
  ];
  const close = async (): Promise<void> => {
    await store.close();
    await exporter.kill();
    await orm.close(true).catch(() => undefined);
    await Promise.all([engine.close(), postgres.stop()]);
    rmSync(folder, { recursive: true, force: true });
  };
  return { orm, store, kills, close };
}

/** Waits until ClickHouse has everything, and returns the name of its table. */
async function exportedTable(orm: MikroORM): Promise<string> {
  const state = () => readState(orm.em.fork()).catch(() => undefined);
  const isDone = async (): Promise<boolean> => {
    const found = await state();
    return found?.isComplete === true && found.behindSeconds === 0;
  };
  await expect.poll(isDone, { timeout: EXPORTED_WITHIN_MS }).toBe(true);
  return (await state())?.table ?? '';
}

async function killAll({ orm, store, kills }: Awaited<ReturnType<typeof openParts>>): Promise<void> {
  const settling = startSettling(orm, await openPayer(orm));
  for (let round = 0; round < KILLS; round += 1) {
    for (const kill of kills) {
      await sleep(LIFE_MS_MIN + Math.random() * LIFE_MS_SPREAD);
      await kill();
    }
  }
  const settled = await settling.stop();
  const em = () => orm.em.fork();
  const table = await exportedTable(orm);
  const ledger = await queryRow<{ requests: string; cost: string }>(
    em(),
    sql`select count(*)::text as requests, sum(amount)::text as cost from usage_charge`,
  );
  expect(ledger).toEqual({ requests: String(settled), cost: (BigInt(settled) * PRICE).toString() });
  const [sums] = await store.slowRows(
    ch`select toString(count()) as requests, toString(sum(cost)) as cost from ${tableOf(table)} final`,
  );
  expect(sums).toEqual(ledger);
  const parts = { em, store, state: { table, droppedUntil: null }, proceed: async () => true };
  expect(await compareDays(parts, new Date(Date.now() + DAY_MS))).toEqual([]);
}

describe.skipIf(!hasEngine())('the export to ClickHouse', () => {
  it(
    'has exactly the sums of the ledger after exporter, ClickHouse and PostgreSQL were killed',
    async () => {
      const parts = await openParts();
      try {
        await killAll(parts);
      } finally {
        await parts.close();
      }
    },
    LIMIT_MS,
  );
});
