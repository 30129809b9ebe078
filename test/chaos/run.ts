/** One chaos run: start everything, let clients ask while things break, heal, drain, compare. */
import { setTimeout as sleep } from 'node:timers/promises';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { formatDollars } from '@gateway/shared/money';
import { addCustomer, addKey, topUp } from '../house.ts';
import type { Customer } from '../house.ts';
import { runClient } from './clients.ts';
import type { Attempt } from './clients.ts';
import { compare } from './compare.ts';
import type { BookedCharge, Comparison } from './compare.ts';
import type { Coverage } from './coverage.ts';
import { breakThings, outage } from './faults.ts';
import type { Fault } from './faults.ts';
import { coverageOfOutage, leasesWhileRunning } from './lease-books.ts';
import type { LeasesOfRunning } from './lease-books.ts';
import { randomOf } from './random.ts';
import type { Random } from './random.ts';
import { openStage, rowsOf } from './stage.ts';
import type { Stage } from './stage.ts';

export interface ChaosOptions {
  seed: number;
  /** How long things break, in ms. */
  durationMs: number;
  nodes: number;
  /** `outage`: control plane and PostgreSQL are away all the time, and nothing else breaks. */
  plan?: 'storm' | 'outage';
  /** How long everything runs before an outage begins, in ms: leases grow with what is spent. */
  warmUpMs?: number;
  say(line: string): void;
}

export interface ChaosReport extends LeasesOfRunning {
  seed: number;
  seconds: number;
  faults: Fault[];
  comparison: Comparison;
  /** Of an outage: whether nodes served all that their leases could pay. */
  coverage: Coverage | undefined;
  /** What each wallet should hold and does not, in micro-USD, summed. Must be 0. */
  walletDifferenceMicros: bigint;
  /** Must all be 0 or empty. */
  duplicates: number;
  negativeBalances: number;
  openLeases: number;
  /** Keys that spent more than their limit. */
  overLimits: number;
  alarms: number;
  crashes: string[];
  /** What the invariants command printed; empty when all hold. */
  invariants: string;
  statuses: Record<string, number>;
  drainSeconds: number;
}

const PRICE = 30_000n;
const CLIENTS_PER_WALLET = 5;
/** One rich wallet, and poor ones that are topped up again and again, in dollars. */
const BALANCES = ['100000', '1.5', '0.6'] as const;
/** In micro-USD: reached early in a long run. */
const KEY_LIMIT = 3_000_000n;
const TOP_UP = '0.30';
const TOP_UP_EVERY_MS = 1_000;
const DRAIN_WITHIN_MS = 90_000;
const WARM_UP_MS = 15_000;

interface Buyer extends Customer {
  /** Micro-USD that were paid in, for certain. */
  paid: bigint;
}

/** Runs it all. Throws only when the stage itself cannot be built or healed. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const stage = await openStage(options.nodes);
  try {
    const random = randomOf(options.seed);
    const buyers = await addBuyers(stage);
    const seen: Attempt[] = [];
    let running = true;
    const startedAt = Date.now();
    const hasLimits = options.plan !== 'outage';
    const clients = await startClients({ stage, buyers, random, seen, running: () => running, hasLimits });
    const topUps = buyers.map((buyer, at) => (at === 0 ? undefined : keepAlive(stage, buyer, () => running)));
    const faults =
      options.plan === 'outage'
        ? outage(stage, { durationMs: options.durationMs, warmUpMs: options.warmUpMs ?? WARM_UP_MS })
        : breakThings(stage, random, () => running);
    await (options.plan === 'outage' ? faults.ended : sleep(options.durationMs));
    running = false;
    options.say('healing and draining');
    await faults.ended;
    await Promise.all([...clients, ...topUps]);
    const drainFrom = Date.now();
    const { keptLeases, idleLeases } = await drain(stage);
    const drainSeconds = Math.round((Date.now() - drainFrom) / 1_000);
    const report = await judge(stage, { buyers, seen, faults: faults.done });
    const past = { seen, faults: faults.done, price: PRICE, durationMs: options.durationMs };
    const coverage = options.plan === 'outage' ? await coverageOfOutage(stage, past) : undefined;
    const seconds = Math.round((Date.now() - startedAt) / 1_000);
    const drained = { drainSeconds, keptLeases, idleLeases };
    return { seed: options.seed, seconds, coverage, ...drained, ...report };
  } finally {
    await stage.close();
  }
}

async function addBuyers({ house }: Stage): Promise<Buyer[]> {
  const buyers: Buyer[] = [];
  for (const balance of BALANCES) {
    const customer = await addCustomer(house, balance);
    buyers.push({ ...customer, paid: BigInt(Math.round(Number(balance) * 1_000_000)) });
  }
  return buyers;
}

interface Traffic {
  stage: Stage;
  buyers: readonly Buyer[];
  random: Random;
  seen: Attempt[];
  running(): boolean;
  /** One key of each wallet may spend so much and no more. */
  hasLimits: boolean;
}

