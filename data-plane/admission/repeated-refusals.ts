/** Reports repeated refusals of a key as one usage row per minute: no caller can fill the usage log. */
import type { UsageRecord } from '@gateway/shared/records';
import type { Ledger } from '../ledger/ledger.ts';
import { COUNTED_REFUSALS, REFUSAL_INTERVAL_MS } from '../limits.ts';

/** Statuses of refusals that a caller can repeat at no cost. */
const COUNTED: ReadonlySet<number> = new Set([401, 402, 403, 404, 429]);
/** How often the counts of a minute that is over are reported, in ms. */
const FLUSH_EVERY_MS = 5_000;

interface RefusalsOptions {
  /** A monotonic clock in ms. */
  now: () => number;
  ledger: Pick<Ledger, 'report'>;
}

/** Refusals with one key, code and model since the last row. */
interface Repeated {
  since: number;
  count: number;
  last: UsageRecord;
}

/** Counts in memory. If the process is killed, the counts of the last minute are lost. */
export class RepeatedRefusals {
  readonly #options: RefusalsOptions;
  readonly #repeated = new Map<string, Repeated>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RefusalsOptions) {
    this.#options = options;
  }

  /**
   * Reports a free request. A refusal before any upstream was asked is only counted if its kind has had a row
   * within the last minute; the next row carries the number of the others.
   */
  report(usage: UsageRecord): void {
    const isCounted = COUNTED.has(usage.httpStatus) && usage.routeId === null && usage.tried === undefined;
    if (!isCounted) return this.#options.ledger.report(usage);
    const kind = `${usage.keyId} ${usage.errorCode} ${usage.model}`;
    const known = this.#repeated.get(kind);
    if (known && this.#options.now() - known.since < REFUSAL_INTERVAL_MS) {
      known.count += 1;
      known.last = usage;
      return;
    }
    this.#begin(kind, usage, known?.count ?? 0);
  }

  /** Reports all counts: before the process ends. */
  flush(): void {
    for (const repeated of this.#repeated.values()) this.#reportCount(repeated);
    this.#repeated.clear();
    this.#stopTimer();
  }

  /** Reports a row, which also stands for `repeats` other refusals, and starts a new count. */
  #begin(kind: string, usage: UsageRecord, repeats: number): void {
    this.#options.ledger.report(repeats > 0 ? { ...usage, repeats } : usage);
    this.#repeated.delete(kind);
    if (this.#repeated.size >= COUNTED_REFUSALS) this.#forgetOldest();
    this.#repeated.set(kind, { since: this.#options.now(), count: 0, last: usage });
    this.#timer ??= setInterval(() => this.#flushOver(), FLUSH_EVERY_MS).unref();
  }

  /** Reports the counts of every minute that is over. A reported row begins a new minute. */
  #flushOver(): void {
    const now = this.#options.now();
    for (const [kind, repeated] of this.#repeated) {
      if (now - repeated.since < REFUSAL_INTERVAL_MS) continue;
      this.#reportCount(repeated);
      if (repeated.count === 0) this.#repeated.delete(kind);
      else Object.assign(repeated, { since: now, count: 0 });
    }
    if (this.#repeated.size === 0) this.#stopTimer();
  }

  #reportCount({ count, last }: Repeated): void {
    if (count > 0) this.#options.ledger.report(count > 1 ? { ...last, repeats: count - 1 } : last);
  }

  #forgetOldest(): void {
    const [oldest] = this.#repeated;
    if (!oldest) return;
    this.#repeated.delete(oldest[0]);
    this.#reportCount(oldest[1]);
  }

  #stopTimer(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
