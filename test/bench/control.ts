/**
 * `npm run bench:control`: the control plane with real amounts of data. Every query of the console over HTTP
 * with a real session, the configuration of all keys to a node, and a key's change until it is refused.
 * Prints tables and writes `.bench/control.json`. BENCH_USERS, BENCH_KEYS, BENCH_USAGE set the amounts;
 * BENCH_DATABASE_URL names a database that `npm run seed` filled, and is measured as it is.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../control-plane/local/postgres.ts';
import { addCustomer, ADMIN, startHouse } from '../house.ts';
import type { House } from '../house.ts';
import { apiClient } from '../house/client.ts';
import type { ApiClient } from '../house/client.ts';
import { seedDatabase } from '../seed/seed.ts';
import { consoleQueries } from './console-queries.ts';
import type { ConsoleQuery } from './console-queries.ts';

const SIZE = {
  users: Number(process.env['BENCH_USERS'] ?? 10_000),
  keys: Number(process.env['BENCH_KEYS'] ?? 100_000),
  usage: Number(process.env['BENCH_USAGE'] ?? 1_000_000),
};
const SEEDED = process.env['BENCH_DATABASE_URL'];
const ROUNDS = 30;
const WARM_ROUNDS = 3;
const CHANGES = 100;
const REFUSED_WITHIN_MS = 5000;
const SNAPSHOT_WITHIN_MS = 120_000;
const OUTPUT = join(import.meta.dirname, '..', '..', '.bench');
const PRELOAD = ['--expose-gc', '--import', join(import.meta.dirname, 'report-usage.ts')];
/** More than all rounds together cost. */
const CONTROL_ENV = { QUERY_BUDGET: '1000000000' };
/** The user with the most requests, by how the seed deals them out. */
const HEAVIEST = 'seed-1-0@example.com';

/** More than the console asks today: lists by use and spend, a chart for each key, the log by filters. */
const MORE: readonly Omit<ConsoleQuery, 'variables'>[] = [
  ...['LAST_USED_AT', 'SPEND', 'NAME'].map((field) => ({
    name: `keys by ${field}`,
    admin: false,
    text: `{ viewer { apiKeys(first: 50, orderBy: { field: ${field}, direction: DESC }) { totalCount nodes {
      id name lastUsedAt spentThisMonth owner { id } usageSummary(range: { from: "${daysAgo(7)}",
      to: "${daysAgo(0)}" }, bucket: DAY) { totals { cost } series { at totals { requests } } } } } } }`,
  })),
  {
    name: 'usage that failed',
    admin: false,
    text: `{ viewer { usage(first: 50, filter: { statuses: [FAILED] }) {
      totalCount nodes { id key { name } } } } }`,
  },
  {
    name: 'usage of everybody',
    admin: true,
    text: '{ admin { usage(first: 100) { totalCount nodes { id requestId key { id } model { id } } } } }',
  },
  ...['MODEL', 'USER', 'KEY'].map((dimension) => ({
    name: `sums of everybody by ${dimension}, 30 days`,
    admin: true,
    text: `{ admin { usageSummary(groupBy: [${dimension}],
      range: { from: "${daysAgo(30)}", to: "${daysAgo(0)}" }) {
      totals { cost } groups { key totals { cost } } } } }`,
  })),
  {
    name: 'keys of everybody',
    admin: true,
    text: '{ admin { apiKeys(first: 50) { totalCount nodes { id owner { email } lastUsedAt } } } }',
  },
];

interface Figures {
  name: string;
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
}

function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString();
}

function figuresOf(name: string, times: number[]): Figures {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { name, p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99) };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** The heaviest user signs in with the administrator's password, in the bench's own database. */
async function signInAsHeaviest(house: House): Promise<ApiClient> {
  await house.database.query(
    `update users set email_verified_at = now(),
      password_hash = (select password_hash from users where email = $1) where email = $2`,
    [ADMIN.email, HEAVIEST],
  );
  await house.database.query(
    `insert into policy_acceptance (id, user_id, policy_version_id, sha256)
      select 'acc_bench', u.id, p.id, p.sha256 from users u, policy_version p where u.email = $1
      on conflict do nothing`,
    [HEAVIEST],
  );
  const api = apiClient(house.controlUrl);
  await api.mutate('signIn', { ...ADMIN, email: HEAVIEST, rememberMe: false }, 'viewer { id }');
  return api;
}

async function measureQueries(house: House): Promise<Figures[]> {
  const user = await signInAsHeaviest(house);
  const { viewer } = await user.query<{ viewer: { apiKeys: { nodes: { id: string }[] } } }>(
    'query { viewer { apiKeys(first: 1) { nodes { id } } } }',
  );
  const ids = { KeySetup: viewer.apiKeys.nodes[0]?.id ?? '' };
  const queries = [
    ...consoleQueries(ids),
    ...MORE.map((one) => ({ ...one, text: `query ${one.text}`, variables: {} })),
  ];
  const found: Figures[] = [];
  for (const { name, text, variables, admin } of queries) {
    if ('id' in variables && !variables['id']) continue;
    const ask = (): Promise<unknown> => (admin ? house.admin : user).query(text, variables);
    try {
      for (let round = 0; round < WARM_ROUNDS; round += 1) await ask();
      const times: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) times.push(await timed(ask));
      found.push(figuresOf(`${name}${admin ? ' (admin)' : ''}`, times));
    } catch (error) {
      // A page that needs something this database does not hold: named, so that nobody takes it for measured.
      process.stderr.write(
        `not measured: ${name}: ${error instanceof Error ? error.message : String(error)}\n`,
      );
    }
  }
  return found.toSorted((one, other) => other.p95Ms - one.p95Ms);
}

