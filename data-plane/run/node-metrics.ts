/** Adds up the metrics of the processes of a node. */
import { AggregatorRegistry } from 'prom-client';
import type { ProcessMetrics } from './messages.ts';

/** Types of metrics that only grow: their values must not fall when a process ends. */
const GROWING: ReadonlySet<string> = new Set(['counter', 'histogram', 'summary']);

/**
 * The metrics of all processes of a node, dead ones included. A metric names how its values are combined:
 * sums, if it names nothing.
 */
export class NodeMetrics {
  /** The last metrics of each process that runs. */
  readonly #running = new Map<string, ProcessMetrics>();
  /** The last counters of each process that ended. */
  readonly #ended: ProcessMetrics[] = [];
  #isMerging = false;

  /** Replaces the metrics of a running process. */
  set(process: string, metrics: ProcessMetrics): void {
    this.#running.set(process, metrics);
  }

  /** Keeps the counters of a process that ended, and forgets its gauges. */
  end(process: string): void {
    const metrics = this.#running.get(process) ?? [];
    this.#running.delete(process);
    const counted = metrics.filter(({ type }) => GROWING.has(String(type)));
    if (counted.length > 0) this.#ended.push(counted);
  }

  /** All metrics in the text format of Prometheus. */
  async text(): Promise<string> {
    await this.#mergeEnded();
    return AggregatorRegistry.aggregate([...this.#running.values(), ...this.#ended]).metrics();
  }

  /** Keeps one sum instead of one entry for each process that ever ended. */
  async #mergeEnded(): Promise<void> {
    if (this.#isMerging || this.#ended.length < 2) return;
    this.#isMerging = true;
    const merged = [...this.#ended];
    const sum = await AggregatorRegistry.aggregate(merged).getMetricsAsJSON();
    this.#ended.splice(0, merged.length, sum);
    this.#isMerging = false;
  }
}