async function startClients({
  stage,
  buyers,
  random,
  seen,
  running,
  hasLimits,
}: Traffic): Promise<Promise<void>[]> {
  const clients: Promise<void>[] = [];
  for (const buyer of buyers) {
    const keys = [{ key: buyer.key, keyId: buyer.keyId }];
    const limit = hasLimits ? { spendLimit: formatDollars(KEY_LIMIT) } : {};
    keys.push(await addKey(stage.house, buyer, limit));
    while (keys.length < CLIENTS_PER_WALLET) keys.push(await addKey(stage.house, buyer));
    for (const key of keys) {
      const setting = { ...key, nodes: stage.house.nodes, random: random.fork(`client ${clients.length}`) };
      clients.push(runClient(setting, seen, running));
    }
  }
  return clients;
}

/** Pays in again and again; each payment is repeated under its key until it is known to have arrived. */
async function keepAlive({ house }: Stage, buyer: Buyer, running: () => boolean): Promise<void> {
  for (let number = 1; running(); number += 1) {
    const once = `${buyer.userId} ${number}`;
    for (;;) {
      try {
        await topUp(house, buyer.userId, TOP_UP, { once, bucket: number % 2 === 0 ? 'GIFT' : 'CASH' });
        break;
      } catch {
        await sleep(200);
      }
    }
    buyer.paid += 300_000n;
    await sleep(TOP_UP_EVERY_MS);
  }
}

/**
 * Waits until every node has settled everything and given back what was called back, then stops the nodes,
 * which gives back all other leases. Says which leases were kept all the same, and how many were not wanted.
 */
async function drain(stage: Stage): Promise<LeasesOfRunning> {
  const until = Date.now() + DRAIN_WITHIN_MS;
  for (;;) {
    const rows = await rowsOf<{ waiting: number }>(
      stage,
      `select count(*)::int as waiting from data_plane_node
        where usage_backlog > 0 or last_seen_at < clock_timestamp() - interval '7 seconds'`,
    ).catch(() => [{ waiting: -1 }]);
    if (rows[0]?.waiting === 0) break;
    if (Date.now() > until) throw new Error(`the nodes did not settle: ${JSON.stringify(rows)}`);
    await sleep(200);
  }
  const leases = await leasesWhileRunning(stage);
  stage.closing();
  const stop = () => Promise.all(stage.house.nodes.map((node) => node.process.stop()));
  await stop();
  if ((await openLeases(stage)) === 0) return leases;
  // A node has 5 s to give all back, which is too little on a busy machine: then the next start does it.
  await Promise.all(stage.house.nodes.map((node) => node.restart()));
  while ((await openLeases(stage)) > 0 && Date.now() < until) await sleep(200);
  await stop();
  return leases;
}