interface Snapshot {
  seconds: number;
  megabytes: number;
}

/** A node that lost its folder starts again: everything it knows then comes from one snapshot. */
async function measureSnapshot(house: House): Promise<Snapshot> {
  const [node] = house.nodes;
  if (!node) throw new Error('The house has no node.');
  await node.process.stop();
  rmSync(join(house.dataDir, node.name), { recursive: true, force: true });
  const milliseconds = await timed(async () => {
    await node.restart();
    await until(SNAPSHOT_WITHIN_MS, () => hasAll(house, node.name));
  });
  const { child } = node.process;
  const residentBytes = await new Promise<number>((resolve) => {
    child.on('message', (message: { type: string; residentBytes: number }) => {
      if (message.type === 'usage') resolve(message.residentBytes);
    });
    child.send('usage');
  });
  return { seconds: milliseconds / 1000, megabytes: residentBytes / 1024 / 1024 };
}

/** Whether the node has acknowledged the newest revision. */
async function hasAll(house: House, name: string): Promise<boolean> {
  const { admin } = await house.admin.query<{ admin: NodeRevisions }>(
    'query { admin { configRevision dataPlaneNodes { name appliedRevision } } }',
  );
  const node = admin.dataPlaneNodes.find((one) => one.name === name);
  return node !== undefined && node.appliedRevision >= admin.configRevision;
}

interface NodeRevisions {
  configRevision: number;
  dataPlaneNodes: { name: string; appliedRevision: number }[];
}

async function until(limitMs: number, done: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await done()))
    if (performance.now() > end) throw new Error(`What was waited for did not come in ${limitMs} ms.`);
}

/** From sending the change until the first refused request, with requests one after another. */
async function measureChanges(house: House): Promise<Figures> {
  const { api, keyId, key } = await addCustomer(house, '0');
  const isAccepted = async (): Promise<boolean> => {
    const answer = await fetch(`${house.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    await answer.arrayBuffer();
    return answer.status === 200;
  };
  const seen = (wanted: boolean): Promise<void> =>
    until(REFUSED_WITHIN_MS, async () => (await isAccepted()) === wanted);
  const times: number[] = [];
  for (let change = 0; change < CHANGES; change += 1) {
    await seen(true);
    const disabled = api.mutate('apiKeyDisable', { id: keyId }, 'appliedNodes');
    times.push(await timed(() => seen(false)));
    await disabled;
    await api.mutate('apiKeyEnable', { id: keyId }, 'apiKey { id }');
  }
  return figuresOf('key disabled until a request is refused', times);
}

function table(rows: readonly Figures[]): string {
  return [
    '| what | p50 ms | p95 ms | p99 ms |',
    '|---|---|---|---|',
    ...rows.map(
      ({ name, p50Ms, p95Ms, p99Ms }) =>
        `| ${name} | ${p50Ms.toFixed(1)} | ${p95Ms.toFixed(1)} | ${p99Ms.toFixed(1)} |`,
    ),
  ].join('\n');
}

async function run(databaseUrl: string): Promise<void> {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  if (!SEEDED) {
    const empty = await startHouse({ databaseUrl, controlEnv: CONTROL_ENV, nodes: 0 });
    await empty.stop();
    await seedDatabase(databaseUrl, SIZE, say);
  }
  const house = await startHouse({ databaseUrl, controlEnv: CONTROL_ENV, nodeExecArgv: PRELOAD });
  try {
    const queries = await measureQueries(house);
    say(`\n${table(queries)}\n`);
    const change = await measureChanges(house);
    say(`\n${table([change])}\n`);
    const snapshot = await measureSnapshot(house);
    say(
      `snapshot of ${SIZE.keys} keys: ${snapshot.seconds.toFixed(1)} s, ${snapshot.megabytes.toFixed(0)} MB`,
    );
    mkdirSync(OUTPUT, { recursive: true });
    const machine = { cpus: cpus().length, load: loadavg() };
    const report = { at: new Date(), machine, size: SIZE, snapshot, change, queries };
    writeFileSync(join(OUTPUT, 'control.json'), `${JSON.stringify(report, null, 2)}\n`);
  } finally {
    await house.stop();
  }
}

async function withPostgres(work: (databaseUrl: string) => Promise<void>): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  // The superuser's server runs as somebody else, who has to get through this folder.
  chmodSync(dataDir, 0o711);
  const postgres = await startPostgres({ dataDir });
  try {
    await work(postgres.url);
  } finally {
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

await (SEEDED ? run(SEEDED) : withPostgres(run));
