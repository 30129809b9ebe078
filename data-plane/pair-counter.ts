/** A Prometheus counter with two labels that costs an addition per event. */
import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';

interface PairCounterOptions {
  name: string;
  help: string;
  labelNames: readonly [string, string];
}

/**
 * Adds to plain numbers, which become metrics at a scrape: the metrics library would hash the labels of each
 * event. Label values must come from fixed lists or from the configuration.
 */
export class PairCounter {
  readonly #counts = new Map<string, Map<string, number>>();

  /** Registers the metric. */
  constructor(registry: Registry, { name, help, labelNames }: PairCounterOptions) {
    const counts = this.#counts;
    const [outer, inner] = labelNames;
    new Counter({
      ...{ name, help, labelNames: [...labelNames], registers: [registry] },
      collect() {
        this.reset();
        for (const [first, seconds] of counts)
          for (const [second, count] of seconds) this.inc({ [outer]: first, [inner]: second }, count);
      },
    });
  }

  /** Adds to the counter of these two label values. */
  add(first: string, second: string, amount = 1): void {
    let seconds = this.#counts.get(first);
    if (!seconds) {
      seconds = new Map();
      this.#counts.set(first, seconds);
    }
    seconds.set(second, (seconds.get(second) ?? 0) + amount);
  }
}
