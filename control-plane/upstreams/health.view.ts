/** Combines health reports of upstreams: over all nodes, and over the workers of a node. Pure rules. */
import { CIRCUIT_STATES } from '@gateway/shared/upstream-health';
import type { CircuitState } from '@gateway/shared/upstream-health';

/** Error rates above which an upstream counts as degraded or down. */
const DEGRADED_ABOVE = 0.05;
const DOWN_ABOVE = 0.5;

/** Health of one upstream on one node. */
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
  inputTokens: number;
  cachedTokens: number;
  /** By how much the node's clock is ahead of the upstream's, in ms, if that may be why it refuses. */
  clockAheadMs: number | null;
}

/** Health of one upstream over all nodes that reported recently. */
export interface HealthView {
  status: 'OK' | 'DEGRADED' | 'DOWN' | 'UNKNOWN';
  circuit: CircuitState;
  requests5m: number;
  /** 0 to 1 with four fraction digits; null if there were no requests. */
  errorRate5m: string | null;
  p95LatencyMs: number | null;
  /** Decimal, because sums over nodes may exceed 32 bits. */
  inputTokens5m: string;
  cachedTokens5m: string;
  asOf: Date | null;
  nodes: NodeHealth[];
}

/** Health of an upstream without recent reports. */
export const UNKNOWN_HEALTH: HealthView = viewOf([]);

/**
 * Combines the reports of several workers: the worst circuit, the highest latency, the sum of all requests.
 * Lists them by node.
 */
export function viewOf(nodes: NodeHealth[]): HealthView {
  const sum = (value: (node: NodeHealth) => number): number =>
    nodes.reduce((total, node) => total + value(node), 0);
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
    inputTokens5m: String(sum((node) => node.inputTokens)),
    cachedTokens5m: String(sum((node) => node.cachedTokens)),
    p95LatencyMs: latencies.length > 0 ? Math.max(...latencies) : null,
    asOf: nodes.length > 0 ? new Date(Math.max(...nodes.map(({ asOf }) => asOf.getTime()))) : null,
    nodes: [...Map.groupBy(nodes, ({ nodeName }) => nodeName).values()].map(mergeWorkers),
  };
}

/** The reports of the workers of one node as one report. */
function mergeWorkers(workers: NodeHealth[]): NodeHealth {
  return workers.reduce((one, other) => ({
    nodeName: one.nodeName,
    asOf: one.asOf > other.asOf ? one.asOf : other.asOf,
    circuit:
      CIRCUIT_STATES.indexOf(one.circuit) > CIRCUIT_STATES.indexOf(other.circuit)
        ? one.circuit
        : other.circuit,
    requests: one.requests + other.requests,
    busy: one.busy + other.busy,
    timeouts: one.timeouts + other.timeouts,
    refused: one.refused + other.refused,
    failed: one.failed + other.failed,
    p50LatencyMs: slower(one.p50LatencyMs, other.p50LatencyMs),
    p95LatencyMs: slower(one.p95LatencyMs, other.p95LatencyMs),
    inputTokens: one.inputTokens + other.inputTokens,
    cachedTokens: one.cachedTokens + other.cachedTokens,
    clockAheadMs: one.clockAheadMs ?? other.clockAheadMs,
  }));
}

function slower(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}

function statusOf(nodes: readonly NodeHealth[], errorRate: number | null): HealthView['status'] {
  if (nodes.length === 0) return 'UNKNOWN';
  if (nodes.every(({ circuit }) => circuit === 'OPEN') || (errorRate ?? 0) > DOWN_ABOVE) return 'DOWN';
  const isOk = nodes.every(({ circuit }) => circuit === 'CLOSED') && (errorRate ?? 0) <= DEGRADED_ABOVE;
  return isOk ? 'OK' : 'DEGRADED';
}
