/**
 * Measures the duration of GraphQL queries over HTTP. Each runs as the administrator or as the user with the
 * most requests.
 */
import { ADMIN } from '../house.ts';
import type { House } from '../house.ts';
import { apiClient } from '../house/client.ts';
import type { ApiClient } from '../house/client.ts';
import { consoleQueries } from './console-queries.ts';
import type { ConsoleQuery } from './console-queries.ts';

const ROUNDS = 30;
const WARM_ROUNDS = 3;
/** Maximum time in ms in which rounds of a query start. */
const QUERY_MS_MAX = 20_000;
/** Address of the user for whom the seed creates the most requests. */
const HEAVIEST = 'seed-1-0@example.com';

/** Queries that the console does not send, and scripts may. */
const MORE: readonly Omit<ConsoleQuery, 'variables'>[] = [
  ...['LAST_USED_AT', 'SPEND', 'NAME'].map((field) => ({
    name: `keys by ${field}`,
    admin: false,
    text: `{ viewer { apiKeys(first: 50, orderBy: { field: ${field}, direction: DESC }) { totalCount nodes {
      id name lastUsedAt spentThisMonth owner { id } usageSummary(range: { from: "${daysAgo(7)}",
      to: "${daysAgo(0)}" }, bucket: DAY) { totals { cost } series { at totals { requests } } } } } } }`,
  })),
  {
    name: 'failed requests',
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

/** Percentiles of the duration of one repeated action. */
export interface Figures {
  name: string;
  times: number;
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
}

function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString();
}

/** The percentiles of times in ms. */
export function figuresOf(name: string, times: number[]): Figures {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { name, times: times.length, p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99) };
}

/** How long the work takes, in ms. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** The heaviest user signs in with the administrator's password, in the bench's own database. */
export async function signInAsHeaviest(house: House): Promise<ApiClient> {
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

/**
 * Durations in ms after some rounds to warm up. A slow query, such as a check of the ledger, has fewer
 * rounds.
 */
async function timesOf(ask: () => Promise<unknown>): Promise<number[]> {
  const end = performance.now() + QUERY_MS_MAX;
  const times: number[] = [];
  for (let round = 0; round < WARM_ROUNDS + ROUNDS && performance.now() < end; round += 1)
    times.push(await timed(ask));
  return times.length > WARM_ROUNDS ? times.slice(WARM_ROUNDS) : times;
}

/** Measures every query; the slowest comes first. A query that fails is named on stderr and left out. */
export async function measureQueries(house: House): Promise<Figures[]> {
  const user = await signInAsHeaviest(house);
  const { viewer } = await user.query<{
    viewer: { id: string; apiKeys: { nodes: { id: string }[] }; usage: { nodes: { requestId: string }[] } };
  }>('query { viewer { id apiKeys(first: 1) { nodes { id } } usage(first: 1) { nodes { requestId } } } }');
  const keyId = viewer.apiKeys.nodes[0]?.id ?? '';
  const requestId = viewer.usage.nodes[0]?.requestId ?? '';
  const ids = {
    OneUser: viewer.id,
    UserReach: viewer.id,
    KeySetup: keyId,
    KeyToEdit: keyId,
    RecentUse: keyId,
    Receipt: requestId,
    Charge: requestId,
  };
  const queries = [
    ...consoleQueries(ids),
    ...MORE.map((one) => ({ ...one, text: `query ${one.text}`, variables: {} })),
  ];
  const found: Figures[] = [];
  for (const { name, text, variables, admin } of queries) {
    const named = Object.entries(variables).filter(([variable]) => ['id', 'requestId'].includes(variable));
    if (named.some(([, value]) => !value)) continue;
    const ask = (): Promise<unknown> => (admin ? house.admin : user).query(text, variables);
    try {
      found.push(figuresOf(`${name}${admin ? ' (admin)' : ''}`, await timesOf(ask)));
    } catch (error) {
      // The page needs data that this database does not have.
      process.stderr.write(
        `not measured: ${name}: ${error instanceof Error ? error.message : String(error)}\n`,
      );
    }
  }
  return found.toSorted((one, other) => other.p95Ms - one.p95Ms);
}

/** The figures as a Markdown table. */
export function table(rows: readonly Figures[]): string {
  return [
    '| what | times | p50 ms | p95 ms | p99 ms |',
    '|---|---|---|---|---|',
    ...rows.map(
      ({ name, times, p50Ms, p95Ms, p99Ms }) =>
        `| ${name} | ${times} | ${p50Ms.toFixed(1)} | ${p95Ms.toFixed(1)} | ${p99Ms.toFixed(1)} |`,
    ),
  ].join('\n');
}
