/**
 * Measures one wallet under 1,000 requests a second over two nodes: the load on the control plane's database,
 * and how long the end of an answer waits for its charge. Requests start at a fixed rate, even if answers are
 * late.
 */
import { Pool } from 'undici';
import { addCustomer, addUpstream, startHouse } from '../house.ts';
import type { Customer, House } from '../house.ts';

const OFFERED_PER_SECOND = 1_000;
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 10);
const WARM_UP_SECONDS = 3;
/** Time between two groups of requests. */
const INTERVAL_MS = 5;
const NODES = 2;
const MODEL = 'budget';
/** Time without requests, in which the transactions of the idle house are counted. */
const IDLE_MS = 3_000;
/** PostgreSQL counts a transaction of a busy connection up to a second late. */
const COUNTED_AFTER_MS = 2_000;
const SETTLED_WITHIN_MS = 20_000;

/** The measured figures. `database` has counts of tables over the measured seconds. */
export interface WalletFigures {
  offeredPerSecond: number;
  answeredPerSecond: number;
  answered: number;
  refused: Record<string, number>;
  answerP50Ms: number;
  answerP99Ms: number;
  commitP50Ms: number;
  commitP99Ms: number;
  database: Counts;
  /** Leases since the house started. Most of them are granted while the rate grows. */
  leasesInAll: number;
  /** Transactions per second without requests: heartbeats, polls, this measurement. */
  idleTransactionsPerSecond: number;
  seconds: number;
}

interface Counts {
  leasesGranted: number;
  settlementBatches: number;
  ledgerTransactions: number;
  charges: number;
  /** All transactions that PostgreSQL committed, those of leases and settlement included. */
  transactions: number;
}

/** Starts a house of two nodes on the database and measures. Throws if a charge is missing. */
export async function measureWallet(databaseUrl: string, origin: string): Promise<WalletFigures> {
  const house = await startHouse({ databaseUrl, nodes: NODES });
  try {
    await addUpstream(house, { baseUrl: `${origin}/v1`, models: [MODEL] });
    const customer = await addCustomer(house, '10000');
    await offer(house, customer, WARM_UP_SECONDS);
    await settled(house);
    return await measure(house, customer);
  } finally {
    await house.stop();
  }
}

async function measure(house: House, customer: Customer): Promise<WalletFigures> {
  const idle = await countedOver(house, () => pause(IDLE_MS));
  const waitsBefore = await commitWaits(house);
  const startedAt = performance.now();
  const database = await countedOver(house, async () => {
    const offered = await offer(house, customer, SECONDS);
    await settled(house);
    return offered;
  });
  const seconds = (performance.now() - startedAt) / 1_000;
  const { times, refused, seconds: offeredFor } = database.result;
  const { charges } = database.counts;
  if (charges !== times.length) throw new Error(`${times.length} answers and ${charges} charges`);
  const waits = since(waitsBefore, await commitWaits(house));
  return {
    offeredPerSecond: OFFERED_PER_SECOND,
    answeredPerSecond: times.length / offeredFor,
    answered: times.length,
    refused,
    answerP50Ms: quantile(times, 0.5),
    answerP99Ms: quantile(times, 0.99),
    commitP50Ms: quantileOf(waits, 0.5) * 1_000,
    commitP99Ms: quantileOf(waits, 0.99) * 1_000,
    database: database.counts,
    leasesInAll: (await counts(house)).leasesGranted,
    idleTransactionsPerSecond: idle.counts.transactions / ((IDLE_MS + COUNTED_AFTER_MS) / 1_000),
    seconds,
  };
}

interface Offered {
  /** Duration of each request that was answered with 200, in ms. */
  times: number[];
  refused: Record<string, number>;
  seconds: number;
}

/** Sends requests at the rate, to the nodes in turn. Resolves when all of them are answered. */
async function offer(house: House, { key }: Customer, seconds: number): Promise<Offered> {
  const pools = house.nodes.map(({ url }) => new Pool(url, { connections: 64, pipelining: 1 }));
  const offered: Offered = { times: [], refused: {}, seconds: 0 };
  const startedAt = performance.now();
  const open = new Set<Promise<void>>();
  for (let sent = 0; sent < OFFERED_PER_SECOND * seconds; await pause(INTERVAL_MS)) {
    const due = Math.floor(((performance.now() - startedAt) / 1_000) * OFFERED_PER_SECOND);
    for (; sent < Math.min(due, OFFERED_PER_SECOND * seconds); sent += 1) {
      const pool = pools[sent % pools.length];
      if (!pool) throw new Error('The house has no node.');
      const asked = ask(pool, key, offered).finally(() => open.delete(asked));
      open.add(asked);
    }
  }
  await Promise.all(open);
  offered.seconds = (performance.now() - startedAt) / 1_000;
  await Promise.all(pools.map((pool) => pool.close()));
  return offered;
}

