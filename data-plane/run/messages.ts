/** Messages between the supervisor of a node and its workers. */
import type { MetricObjectWithValues, MetricValue } from 'prom-client';

/** The metrics of one process, as the metrics library exports them. */
export type ProcessMetrics = MetricObjectWithValues<MetricValue<string>>[];

/** From a worker to its supervisor. */
export type WorkerMessage =
  | { type: 'ready'; port: number; revision: number }
  /** Sent once a second. A worker that sends none for long counts as hanging. */
  | { type: 'condition'; ready: boolean }
  /** The worker begins to stop, because an administrator drains the node or another process replaced it. */
  | { type: 'stopping' }
  /** Asks for the metrics of the whole node. */
  | { type: 'scrape'; id: number }
  | { type: 'metrics'; id: number; metrics: ProcessMetrics };

/** From the supervisor to a worker. */
export type SupervisorMessage =
  | { type: 'stop'; drainMs: number }
  /** Whether all other workers are ready. */
  | { type: 'others'; ready: boolean }
  /** Asks for the metrics of this worker. */
  | { type: 'collect'; id: number }
  /** The metrics of the whole node in the text format; null if they could not be collected. */
  | { type: 'scraped'; id: number; text: string | null };

const WORKER_TYPES: ReadonlySet<unknown> = new Set(['ready', 'condition', 'stopping', 'scrape', 'metrics']);
const SUPERVISOR_TYPES: ReadonlySet<unknown> = new Set(['stop', 'others', 'collect', 'scraped']);

/** Whether a process sent a message of a worker. */
export function isWorkerMessage(message: unknown): message is WorkerMessage {
  return WORKER_TYPES.has(typeOf(message));
}

/** Whether a process sent a message of a supervisor. */
export function isSupervisorMessage(message: unknown): message is SupervisorMessage {
  return SUPERVISOR_TYPES.has(typeOf(message));
}

function typeOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'type' in message ? message.type : undefined;
}
