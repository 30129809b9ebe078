/** Counts events over a sliding time span: a node's own requests and permits of a pool. */

interface Bucket {
  /** End of the bucket: its events happened at this moment or earlier. */
  at: number;
  count: number;
}

/** Number of events in the last `spanMs`, by a monotonic clock in ms, in buckets of `bucketMs`. */
export class SlidingCount {
  readonly #spanMs: number;
  readonly #bucketMs: number;
  #buckets: Bucket[] = [];

  constructor(spanMs: number, bucketMs: number) {
    this.#spanMs = spanMs;
    this.#bucketMs = bucketMs;
  }

  /** Counts an event that happens now. */
  add(now: number): void {
    const at = Math.ceil(now / this.#bucketMs) * this.#bucketMs;
    const last = this.#buckets.at(-1);
    if (last && last.at >= at) last.count += 1;
    else this.#buckets.push({ at, count: 1 });
    this.#buckets = this.#recent(now);
  }

  /** Upper bound of the number of events in the last `spanMs`. */
  count(now: number, spanMs = this.#spanMs): number {
    return this.#buckets.reduce((sum, { at, count }) => (at > now - spanMs ? sum + count : sum), 0);
  }

  /** Lower bound of the number of events between two moments. */
  between(from: number, to: number): number {
    const isInside = ({ at }: Bucket): boolean => at - this.#bucketMs >= from && at <= to;
    return this.#buckets.reduce((sum, bucket) => (isInside(bucket) ? sum + bucket.count : sum), 0);
  }

  /** The recent events in groups of `groupMs`, each with the age of its latest event in ms. */
  ages(now: number, groupMs: number): { count: number; agoMs: number }[] {
    const groups = Map.groupBy(this.#recent(now), ({ at }) => Math.floor(at / groupMs));
    return [...groups.values()].map((buckets) => ({
      count: buckets.reduce((sum, { count }) => sum + count, 0),
      agoMs: Math.max(0, Math.floor(now - Math.max(...buckets.map(({ at }) => at)))),
    }));
  }

  /** Removes all events up to a moment. */
  forget(until: number): void {
    this.#buckets = this.#buckets.filter(({ at }) => at > until);
  }

  #recent(now: number): Bucket[] {
    return this.#buckets.filter(({ at }) => at > now - this.#spanMs);
  }
}
