/** How fast callers may use something: a rate per caller, and one for all callers without an account. */
import { COUNTED_CALLERS, MESSAGES, READING_MS } from '../limits.ts';
import type { Rate, RateLimits } from '../limits.ts';
import type { Claimant } from './shares.ts';

const ALL_ANONYMOUS = 'all anonymous';
const SECOND_MS = 1000;

/** An amount that comes back with time. Times are those of a monotonic clock, in ms. */
export class Bucket {
  readonly #rate: Rate;
  #left: number;
  #at: number;

  constructor(rate: Rate, now: number) {
    this.#rate = rate;
    this.#left = rate.atOnce;
    this.#at = now;
  }

  /** The rest; negative if more was used than there was. */
  leftAt(now: number): number {
    const { perSecond, atOnce } = this.#rate;
    return Math.min(atOnce, this.#left + ((now - this.#at) / SECOND_MS) * perSecond);
  }

  spend(amount: number, now: number): void {
    this.#left = this.leftAt(now) - amount;
    this.#at = now;
  }

  /** Time until something is left, in ms; 0 if something is. */
  waitMs(now: number): number {
    return Math.max(0, (-this.leftAt(now) / this.#rate.perSecond) * SECOND_MS);
  }
}

/** The rates that a control plane counts. */
export interface CallerRates {
  /** Messages and pings of WebSockets. */
  messages: Rates;
  /** CPU time of parsing, validating and measuring documents, in ms. */
  reading: Rates;
}

/** The limits of a process that are not those of `limits.ts`. */
export type CallerRateLimits = Partial<Record<keyof CallerRates, RateLimits>>;

/** The rates of a process. */
export function callerRates({ messages, reading }: CallerRateLimits = {}): CallerRates {
  return { messages: new Rates(messages ?? MESSAGES), reading: new Rates(reading ?? READING_MS) };
}

/** CPU time of this thread in ms. Other processes do not add to it. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Runs synchronous work, and counts its CPU time in ms, also if it throws. */
export function spendCpu<T>(rates: Rates, claimant: Claimant, work: () => T): T {
  const start = cpuMs();
  try {
    return work();
  } finally {
    rates.spend(claimant, cpuMs() - start);
  }
}

/** Message for a caller whose documents took too much CPU time. */
export const TOO_MUCH_READING =
  'Your documents took too much time to read. Send smaller ones, or try again in a moment.';

/** Counts what callers use, in this process. An amount that was used up comes back with time. */
export class Rates {
  readonly #limits: RateLimits;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  /** `now` is a monotonic clock in ms. */
  constructor(limits: RateLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Whether the caller has something left. */
  has(claimant: Claimant): boolean {
    const now = this.#now();
    return this.#bucketsOf(claimant, now).every((bucket) => bucket.leftAt(now) > 0);
  }

  /** Uses an amount that is known only afterwards: the rest may become negative. */
  spend(claimant: Claimant, amount: number): void {
    const now = this.#now();
    for (const bucket of this.#bucketsOf(claimant, now)) bucket.spend(amount, now);
  }

  /** Uses one. False, without using it, if less than one is left. */
  take(claimant: Claimant): boolean {
    const now = this.#now();
    const buckets = this.#bucketsOf(claimant, now);
    if (!buckets.every((bucket) => bucket.leftAt(now) >= 1)) return false;
    for (const bucket of buckets) bucket.spend(1, now);
    return true;
  }

  /** The caller's own bucket, and that of all strangers if it is one of them. */
  #bucketsOf({ rank, name, isKnownNetwork = false }: Claimant, now: number): Bucket[] {
    const own = this.#bucket(`${rank} ${name}`, this.#limits[rank], now);
    if (rank !== 'anonymous' || isKnownNetwork) return [own];
    return [own, this.#bucket(ALL_ANONYMOUS, this.#limits.allAnonymous, now)];
  }

  /** The bucket, as the newest entry. */
  #bucket(key: string, rate: Rate, now: number): Bucket {
    const bucket = this.#buckets.get(key) ?? new Bucket(rate, now);
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > COUNTED_CALLERS && oldest !== undefined) this.#buckets.delete(oldest);
    return bucket;
  }
}