function openLeases(stage: Stage): Promise<number> {
  return count(
    stage,
    "select count(*)::int as count from wallet_lease where state in ('ACTIVE', 'ORPHANED')",
  );
}

interface Evidence {
  buyers: readonly Buyer[];
  seen: readonly Attempt[];
  faults: Fault[];
}

async function judge(
  stage: Stage,
  { buyers, seen, faults }: Evidence,
): Promise<Omit<ChaosReport, 'seed' | 'seconds' | 'coverage' | 'drainSeconds' | keyof LeasesOfRunning>> {
  const charges = await bookedCharges(stage);
  const freed = await rowsOf<{ request_id: string; outcome: string }>(
    stage,
    'select request_id, outcome from usage_entry where cost = 0',
  );
  const free = new Map(freed.map((row) => [row.request_id, row.outcome]));
  const { completed, begun } = stage.model;
  const books = { price: PRICE, charges, free, completed, begun };
  const comparison = compare(seen, books, faults);
  return {
    faults,
    comparison,
    walletDifferenceMicros: await walletDifference(stage, buyers),
    duplicates: charges.length - new Set(charges.map(({ requestId }) => requestId)).size,
    negativeBalances: await count(
      stage,
      "select count(*)::int as count from ledger_account where kind in ('WALLET', 'LEASE') and balance < 0",
    ),
    openLeases: await openLeases(stage),
    overLimits: await count(
      stage,
      `select count(*)::int as count from api_key k where k.spend_limit < (select coalesce(sum(amount), 0)
        from usage_charge join usage_entry e using (request_id) where e.key_id = k.id)`,
    ),
    alarms: await count(stage, 'select count(*)::int as count from settlement_alarm'),
    crashes: stage.crashes,
    invariants: await brokenInvariants(stage),
    statuses: tally(seen),
  };
}

async function bookedCharges(stage: Stage): Promise<BookedCharge[]> {
  const rows = await rowsOf<{
    request_id: string;
    key_id: string;
    amount: string;
    at: Date;
    outcome: string;
  }>(
    stage,
    'select request_id, key_id, amount, at, outcome from usage_charge join usage_entry using (request_id)',
  );
  return rows.map((row) => ({
    requestId: row.request_id,
    keyId: row.key_id,
    amount: BigInt(row.amount),
    at: row.at.getTime(),
    outcome: row.outcome,
  }));
}

/** What was paid in must be what was charged and what is left. */
async function walletDifference(stage: Stage, buyers: readonly Buyer[]): Promise<bigint> {
  let difference = 0n;
  for (const { walletId, paid } of buyers) {
    const [row] = await rowsOf<{ left: string; spent: string }>(
      stage,
      `select (select sum(balance) from ledger_account where wallet_id = $1 and kind in ('WALLET', 'LEASE'))
          as left,
        (select coalesce(sum(amount), 0) from usage_charge join usage_entry using (request_id)
          where wallet_id = $1) as spent`,
      [walletId],
    );
    const off = paid - BigInt(row?.left ?? 0) - BigInt(row?.spent ?? 0);
    difference += off < 0n ? -off : off;
  }
  return difference;
}

async function count(stage: Stage, text: string): Promise<number> {
  return (await rowsOf<{ count: number }>(stage, text))[0]?.count ?? -1;
}

/** Runs the command that operators run. */
async function brokenInvariants({ databaseUrl }: Stage): Promise<string> {
  const command = join(import.meta.dirname, '..', '..', 'dist', 'control-plane', 'wallet', 'check-ledger.js');
  const env = { ...process.env, DATABASE_URL: databaseUrl };
  try {
    await promisify(execFile)(process.execPath, [command], { env });
    return '';
  } catch (error) {
    return error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error);
  }
}

function tally(seen: readonly Attempt[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, finished, left } of seen) {
    const end = finished ? 'to the end' : left ? 'left' : 'broken off';
    const name = status === 200 ? `200 ${end}` : String(status ?? 'no answer');
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
