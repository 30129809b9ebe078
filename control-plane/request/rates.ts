/** How fast callers may use something: a rate per caller, and one for all callers without an account. */
import { COUNTED_CALLERS, MESSAGES, READING_MS } from '../limits.ts';
import type { Rate, RateLimits } from '../limits.ts';
import type { Claimant } from './shares.ts';

const ALL_ANONYMOUS = 'all anonymous';

interface Bucket {
  left: number;
  at: number;
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
    return this.#bucketsOf(claimant).every(({ left }) => left > 0);
  }

  /** Uses an amount that is known only afterwards: the rest may become negative. */
  spend(claimant: Claimant, amount: number): void {
    for (const bucket of this.#bucketsOf(claimant)) bucket.left -= amount;
  }

  /** Uses one. False, without using it, if less than one is left. */
  take(claimant: Claimant): boolean {
    const buckets = this.#bucketsOf(claimant);
    if (!buckets.every(({ left }) => left >= 1)) return false;
    for (const bucket of buckets) bucket.left -= 1;
    return true;
  }

  /** The buckets of the caller, filled up to now. */
  #bucketsOf({ rank, name }: Claimant): Bucket[] {
    const own = this.#bucket(`${rank} ${name}`, this.#limits[rank]);
    return rank === 'anonymous' ? [own, this.#bucket(ALL_ANONYMOUS, this.#limits.allAnonymous)] : [own];
  }

  #bucket(key: string, { perSecond, atOnce }: Rate): Bucket {
    const now = this.#now();
    const known = this.#buckets.get(key) ?? { left: atOnce, at: now };
    const left = Math.min(atOnce, known.left + ((now - known.at) / 1000) * perSecond);
    const bucket = { left, at: now };
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > COUNTED_CALLERS && oldest !== undefined) this.#buckets.delete(oldest);
    return bucket;
  }
}
