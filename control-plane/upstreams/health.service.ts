/** Health of upstreams: stores the latest report of each node and of each probe, and combines them. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { OFFLINE_AFTER_MS } from '@gateway/shared/node-api';
import { UPSTREAMS_MAX } from '@gateway/shared/upstream-health';
import type { CircuitState, Fault, UpstreamReport } from '@gateway/shared/upstream-health';
import { inTransaction, query, sql, toDate } from '../database/sql.ts';
import { viewOf } from './health.view.ts';
import type { HealthView, NodeHealth } from './health.view.ts';
import { lastOfEach, recordCredentials, recordRoutes } from './suspension.service.ts';
import type { SuspensionReports } from './suspension.service.ts';
import type { ProbeResult } from './probe.ts';

/** The health reports of a node. Nodes of earlier releases send none. */
export interface NodeReports extends SuspensionReports {
  upstreams?: readonly Optional<UpstreamReport, OptionalFigure>[] | null;
}

type OptionalFigure = 'p50Ms' | 'p95Ms' | 'inputTokens' | 'cachedTokens' | 'clockAheadMs';
type Optional<Report, Name extends keyof Report> = Omit<Report, Name> & {
  [Key in Name]?: Report[Key] | null | undefined;
};

/** Stores the health reports of a node's heartbeat. Ignores deleted providers and credentials. */
export async function recordHealthReports(
  em: EntityManager,
  nodeId: string,
  reports: NodeReports,
): Promise<void> {
  const upstreams = (reports.upstreams ?? []).map((report) => ({
    ...report,
    p50Ms: report.p50Ms ?? null,
    p95Ms: report.p95Ms ?? null,
    inputTokens: report.inputTokens ?? 0,
    cachedTokens: report.cachedTokens ?? 0,
    clockAheadMs: report.clockAheadMs ?? null,
  }));
  await inTransaction(em, async (inner) => {
    await recordUpstreams(inner, nodeId, upstreams);
    await recordCredentials(inner, reports.credentials ?? []);
    await recordRoutes(inner, reports.routes ?? []);
  });
}

async function recordUpstreams(
  em: EntityManager,
  nodeId: string,
  received: readonly UpstreamReport[],
): Promise<void> {
  const reports = lastOfEach(received.slice(0, UPSTREAMS_MAX), ({ providerId }) => providerId);
  if (reports.length === 0) return;
  const column = <Name extends keyof UpstreamReport>(name: Name) => reports.map((report) => report[name]);
  await query(
    em,
    sql`
    insert into upstream_health as h (node_id, provider_id, at, circuit, requests, busy, timeouts, refused,
      failed, p50_ms, p95_ms, input_tokens, cached_tokens, clock_ahead_ms)
    select ${nodeId}, p.id, clock_timestamp(), u.circuit, u.requests, u.busy, u.timeouts, u.refused, u.failed,
      u.p50_ms, u.p95_ms, u.input_tokens, u.cached_tokens, u.clock_ahead_ms
    from unnest(${column('providerId')}::text[], ${column('circuit')}::text[],
      ${column('requests')}::integer[], ${column('busy')}::integer[], ${column('timeouts')}::integer[],
      ${column('refused')}::integer[], ${column('failed')}::integer[], ${column('p50Ms')}::integer[],
      ${column('p95Ms')}::integer[], ${column('inputTokens')}::integer[],
      ${column('cachedTokens')}::integer[], ${column('clockAheadMs')}::integer[])
      as u (id, circuit, requests, busy, timeouts, refused, failed, p50_ms, p95_ms, input_tokens,
        cached_tokens, clock_ahead_ms)
    join provider p on p.id = u.id for key share of p
    on conflict (node_id, provider_id) do update set at = excluded.at, circuit = excluded.circuit,
      requests = excluded.requests, busy = excluded.busy, timeouts = excluded.timeouts,
      refused = excluded.refused, failed = excluded.failed, p50_ms = excluded.p50_ms,
      p95_ms = excluded.p95_ms, input_tokens = excluded.input_tokens,
      cached_tokens = excluded.cached_tokens, clock_ahead_ms = excluded.clock_ahead_ms`,
  );
}

/** The stored result of a probe. */
type ProbeFigures = Pick<ProbeResult, 'status' | 'latencyMs' | 'fault'>;

/** Stores the result of a probe, without text of the upstream. */
export async function recordProbe(
  em: EntityManager,
  providerId: string,
  result: ProbeFigures,
): Promise<void> {
  await query(
    em,
    sql`
    insert into upstream_probe (provider_id, at, http_status, latency_ms, error)
    select id, clock_timestamp(), ${result.status}, ${result.latencyMs}, ${result.fault} from provider
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
  input_tokens: number;
  cached_tokens: number;
  clock_ahead_ms: number | null;
}

/** The health of each provider with a recent report. */
export async function healthOfProviders(
  em: EntityManager,
  ids: readonly string[],
): Promise<ReadonlyMap<string, HealthView>> {
  const rows = await query<HealthRow>(
    em,
    sql`
    select h.*, n.name as node_name from upstream_health h join data_plane_node w on w.id = h.node_id
      join data_plane_node n on n.id = coalesce(w.worker_of, w.id)
    where h.provider_id = any(${[...ids]}::text[])
      and h.at > clock_timestamp() - ${OFFLINE_AFTER_MS} * interval '1 millisecond'
    order by n.name, w.worker`,
  );
  const byProvider = Map.groupBy(rows, (row) => row.provider_id);
  return new Map([...byProvider].map(([id, group]) => [id, viewOf(group.map(nodeHealthOf))]));
}

/** Result of the last probe of a provider. */
export interface ProbeView {
  at: Date;
  status: number | null;
  latencyMs: number;
  error: Fault | null;
}

/** The last probe of each provider. Providers without a probe are missing. */
export async function probesOfProviders(
  em: EntityManager,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ProbeView>> {
  const rows = await query<Omit<ProbeView, 'at'> & { id: string; at: string }>(
    em,
    sql`select provider_id as id, at, http_status as status, latency_ms as "latencyMs", error
      from upstream_probe where provider_id = any(${[...ids]}::text[])`,
  );
  return new Map(rows.map(({ id, at, ...probe }) => [id, { ...probe, at: toDate(at) }]));
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
    inputTokens: row.input_tokens,
    cachedTokens: row.cached_tokens,
    clockAheadMs: row.clock_ahead_ms,
  };
}
