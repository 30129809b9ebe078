/**
 * Runs one chaos run: starts everything, sends traffic under faults, heals, drains, and compares all records.
 */
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
import type { Comparison, RecordedCharge } from './compare.ts';
import type { Coverage } from './coverage.ts';
import { rowsOf, startEnvironment } from './environment.ts';
import type { Environment } from './environment.ts';
import { injectFaults, outage } from './faults.ts';
import type { Fault } from './faults.ts';
import { coverageOfOutage, openLeasesAfterRecalls } from './leases.ts';
import type { OpenLeases } from './leases.ts';
import { keepPaying, paidByCard, payFirst, paymentReport, settlePayments } from './payments.ts';
import type { Payer, PaymentReport } from './payments.ts';
import { randomOf } from './random.ts';
import type { Random } from './random.ts';

export interface ChaosOptions {
  seed: number;
  /** How long faults are injected, in ms. */
  durationMs: number;
  nodes: number;
  /** Workers of each node; by default one. */
  workers?: number;
  /** `storm`: random faults. `outage`: only control plane and PostgreSQL are down, all the time. */
  plan?: 'storm' | 'outage';
  /** How long everything runs before an outage, in ms, so that leases grow with the spending. */
  warmUpMs?: number;
  print(line: string): void;
}

export interface ChaosReport extends OpenLeases {
  seed: number;
  seconds: number;
  faults: Fault[];
  comparison: Comparison;
  payments: PaymentReport;
  /** The judgement of an outage; undefined for a storm. */
  coverage: Coverage | undefined;
  /** Sum over wallets of the difference between paid in, charged and left, in micro-USD. Must be 0. */
  walletDifferenceMicros: bigint;
  /**
   * Number of requests charged twice. This and all following figures up to `invariants` must be 0 or empty.
   */
  duplicates: number;
  negativeBalances: number;
  openLeases: number;
  /** Keys that spent more than their limit. */
  overLimits: number;
  alarms: number;
  crashes: string[];
  /** Output of the ledger check; empty if all invariants hold. */
  invariants: string;
  /** Number of attempts by status and end. */
  statuses: Record<string, number>;
  drainSeconds: number;
}

const PRICE = 30_000n;
const CLIENTS_PER_WALLET = 5;
/** First balances in dollars: one large wallet, and small ones that are topped up repeatedly. */
const BALANCES = ['100000', '1.5', '0.6'] as const;
/** Spend limit of one key per wallet in micro-USD; a long run reaches it early. */
const KEY_LIMIT = 3_000_000n;
const TOP_UP = '0.30';
const TOP_UP_EVERY_MS = 1_000;
const DRAIN_WITHIN_MS = 90_000;
const WARM_UP_MS = 15_000;

interface Buyer extends Customer {
  /** Micro-USD paid in. */
  paid: bigint;
}

/**
 * Runs everything and returns the report. Throws only if the environment cannot be started, healed or
 * drained.
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const environment = await startEnvironment(options.nodes, options.workers ?? 1);
  try {
    const random = randomOf(options.seed);
    const buyers = await addBuyers(environment);
    const hasLimits = options.plan !== 'outage';
    const payers = hasLimits ? await addPayers(environment) : [];
    const seen: Attempt[] = [];
    let running = true;
    const startedAt = Date.now();
    const clients = await startClients({
      environment,
      buyers: [...buyers, ...payers.filter(({ isAutomatic }) => isAutomatic)],
      random,
      seen,
      running: () => running,
      hasLimits,
    });
    const topUps = buyers.map((buyer, at) =>
      at === 0 ? undefined : keepToppedUp(environment, buyer, () => running),
    );
    const faults =
      options.plan === 'outage'
        ? outage(environment, { durationMs: options.durationMs, warmUpMs: options.warmUpMs ?? WARM_UP_MS })
        : injectFaults(environment, random, () => running);
    const payments = payers.map((payer, at) =>
      keepPaying(environment, payer, { random: random.fork(`payer ${at}`), running: () => running }),
    );
    await (options.plan === 'outage' ? faults.ended : sleep(options.durationMs));
    running = false;
    options.print('healing and draining');
    await faults.ended;
    await Promise.all([...clients, ...topUps, ...payments]);
    if (payers.length > 0) await settlePayments(environment);
    const drainFrom = Date.now();
    const { keptLeases, idleLeases } = await drain(environment);
    const drainSeconds = Math.round((Date.now() - drainFrom) / 1_000);
    const report = await judge(environment, { buyers, payers, seen, faults: faults.done });
    const past = { seen, faults: faults.done, price: PRICE, durationMs: options.durationMs };
    const coverage = options.plan === 'outage' ? await coverageOfOutage(environment, past) : undefined;
    const seconds = Math.round((Date.now() - startedAt) / 1_000);
    const drained = { drainSeconds, keptLeases, idleLeases };
    return { seed: options.seed, seconds, coverage, ...drained, ...report };
  } finally {
    await environment.close();
  }
}

async function addBuyers({ house }: Environment): Promise<Buyer[]> {
  const buyers: Buyer[] = [];
  for (const balance of BALANCES) {
    const customer = await addCustomer(house, balance);
    buyers.push({ ...customer, paid: BigInt(Math.round(Number(balance) * 1_000_000)) });
  }
  return buyers;
}

/** Customers who pay by card. Only the ones with automatic top-ups send requests. */
async function addPayers(environment: Environment): Promise<Payer[]> {
  const payers: Payer[] = [];
  for (const isAutomatic of [true, false, false]) {
    const payer = { ...(await addCustomer(environment.house, '0')), isAutomatic };
    await payFirst(environment, payer);
    payers.push(payer);
  }
  return payers;
}

