/** How upstreams do: the newest word of every node, kept where every control plane finds the same. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { OFFLINE_AFTER_MS } from '@gateway/shared/node-api';
import { CIRCUIT_STATES, CREDENTIALS_MAX, UPSTREAMS_MAX } from '@gateway/shared/upstream-health';
import type { CircuitState, CredentialReport, Fault, UpstreamReport } from '@gateway/shared/upstream-health';
import { inTransaction, query, sql, toDate } from '../sql.ts';
import type { ProbeResult } from './probe.ts';

/** Above these shares of failures an upstream counts as degraded, and as down. */
const DEGRADED_ABOVE = 0.05;
const DOWN_ABOVE = 0.5;

/** How one upstream does on one node. */
export interface NodeHealth {
  nodeName: string;
  asOf: Date;
  circuit: CircuitState;
  requests: number;
  busy: number;
  timeouts: number;
  refused: number;
  failed: number;
  p50LatencyMs: number | null;
  p95LatencyMs: number | null;
}

/** How one upstream does on all nodes that were heard of lately. */
export interface HealthView {
  status: 'OK' | 'DEGRADED' | 'DOWN' | 'UNKNOWN';
  circuit: CircuitState;
  requests5m: number;
  /** Between 0 and 1, with four digits; null where nobody asked. */
  errorRate5m: string | null;
  p95LatencyMs: number | null;
  asOf: Date | null;
  nodes: NodeHealth[];
}

/** The health of an upstream that no node speaks of. */
export const UNKNOWN_HEALTH: HealthView = viewOf([]);

/** What a node says of its upstreams; a node of an earlier release says nothing. */
export interface NodeReports {
  upstreams?: readonly Optional<UpstreamReport, 'p50Ms' | 'p95Ms'>[] | null;
  credentials?: readonly Optional<CredentialReport, 'lastError' | 'lastErrorMsAgo'>[] | null;
}

type Optional<Report, Name extends keyof Report> = Omit<Report, Name> & {
  [Key in Name]?: Report[Key] | undefined;
};

/** Keeps what a node reports with its heartbeat. What is gone meanwhile is left out. */
export async function keepReports(em: EntityManager, nodeId: string, reports: NodeReports): Promise<void> {
  const upstreams = (reports.upstreams ?? []).map((report) => ({
    ...report,
    p50Ms: report.p50Ms ?? null,
    p95Ms: report.p95Ms ?? null,
  }));
  const credentials = (reports.credentials ?? []).map((report) => ({
    ...report,
    lastError: report.lastError ?? null,
    lastErrorMsAgo: report.lastErrorMsAgo ?? null,
  }));
  await inTransaction(em, async (inner) => {
    await keepUpstreams(inner, nodeId, upstreams);
    await keepCredentials(inner, credentials);
  });
}

/** Keeps what a node reports of its upstreams. Providers that are gone meanwhile are left out. */
async function keepUpstreams(
  em: EntityManager,
  nodeId: string,
  given: readonly UpstreamReport[],
): Promise<void> {
  const reports = onceEach(given.slice(0, UPSTREAMS_MAX), ({ providerId }) => providerId);
  if (reports.length === 0) return;
  const column = <Name extends keyof UpstreamReport>(name: Name) => reports.map((report) => report[name]);
  await query(
    em,
    sql`
    insert into upstream_health as h (node_id, provider_id, at, circuit, requests, busy, timeouts, refused,
      failed, p50_ms, p95_ms)
    select ${nodeId}, p.id, clock_timestamp(), u.circuit, u.requests, u.busy, u.timeouts, u.refused, u.failed,
      u.p50_ms, u.p95_ms
    from unnest(${column('providerId')}::text[], ${column('circuit')}::text[],
      ${column('requests')}::integer[], ${column('busy')}::integer[], ${column('timeouts')}::integer[],
      ${column('refused')}::integer[], ${column('failed')}::integer[], ${column('p50Ms')}::integer[],
      ${column('p95Ms')}::integer[])
      as u (id, circuit, requests, busy, timeouts, refused, failed, p50_ms, p95_ms)
    join provider p on p.id = u.id for key share of p
    on conflict (node_id, provider_id) do update set at = excluded.at, circuit = excluded.circuit,
      requests = excluded.requests, busy = excluded.busy, timeouts = excluded.timeouts,
      refused = excluded.refused, failed = excluded.failed, p50_ms = excluded.p50_ms,
      p95_ms = excluded.p95_ms`,
  );
}

