/**
 * Runs the computation of password hashes, few at a time. Signed-in users come before strangers, whose hashes
 * take a bounded share of a core.
 */
import { requestError } from '../graphql/errors.ts';
import { HASH_WAIT_MS, HASHES, HASHES_AT_ONCE, STRANGER_HASH_MS } from '../limits.ts';
import { Bucket } from '../request/rates.ts';
import { Shares } from '../request/shares.ts';
import type { Claimant } from '../request/shares.ts';

const RETRY_MS = 2000;

/** Starts a hash that waits. */
type Start = () => void;

/** The hashes of one process. */
export class HashQueue {
  readonly #shares = new Shares(HASHES);
  readonly #users = new Line();
  readonly #strangers = new Line();
  readonly #now: () => number;
  readonly #strangersLeft: Bucket;
  #computing = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `now` is a monotonic clock in ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#strangersLeft = new Bucket(STRANGER_HASH_MS, now());
  }

  /** Runs `work` in its turn. Rejects with RATE_LIMITED if the caller has too many hashes or waits long. */
  async run<T>(work: () => Promise<T>, claimant: Claimant): Promise<T> {
    const giveBack = this.#shares.take(claimant);
    if (!giveBack) throw tooMany();
    try {
      await this.#turn(claimant);
      const startedAt = this.#now();
      try {
        return await work();
      } finally {
        this.#computing -= 1;
        const now = this.#now();
        if (claimant.rank === 'anonymous') this.#strangersLeft.spend(now - startedAt, now);
        this.#startNext();
      }
    } finally {
      giveBack();
    }
  }

  /** Resolves when fewer than HASHES_AT_ONCE others run. The caller then counts as running. */
  #turn({ rank, name }: Claimant): Promise<void> {
    const line = rank === 'anonymous' ? this.#strangers : this.#users;
    return new Promise((resolve, reject) => {
      const start: Start = () => {
        clearTimeout(timer);
        this.#computing += 1;
        resolve();
      };
      const timer = setTimeout(() => {
        line.leave(name, start);
        reject(tooMany());
      }, HASH_WAIT_MS);
      line.join(name, start);
      this.#startNext();
    });
  }

  /** Starts those that may run now. Waits for the share of strangers if only they are left. */
  #startNext(): void {
    while (this.#computing < HASHES_AT_ONCE) {
      const waitMs = this.#strangersLeft.waitMs(this.#now());
      const start = this.#users.next() ?? (waitMs > 0 ? undefined : this.#strangers.next());
      if (start) start();
      else return this.#wake(waitMs);
    }
  }

  #wake(waitMs: number): void {
    if (waitMs <= 0 || this.#timer !== undefined || this.#strangers.isEmpty) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#startNext();
    }, waitMs);
  }
}

/** Those who wait. Callers take turns, however many hashes each of them has. */
class Line {
  readonly #callers = new Map<string, Set<Start>>();

  get isEmpty(): boolean {
    return this.#callers.size === 0;
  }

  join(name: string, start: Start): void {
    const own = this.#callers.get(name) ?? new Set();
    this.#callers.set(name, own.add(start));
  }

  leave(name: string, start: Start): void {
    const own = this.#callers.get(name);
    own?.delete(start);
    if (own?.size === 0) this.#callers.delete(name);
  }

  /** Removes and returns the first of the caller whose turn it is; its others are behind all callers. */
  next(): Start | undefined {
    const [first] = this.#callers;
    if (!first) return undefined;
    const [name, own] = first;
    const [start] = own;
    this.#callers.delete(name);
    if (start) own.delete(start);
    if (own.size > 0) this.#callers.set(name, own);
    return start;
  }
}

function tooMany(): Error {
  return requestError('RATE_LIMITED', 'Too many sign-ins at once. Try again in a moment.', {
    retryAfterMs: RETRY_MS,
  });
}