interface Traffic {
  environment: Environment;
  buyers: readonly Customer[];
  random: Random;
  seen: Attempt[];
  running(): boolean;
  /** Whether one key of each wallet has a spend limit. */
  hasLimits: boolean;
}

async function startClients({
  environment,
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
    keys.push(await addKey(environment.house, buyer, limit));
    while (keys.length < CLIENTS_PER_WALLET) keys.push(await addKey(environment.house, buyer));
    for (const key of keys) {
      const setting = {
        ...key,
        nodes: environment.house.nodes,
        random: random.fork(`client ${clients.length}`),
      };
      clients.push(runClient(setting, seen, running));
    }
  }
  return clients;
}

/** Tops up repeatedly; each payment is repeated with its idempotency key until it has succeeded. */
async function keepToppedUp({ house }: Environment, buyer: Buyer, running: () => boolean): Promise<void> {
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
 * Waits until all nodes have settled all charges and returned the recalled leases, then stops the nodes,
 * which return all other leases. Returns the leases that were open before the nodes stopped.
 */
async function drain(environment: Environment): Promise<OpenLeases> {
  const until = Date.now() + DRAIN_WITHIN_MS;
  for (;;) {
    const rows = await rowsOf<{ waiting: number }>(
      environment,
      `select count(*)::int as waiting from data_plane_node
        where usage_backlog > 0 or last_seen_at < clock_timestamp() - interval '7 seconds'`,
    ).catch(() => [{ waiting: -1 }]);
    if (rows[0]?.waiting === 0) break;
    if (Date.now() > until) throw new Error(`The nodes did not settle in time: ${JSON.stringify(rows)}`);
    await sleep(200);
  }
  const leases = await openLeasesAfterRecalls(environment);
  environment.closing();
  const stop = () => Promise.all(environment.house.nodes.map((node) => node.process.stop()));
  await stop();
  if ((await openLeases(environment)) === 0) return leases;
  // A node has 5 s to return all leases. On a busy machine this is too short, and the next start returns the
  // rest.
  await Promise.all(environment.house.nodes.map((node) => node.restart()));
  while ((await openLeases(environment)) > 0 && Date.now() < until) await sleep(200);
  await stop();
  return leases;
}

function openLeases(environment: Environment): Promise<number> {
  return count(
    environment,
    "select count(*)::int as count from wallet_lease where state in ('ACTIVE', 'ORPHANED')",
  );
}

/** Records of the run. */
interface Observations {
  buyers: readonly Buyer[];
  payers: readonly Payer[];
  seen: readonly Attempt[];
  faults: Fault[];
}

async function judge(
  environment: Environment,
  { buyers, payers, seen, faults }: Observations,
): Promise<Omit<ChaosReport, 'seed' | 'seconds' | 'coverage' | 'drainSeconds' | keyof OpenLeases>> {
  const charges = await recordedCharges(environment);
  const freed = await rowsOf<{ request_id: string; outcome: string }>(
    environment,
    'select request_id, outcome from usage_entry where cost = 0',
  );
  const free = new Map(freed.map((row) => [row.request_id, row.outcome]));
  const paid: Buyer[] = [];
  for (const payer of payers) paid.push({ ...payer, paid: await paidByCard(environment, payer.walletId) });
  const { completed, begun } = environment.model;
  const recorded = { price: PRICE, charges, free, completed, begun };
  const comparison = compare(seen, recorded, faults);
  return {
    faults,
    comparison,
    walletDifferenceMicros: await walletDifference(environment, [...buyers, ...paid]),
    payments: await paymentReport(environment),
    duplicates: charges.length - new Set(charges.map(({ requestId }) => requestId)).size,
    negativeBalances: await count(
      environment,
      "select count(*)::int as count from ledger_account where kind in ('WALLET', 'LEASE') and balance < 0",
    ),
    openLeases: await openLeases(environment),
    overLimits: await count(
      environment,
      `select count(*)::int as count from api_key k where k.spend_limit < (select coalesce(sum(amount), 0)
        from usage_charge join usage_entry e using (request_id) where e.key_id = k.id)`,
    ),
    alarms: await count(environment, 'select count(*)::int as count from settlement_alarm'),
    crashes: environment.crashes,
    invariants: await checkLedger(environment),
    statuses: tally(seen),
  };
}

async function recordedCharges(environment: Environment): Promise<RecordedCharge[]> {
  const rows = await rowsOf<{
    request_id: string;
    key_id: string;
    amount: string;
    at: Date;
    outcome: string;
  }>(
    environment,
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

/** Sum over wallets of |paid in − charged − left|, in micro-USD. */
async function walletDifference(environment: Environment, buyers: readonly Buyer[]): Promise<bigint> {
  let difference = 0n;
  for (const { walletId, paid } of buyers) {
    const [row] = await rowsOf<{ left: string; spent: string }>(
      environment,
      `select (select sum(balance) from ledger_account
          where wallet_id = $1 and kind in ('WALLET', 'LEASE', 'RECEIVABLE')) as left,
        (select coalesce(sum(amount), 0) from usage_charge join usage_entry using (request_id)
          where wallet_id = $1) as spent`,
      [walletId],
    );
    const off = paid - BigInt(row?.left ?? 0) - BigInt(row?.spent ?? 0);
    difference += off < 0n ? -off : off;
  }
  return difference;
}

async function count(environment: Environment, text: string): Promise<number> {
  return (await rowsOf<{ count: number }>(environment, text))[0]?.count ?? -1;
}

/** Runs the ledger check as operators do. Returns its output, '' if all invariants hold. */
async function checkLedger({ databaseUrl }: Environment): Promise<string> {
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
    const end = finished ? 'complete' : left ? 'left' : 'broken off';
    const name = status === 200 ? `200 ${end}` : String(status ?? 'no answer');
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