/** Keeps when credentials were used and how they failed last. Unknown ones are left out. */
async function keepCredentials(em: EntityManager, given: readonly CredentialReport[]): Promise<void> {
  const reports = onceEach(given.slice(0, CREDENTIALS_MAX), ({ credentialId }) => credentialId);
  if (reports.length === 0) return;
  const ages = reports.map(({ usedMsAgo }) => Math.max(0, usedMsAgo));
  const errorAges = reports.map(({ lastError, lastErrorMsAgo }) =>
    lastError === null || lastErrorMsAgo === null ? null : Math.max(0, lastErrorMsAgo),
  );
  const errors = reports.map(({ lastError }, index) => (errorAges[index] === null ? null : lastError));
  await query(
    em,
    sql`
    insert into credential_use as c (credential_id, last_used_at, last_error, last_error_at)
    select k.id, clock_timestamp() - u.age * interval '1 millisecond', u.error,
      clock_timestamp() - u.error_age * interval '1 millisecond'
    from unnest(${reports.map(({ credentialId }) => credentialId)}::text[], ${ages}::bigint[],
      ${errors}::text[], ${errorAges}::bigint[]) as u (id, age, error, error_age)
    join credential k on k.id = u.id order by k.id for key share of k
    on conflict (credential_id) do update set
      last_used_at = greatest(c.last_used_at, excluded.last_used_at),
      last_error = case when excluded.last_error_at > coalesce(c.last_error_at, '-infinity')
        then excluded.last_error else c.last_error end,
      last_error_at = greatest(c.last_error_at, excluded.last_error_at)`,
  );
}

/** Keeps what a probe of a provider found, in words of ours alone. */
export async function keepProbe(em: EntityManager, providerId: string, found: ProbeResult): Promise<void> {
  await query(
    em,
    sql`
    insert into upstream_probe (provider_id, at, http_status, latency_ms, error)
    select id, clock_timestamp(), ${found.status}, ${found.latencyMs}, ${found.fault} from provider
    where id = ${providerId} for key share
    on conflict (provider_id) do update set at = excluded.at, http_status = excluded.http_status,
      latency_ms = excluded.latency_ms, error = excluded.error`,
  );
}

interface HealthRow {
  provider_id: string;
  node_name: string;
  at: string;
  circuit: CircuitState;
  requests: number;
  busy: number;
  timeouts: number;
  refused: number;
  failed: number;
  p50_ms: number | null;
  p95_ms: number | null;
}

/** The health of each provider that a node spoke of lately. */
export async function healthOfProviders(
  em: EntityManager,
  ids: readonly string[],
): Promise<ReadonlyMap<string, HealthView>> {
  const rows = await query<HealthRow>(
    em,
    sql`
    select h.*, n.name as node_name from upstream_health h join data_plane_node n on n.id = h.node_id
    where h.provider_id = any(${[...ids]}::text[])
      and h.at > clock_timestamp() - ${OFFLINE_AFTER_MS} * interval '1 millisecond'
    order by n.name`,
  );
  const byProvider = Map.groupBy(rows, (row) => row.provider_id);
  return new Map([...byProvider].map(([id, group]) => [id, viewOf(group.map(nodeHealthOf))]));
}

/** What the last probe of a provider found. */
export interface ProbeView {
  at: Date;
  status: number | null;
  latencyMs: number;
  error: Fault | null;
}

