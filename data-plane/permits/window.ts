/** Counts what happened in the last while, in steps: what a node knows of its own use of a pool. */

interface Step {
  /** The end of the step: whatever is counted in it happened then or before. */
  at: number;
  count: number;
}

/** What happened in the last `spanMs`, by a monotonic clock in ms. */
export class SlidingCount {
  readonly #spanMs: number;
  readonly #stepMs: number;
  #steps: Step[] = [];

  constructor(spanMs: number, stepMs: number) {
    this.#spanMs = spanMs;
    this.#stepMs = stepMs;
  }

  /** Counts something that happens now. */
  add(now: number): void {
    const at = Math.ceil(now / this.#stepMs) * this.#stepMs;
    const last = this.#steps.at(-1);
    if (last && last.at >= at) last.count += 1;
    else this.#steps.push({ at, count: 1 });
    this.#steps = this.#recent(now);
  }

  /** How much happened in the last while, at most. */
  count(now: number, spanMs = this.#spanMs): number {
    return this.#steps.reduce((sum, { at, count }) => (at > now - spanMs ? sum + count : sum), 0);
  }

  /** How much happened between two moments, at least. */
  between(from: number, to: number): number {
    const isInside = ({ at }: Step): boolean => at - this.#stepMs >= from && at <= to;
    return this.#steps.reduce((sum, step) => (isInside(step) ? sum + step.count : sum), 0);
  }

  /** What happened in the last while, in spans of so many ms, each with the age of its latest part. */
  ages(now: number, spanMs: number): { count: number; agoMs: number }[] {
    const spans = Map.groupBy(this.#recent(now), ({ at }) => Math.floor(at / spanMs));
    return [...spans.values()].map((steps) => ({
      count: steps.reduce((sum, { count }) => sum + count, 0),
      agoMs: Math.max(0, Math.floor(now - Math.max(...steps.map(({ at }) => at)))),
    }));
  }

  /** Forgets what happened until then. */
  forget(until: number): void {
    this.#steps = this.#steps.filter(({ at }) => at > until);
  }

  #recent(now: number): Step[] {
    return this.#steps.filter(({ at }) => at > now - this.#spanMs);
  }
}