const BODY = JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Two hundred words.' }] });

async function ask(pool: Pool, key: string, offered: Offered): Promise<void> {
  const from = performance.now();
  const answer = await pool.request({
    path: '/v1/chat/completions',
    method: 'POST',
    body: BODY,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
  });
  await answer.body.text();
  const { statusCode } = answer;
  if (statusCode === 200) offered.times.push(performance.now() - from);
  else offered.refused[statusCode] = (offered.refused[statusCode] ?? 0) + 1;
}

/** Runs the work. Returns its result, and the difference of the database's counts. */
async function countedOver<Result>(
  house: House,
  work: () => Promise<Result>,
): Promise<{ result: Result; counts: Counts }> {
  const before = await counts(house);
  const result = await work();
  await pause(COUNTED_AFTER_MS);
  const after = await counts(house);
  const more = (name: keyof Counts): number => after[name] - before[name];
  return {
    result,
    counts: {
      leasesGranted: more('leasesGranted'),
      settlementBatches: more('settlementBatches'),
      ledgerTransactions: more('ledgerTransactions'),
      charges: more('charges'),
      transactions: more('transactions'),
    },
  };
}

async function counts({ database }: House): Promise<Counts> {
  const { rows } = await database.query<Counts>(`
    select (select count(*)::int from wallet_lease) as "leasesGranted",
      (select count(*)::int from ledger_transaction where kind = 'USAGE') as "settlementBatches",
      (select count(*)::int from ledger_transaction) as "ledgerTransactions",
      (select count(*)::int from usage_charge) as "charges",
      (select xact_commit::int from pg_stat_database where datname = current_database()) as "transactions"`);
  const [row] = rows;
  if (!row) throw new Error('The database returned no counts.');
  return row;
}

/** Waits until no node has usage to report. */
export async function settled(house: House, withinMs = SETTLED_WITHIN_MS): Promise<void> {
  const until = performance.now() + withinMs;
  for (;;) {
    const backlogs = await Promise.all(house.nodes.map(({ url }) => metric(url, 'gateway_usage_backlog')));
    if (backlogs.every((lines) => lines.every(({ value }) => value === 0))) return;
    if (performance.now() > until) throw new Error('The usage was not settled in time.');
    await pause(50);
  }
}

interface Bucket {
  /** In seconds. */
  upTo: number;
  /** Number of waits up to this length. */
  count: number;
}

async function commitWaits(house: House): Promise<Bucket[]> {
  const sums = new Map<number, number>();
  for (const { url } of house.nodes) {
    for (const { label, value } of await metric(url, 'gateway_commit_seconds_bucket')) {
      const upTo = label === '+Inf' ? Infinity : Number(label);
      sums.set(upTo, (sums.get(upTo) ?? 0) + value);
    }
  }
  return [...sums].map(([upTo, count]) => ({ upTo, count })).sort((one, other) => one.upTo - other.upTo);
}

function since(before: readonly Bucket[], after: readonly Bucket[]): Bucket[] {
  return after.map(({ upTo, count }, at) => ({ upTo, count: count - (before[at]?.count ?? 0) }));
}

/** The values of a metric of a node, each with its label "le". */
export async function metric(url: string, name: string): Promise<{ label: string; value: number }[]> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return text.split('\n').flatMap((line) => {
    const match = /^(\w+)(?:\{le="([^"]+)"\})? (\S+)$/.exec(line);
    return match?.[1] === name ? [{ label: match[2] ?? '', value: Number(match[3]) }] : [];
  });
}

/** A quantile in seconds, interpolated linearly within its bucket, as Prometheus does. */
function quantileOf(buckets: readonly Bucket[], part: number): number {
  const wanted = (buckets.at(-1)?.count ?? 0) * part;
  let below: Bucket = { upTo: 0, count: 0 };
  for (const bucket of buckets) {
    if (bucket.count >= wanted && bucket.count > below.count) {
      if (bucket.upTo === Infinity) return below.upTo;
      const share = (wanted - below.count) / (bucket.count - below.count);
      return below.upTo + share * (bucket.upTo - below.upTo);
    }
    below = bucket;
  }
  return below.upTo;
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