/** The last probe of each provider that was ever probed. */
export async function probesOfProviders(
  em: EntityManager,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ProbeView>> {
  return viewsOf(
    await query<{ id: string; at: string; status: number | null; latencyMs: number; error: Fault | null }>(
      em,
      sql`select provider_id as id, at, http_status as status, latency_ms as "latencyMs", error
        from upstream_probe where provider_id = any(${[...ids]}::text[])`,
    ),
    ({ at, ...probe }) => ({ ...probe, at: toDate(at) }),
  );
}

/** When a credential was used last, and how it failed last. */
export interface CredentialUse {
  lastUsedAt: Date;
  lastError: Fault | null;
  lastErrorAt: Date | null;
}

/** The use of each credential that was ever used. */
export async function usesOfCredentials(
  em: EntityManager,
  ids: readonly string[],
): Promise<ReadonlyMap<string, CredentialUse>> {
  return viewsOf(
    await query<{ id: string; usedAt: string; lastError: Fault | null; failedAt: string | null }>(
      em,
      sql`select credential_id as id, last_used_at as "usedAt", last_error as "lastError",
        last_error_at as "failedAt" from credential_use where credential_id = any(${[...ids]}::text[])`,
    ),
    ({ usedAt, lastError, failedAt }) => ({
      lastUsedAt: toDate(usedAt),
      lastError,
      lastErrorAt: failedAt === null ? null : toDate(failedAt),
    }),
  );
}

function viewsOf<Row extends { id: string }, View>(
  rows: readonly Row[],
  viewOfRow: (row: Omit<Row, 'id'>) => View,
): ReadonlyMap<string, View> {
  return new Map(rows.map(({ id, ...row }) => [id, viewOfRow(row)]));
}

/** One view of what several nodes say: the worst circuit, the slowest figure, all requests together. */
function viewOf(nodes: NodeHealth[]): HealthView {
  const sum = (of: (node: NodeHealth) => number): number => nodes.reduce((all, node) => all + of(node), 0);
  const requests = sum((node) => node.requests);
  const errors = sum(({ busy, timeouts, refused, failed }) => busy + timeouts + refused + failed);
  const errorRate = requests > 0 ? errors / requests : null;
  const circuits = nodes.map(({ circuit }) => CIRCUIT_STATES.indexOf(circuit));
  const latencies = nodes.flatMap(({ p95LatencyMs }) => p95LatencyMs ?? []);
  return {
    status: statusOf(nodes, errorRate),
    circuit: CIRCUIT_STATES[Math.max(0, ...circuits)] ?? 'CLOSED',
    requests5m: requests,
    errorRate5m: errorRate?.toFixed(4) ?? null,
    p95LatencyMs: latencies.length > 0 ? Math.max(...latencies) : null,
    asOf: nodes.length > 0 ? new Date(Math.max(...nodes.map(({ asOf }) => asOf.getTime()))) : null,
    nodes,
  };
}

function statusOf(nodes: readonly NodeHealth[], errorRate: number | null): HealthView['status'] {
  if (nodes.length === 0) return 'UNKNOWN';
  if (nodes.every(({ circuit }) => circuit === 'OPEN') || (errorRate ?? 0) > DOWN_ABOVE) return 'DOWN';
  const isWell = nodes.every(({ circuit }) => circuit === 'CLOSED') && (errorRate ?? 0) <= DEGRADED_ABOVE;
  return isWell ? 'OK' : 'DEGRADED';
}

function nodeHealthOf({ node_name, at, p50_ms, p95_ms, ...row }: HealthRow): NodeHealth {
  const { circuit, requests, busy, timeouts, refused, failed } = row;
  const counts = { requests, busy, timeouts, refused, failed };
  return {
    nodeName: node_name,
    asOf: toDate(at),
    circuit,
    ...counts,
    p50LatencyMs: p50_ms,
    p95LatencyMs: p95_ms,
  };
}

function onceEach<Report>(reports: readonly Report[], idOf: (report: Report) => string): Report[] {
  return [...new Map(reports.map((report) => [idOf(report), report])).values()];
}
