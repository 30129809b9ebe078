/** The view that administrators have of a node: the rows of its workers, merged. Pure rules. */
import { OFFLINE_AFTER_MS } from '@gateway/shared/node-api';
import { toDate } from '../database/sql.ts';

export type NodeState = 'JOINING' | 'IN_SYNC' | 'LAGGING' | 'OFFLINE' | 'DRAINING';

/** A node as administrators see it. */
export interface NodeView {
  id: string;
  name: string;
  region: string | null;
  version: string;
  state: NodeState;
  /** Whether the node is offline after an administrator drained it; health checks ignore it. */
  retired: boolean;
  /** Number of workers with recent contact. */
  workers: number;
  appliedRevision: number;
  latestRevision: number;
  /** Time since the node last applied a revision, in ms; 0 in sync. */
  lagMs: number;
  lastSeenAt: Date | null;
  lastAckError: string | null;
  rps: string;
  inflight: number;
  eventLoopP99Ms: number;
  usageBacklog: number;
  startedAt: Date;
}

/** The row of one worker, with the newest revision and two ages in ms. */
export interface WorkerRow {
  id: string;
  /** The node of a worker; null for worker 1, whose row is the node's. */
  worker_of: string | null;
  name: string;
  region: string | null;
  version: string | null;
  applied_revision: number;
  latest_revision: number;
  applied_age: string;
  seen_age: string | null;
  last_ack_error: string | null;
  rps: string;
  inflight: number;
  event_loop_p99_ms: number;
  usage_backlog: number;
  draining: boolean;
  last_seen_at: string | null;
  started_at: string | null;
  created_at: string;
}

/** One worker by itself. */
export function viewOfWorker(row: WorkerRow): NodeView {
  return {
    id: row.id,
    name: row.name,
    region: row.region,
    version: row.version ?? '',
    state: stateOf(row),
    retired: row.draining && stateOf(row) === 'OFFLINE',
    workers: isHeard(row) ? 1 : 0,
    appliedRevision: row.applied_revision,
    latestRevision: row.latest_revision,
    lagMs: row.applied_revision >= row.latest_revision ? 0 : Math.min(Number(row.applied_age), 2 ** 31 - 1),
    lastSeenAt: row.last_seen_at ? toDate(row.last_seen_at) : null,
    lastAckError: row.last_ack_error,
    rps: row.rps,
    inflight: row.inflight,
    eventLoopP99Ms: row.event_loop_p99_ms,
    usageBacklog: row.usage_backlog,
    startedAt: toDate(row.started_at ?? row.created_at),
  };
}

/**
 * A node with all its workers. A worker that does not serve any more, because the node has fewer workers than
 * before, only adds its unsettled requests.
 */
export function viewOfNode(first: WorkerRow, others: readonly WorkerRow[]): NodeView {
  const node = viewOfWorker(first);
  const serving = others.filter(({ draining, started_at }) => !draining && started_at !== null);
  const views = [node, ...serving.map((row) => viewOfWorker(row))];
  const seen = views.flatMap(({ lastSeenAt }) => (lastSeenAt ? [lastSeenAt.getTime()] : []));
  const backlogs = [first, ...others].map(({ usage_backlog }) => usage_backlog);
  const state = first.draining ? drainedState([first, ...others]) : stateOfAll(views);
  return {
    ...node,
    state,
    retired: first.draining && state === 'OFFLINE',
    workers: sum(views.map(({ workers }) => workers)),
    appliedRevision: Math.min(...views.map(({ appliedRevision }) => appliedRevision)),
    lagMs: Math.max(...views.map(({ lagMs }) => lagMs)),
    lastSeenAt: seen.length > 0 ? new Date(Math.max(...seen)) : null,
    lastAckError: views.find(({ lastAckError }) => lastAckError !== null)?.lastAckError ?? null,
    rps: views.length > 1 ? sum(views.map(({ rps }) => Number(rps))).toFixed(1) : node.rps,
    inflight: sum(views.map(({ inflight }) => inflight)),
    eventLoopP99Ms: Math.max(...views.map(({ eventLoopP99Ms }) => eventLoopP99Ms)),
    usageBacklog: sum(backlogs),
    startedAt: new Date(Math.min(...views.map(({ startedAt }) => startedAt.getTime()))),
  };
}

/** A drained node is OFFLINE once none of its workers has contact. */
function drainedState(rows: readonly WorkerRow[]): NodeState {
  if (rows[0]?.seen_age === null) return 'JOINING';
  return rows.some((row) => isHeard(row)) ? 'DRAINING' : 'OFFLINE';
}

/** A node lags while one of its workers lags or has no contact, as long as another worker has contact. */
function stateOfAll(views: readonly NodeView[]): NodeState {
  const states = new Set(views.map(({ state }) => state));
  const [only] = states;
  if (states.size === 1 && only) return only;
  return states.has('IN_SYNC') || states.has('LAGGING') ? 'LAGGING' : 'OFFLINE';
}

function stateOf(row: WorkerRow): NodeState {
  if (row.seen_age === null) return 'JOINING';
  if (!isHeard(row)) return 'OFFLINE';
  if (row.draining) return 'DRAINING';
  return row.applied_revision >= row.latest_revision ? 'IN_SYNC' : 'LAGGING';
}

function isHeard({ seen_age }: WorkerRow): boolean {
  return seen_age !== null && Number(seen_age) <= OFFLINE_AFTER_MS;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
