/** Limits the log lines that one caller can cause, so that nobody fills the disk of the operator. */

const MINUTE_MS = 60_000;

interface LineLimits {
  /** Lines of one caller per minute. */
  perCaller: number;
  /** Lines of all callers together per minute. */
  total: number;
  /** A monotonic clock in ms. */
  now: () => number;
  /** Receives the number of lines that were omitted in a minute, once that minute is over. */
  omitted: (lines: number) => void;
}

/** Counts the lines of each caller per minute. */
export class LineLimit {
  readonly #limits: LineLimits;
  readonly #lines = new Map<string, number>();
  #written = 0;
  #omitted = 0;
  #windowStart = 0;

  constructor(limits: LineLimits) {
    this.#limits = limits;
    this.#windowStart = limits.now();
  }

  /** Whether one more line that this caller caused may be written; counts it. */
  allows(caller: string): boolean {
    const { perCaller, total, now } = this.#limits;
    const at = now();
    if (at - this.#windowStart >= MINUTE_MS) this.#begin(at);
    const lines = (this.#lines.get(caller) ?? 0) + 1;
    if (lines > perCaller || this.#written >= total) {
      this.#omitted += 1;
      return false;
    }
    this.#lines.set(caller, lines);
    this.#written += 1;
    return true;
  }

  /** Begins a minute, and reports what the last one omitted. */
  #begin(at: number): void {
    const omitted = this.#omitted;
    this.#windowStart = at;
    this.#lines.clear();
    this.#written = 0;
    this.#omitted = 0;
    if (omitted > 0) this.#limits.omitted(omitted);
  }
}
