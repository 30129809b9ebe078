/**
 * End-to-end test of restoring a backup that was taken under traffic: nodes report their journals, nothing is
 * charged twice, and every lost charge is recorded.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LLMock } from '@copilotkit/aimock';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startPostgres } from '../../control-plane/local/postgres.ts';
import type { Postgres } from '../../control-plane/local/postgres.ts';
import { createOrm } from '../../control-plane/database/orm.ts';
import { main as afterRestore } from '../../control-plane/wallet/after-restore.ts';
import { checkInvariants } from '../../control-plane/wallet/invariants.ts';
import { addCustomer, addUpstream, startHouse } from '../house.ts';
import type { Customer, House } from '../house.ts';
import { ask, CLIENTS, traffic } from '../house/traffic.ts';
import { COPIED_WHILE_RUNNING, takeBackup } from './base-backup.ts';

const UNTIL_MS = 30_000;
const PRICE = 30_000;

let folder: string;
let postgres: Postgres;
let house: House;
const mock = new LLMock({ host: '127.0.0.1', port: 0, logLevel: 'silent', latency: 5, chunkSize: 20 });

beforeAll(async () => {
  mock.on({ predicate: () => true }, { content: 'word '.repeat(20) });
  await mock.start();
  folder = mkdtempSync(join(tmpdir(), 'gateway-backup-'));
  // Run as root, PostgreSQL runs as another user, who needs access through this folder.
  chmodSync(folder, 0o711);
  postgres = await startPostgres({ dataDir: join(folder, 'before'), settings: COPIED_WHILE_RUNNING });
  house = await startHouse({ databaseUrl: postgres.url });
  await addUpstream(house, { baseUrl: `${mock.url}/v1`, models: ['budget'] });
}, 90_000);

afterAll(async () => {
  await house?.stop();
  await mock.stop();
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function rows<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const result = await client.query<Row>(text, values);
  await client.end();
  return result.rows;
}

const chargedIds = async (): Promise<Set<string>> =>
  new Set((await rows<{ id: string }>('select request_id as id from usage_charge')).map(({ id }) => id));

const rejectedIds = async (): Promise<Set<string>> =>
  new Set(
    (await rows<{ id: string }>(`select request_id as id from settlement_alarm where kind = 'REJECTED'`)).map(
      ({ id }) => id,
    ),
  );

async function until(condition: () => Promise<boolean>, what: string): Promise<void> {
  const end = Date.now() + UNTIL_MS;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`Not in time: ${what}.`);
    await sleep(100);
  }
}

/** Sends requests until `count` answers were complete, and returns their request ids. */
async function served(customer: Customer, count: number): Promise<string[]> {
  const load = traffic(house.url, customer);
  await load.ended(count);
  await load.stop();
  return load.seen.filter(({ ended }) => ended).map(({ requestId }) => requestId);
}

const settled = (ids: readonly string[]): Promise<void> =>
  until(async () => {
    const charged = await chargedIds();
    return ids.every((id) => charged.has(id));
  }, 'everything is settled');

/**
 * Deletes the server's data, and starts a server with the backup on the same port and with the same password.
 */
async function loseAndRestore(): Promise<void> {
  const { port } = postgres;
  await postgres.stop();
  rmSync(join(folder, 'before'), { recursive: true });
  postgres = await startPostgres({ dataDir: join(folder, 'backup'), port });
}

/** Request ids before the loss. */
interface Before {
  /** Complete answers that were settled before the loss. */
  seen: string[];
  /** Complete answers whose charges are only in the node's journal. */
  kept: string[];
  settled: Set<string>;
}

/**
 * Sends traffic before, during and after the backup, then kills control plane and node and restores the
 * backup.
 */
async function serveAndLose(): Promise<Before> {
  const customer = await addCustomer(house, '100');
  const load = traffic(house.url, customer);
  await load.ended(40);
  await takeBackup(postgres.url, join(folder, 'before'), join(folder, 'backup'));
  // These charges are settled after the backup, so the restore loses them.
  await load.ended(40 + CLIENTS * 3);
  await load.stop();
  const seen = load.seen.filter(({ ended }) => ended).map(({ requestId }) => requestId);
  await settled(seen);
  const settledBefore = await chargedIds();
  // Charges while the control plane is down are only in the node's journal.
  await house.control.kill();
  const kept: string[] = [];
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const { ended, requestId } = await ask(house.url, customer);
    if (ended) kept.push(requestId);
  }
  expect(kept.length).toBeGreaterThan(0);
  await house.nodes[0]?.process.kill();
  await loseAndRestore();
  return { seen, kept, settled: settledBefore };
}

/** Checks that only known requests are charged, none is also rejected, and the revenue equals the charges. */
async function compare(known: ReadonlySet<string>): Promise<Set<string>> {
  const charged = await chargedIds();
  const rejected = await rejectedIds();
  expect([...charged].filter((id) => !known.has(id))).toEqual([]);
  expect([...charged].filter((id) => rejected.has(id))).toEqual([]);
  const [sums] = await rows<{ charges: number; revenue: number }>(
    `select (select count(*) from usage_charge)::integer as charges,
      (select sum(balance) from ledger_account where kind = 'REVENUE')::integer as revenue`,
  );
  expect(sums).toEqual({ charges: charged.size, revenue: charged.size * PRICE });
  return charged;
}

it('a restored database settles the journals, charges nothing twice, and records lost charges', async () => {
  const before = await serveAndLose();
  expect((await chargedIds()).size).toBeLessThan(before.settled.size);
  const orm = await createOrm(postgres.url, { connectionsMax: 1 });
  const env = { DATABASE_URL: postgres.url };
  const lines: string[] = [];
  expect(await afterRestore(env, [], (line) => lines.push(line))).toBe(0);
  expect(await checkInvariants(orm.em.fork())).toEqual([]);
  await house.restartControl();
  await house.nodes[0]?.restart();
  await until(async () => {
    const [charged, rejected] = [await chargedIds(), await rejectedIds()];
    return before.kept.every((id) => charged.has(id) || rejected.has(id));
  }, 'the journal is reported');

  const late = await addCustomer(house, '10');
  const fresh = await served(late, 10);
  await settled(fresh);
  const charged = await compare(new Set([...before.seen, ...before.kept, ...fresh]));
  const found = await checkInvariants(orm.em.fork());
  expect(found.map(({ rule }) => rule)).toEqual(['I9']);
  const lost = [...before.settled].filter((id) => !charged.has(id));
  for (const count of [lost.length, 0]) {
    expect(await afterRestore(env, ['--accept-lost'], (line) => lines.push(line))).toBe(0);
    expect(lines.at(-1)).toMatch(new RegExp(`^Recorded ${count} lost charges`));
    expect(await checkInvariants(orm.em.fork())).toEqual([]);
  }
  await orm.close(true);
}, 180_000);
