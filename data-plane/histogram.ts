/** A Prometheus histogram that costs a search in a short list per observation. */
import { Histogram } from 'prom-client';
import type { Registry } from 'prom-client';

interface PlainHistogramOptions {
  name: string;
  help: string;
  /** The only label; absent for a histogram without labels. */
  label?: string;
  /** Upper bounds of the buckets, in seconds, in ascending order. */
  buckets: readonly number[];
}

/** The observations under one value of the label. */
interface Observed {
  /** By bucket; the last one has no upper bound. */
  counts: number[];
  sum: number;
  count: number;
}

type Metric = Awaited<ReturnType<Histogram['get']>>;

/**
 * Adds to plain numbers, which become metrics at a scrape: the metrics library would check and hash the
 * labels of each observation. Label values must come from fixed lists or from the configuration.
 */
export class PlainHistogram extends Histogram {
  readonly #options: PlainHistogramOptions;
  /** An empty histogram with this name. */
  readonly #empty: Histogram;
  readonly #observed = new Map<string, Observed>();

  /** Registers the metric. Without a label it shows zeros from the start. */
  constructor(registry: Registry, options: PlainHistogramOptions) {
    const { name, help, label } = options;
    const labelNames = label === undefined ? [] : [label];
    super({ name, help, labelNames, registers: [registry] });
    this.#empty = new Histogram({ name, help, registers: [] });
    this.#options = options;
    if (label === undefined) this.#of('');
  }

  /** Counts a duration in ms under this value of the label. */
  add(ms: number, labelValue = ''): void {
    const { buckets } = this.#options;
    const seconds = ms / 1_000;
    const observed = this.#of(labelValue);
    let at = 0;
    while (at < buckets.length && seconds > (buckets[at] ?? 0)) at += 1;
    observed.counts[at] = (observed.counts[at] ?? 0) + 1;
    observed.sum += seconds;
    observed.count += 1;
  }

  /** The metric as the registry reads it. */
  override async get(): Promise<Metric> {
    const { label } = this.#options;
    const values = [...this.#observed].flatMap(([value, observed]) =>
      this.#valuesOf(label === undefined ? {} : { [label]: value }, observed),
    );
    return { ...(await this.#empty.get()), values };
  }

  /** The registry prefers this method of the library, which is not in its types, for texts. */
  getForPromString(): Promise<Metric> {
    return this.get();
  }

  #of(labelValue: string): Observed {
    let observed = this.#observed.get(labelValue);
    if (!observed) {
      const counts = Array.from({ length: this.#options.buckets.length + 1 }, () => 0);
      observed = { counts, sum: 0, count: 0 };
      this.#observed.set(labelValue, observed);
    }
    return observed;
  }

  #valuesOf(labels: Record<string, string>, { counts, sum, count }: Observed): Metric['values'] {
    const { name, buckets } = this.#options;
    let below = 0;
    const bounds: [number | string, number][] = buckets.map((bound, at) => [
      bound,
      (below += counts[at] ?? 0),
    ]);
    bounds.push(['+Inf', count]);
    return [
      ...bounds.map(([le, value]) => ({ metricName: `${name}_bucket`, labels: { le, ...labels }, value })),
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}
