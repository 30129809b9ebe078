/** Counts requests by id in fixed windows of one minute. */

const MINUTE_MS = 60_000;

/** The counts of the running minute. */
export class RequestsPerMinute {
  readonly #now: () => number;
  readonly #limit: number;
  readonly #counts = new Map<string, number>();
  #windowStart = 0;

  /** `now` is a monotonic clock in ms. */
  constructor(now: () => number, limit: number) {
    this.#now = now;
    this.#limit = limit;
  }

  /** Time until all counts start again, in ms. */
  get restMs(): number {
    return this.#windowStart + MINUTE_MS - this.#now();
  }

  /** Whether the limit of this id is reached. */
  isFull(id: string): boolean {
    this.#startMinute();
    return (this.#counts.get(id) ?? 0) >= this.#limit;
  }

  count(id: string): void {
    this.#startMinute();
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
  }

  #startMinute(): void {
    const now = this.#now();
    if (now - this.#windowStart < MINUTE_MS) return;
    this.#windowStart = now;
    this.#counts.clear();
  }
}
