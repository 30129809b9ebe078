/** Bounds on what one wallet or key may have in flight, and the streams that a stopped key cuts. */
import { GatewayError } from '@gateway/shared/failures';
import type { StoppedBy } from './config/config.ts';
import type { Cut } from './cut.ts';

/** Requests in flight per wallet and per key. */
export const CONCURRENT_REQUESTS = 64;

/** Realtime sessions per key. */
export const CONCURRENT_SESSIONS = 10;

/** Counts requests in flight by an id; at most `limit` each, never a queue. */
export class Bulkhead {
  readonly #limit: number;
  readonly #counted: string;
  readonly #inFlight = new Map<string, number>();

  /** `counted`: what is counted, as the refusal calls it. */
  constructor(limit: number = CONCURRENT_REQUESTS, counted = 'requests') {
    this.#limit = limit;
    this.#counted = counted;
  }

  /** Enters, or throws `too_many_concurrent`. Whoever entered leaves. */
  enter(id: string): void {
    const count = this.#inFlight.get(id) ?? 0;
    if (count >= this.#limit) {
      throw new GatewayError(
        'too_many_concurrent',
        `At most ${this.#limit} ${this.#counted} may run at once. Wait for one to finish, then try again.`,
        { retryAfterMs: 1_000 },
      );
    }
    this.#inFlight.set(id, count + 1);
  }

  /** Leaves: makes room for another request. */
  leave(id: string): void {
    const count = this.#inFlight.get(id) ?? 0;
    if (count <= 1) this.#inFlight.delete(id);
    else this.#inFlight.set(id, count - 1);
  }
}

const STOPPED: Record<StoppedBy, string> = {
  OWNER: 'This API key was disabled. Use another key.',
  OPERATOR: 'This API key was stopped by the operator; this answer costs nothing. Contact support.',
};

/** The requests in flight of each key, so that disabling a key cuts them. */
export class StreamsByKey {
  readonly #cuts = new Map<string, Set<Cut>>();

  /** Remembers a request in flight. */
  add(keyId: string, cut: Cut): void {
    const cuts = this.#cuts.get(keyId);
    if (cuts) cuts.add(cut);
    else this.#cuts.set(keyId, new Set([cut]));
  }

  /** Forgets a finished request. */
  remove(keyId: string, cut: Cut): void {
    const cuts = this.#cuts.get(keyId);
    if (!cuts) return;
    cuts.delete(cut);
    if (cuts.size === 0) this.#cuts.delete(keyId);
  }

  /** Cuts every request in flight of these keys with `key_disabled`. */
  stop(keys: ReadonlyMap<string, StoppedBy>): void {
    for (const [keyId, by] of keys) {
      for (const cut of [...(this.#cuts.get(keyId) ?? [])]) {
        cut.trigger(new GatewayError('key_disabled', STOPPED[by], { byOwner: by === 'OWNER' }));
      }
    }
  }

  /** Cuts every request in flight because the node stops: free, and worth another try elsewhere. */
  stopAll(): void {
    for (const cuts of this.#cuts.values()) {
      for (const cut of [...cuts]) {
        cut.trigger(new GatewayError('unavailable', 'This node is being stopped. Try again.'));
      }
    }
  }
}

/** Free requests (lists, counts, 501s) of one key per minute. */
export const FREE_REQUESTS_PER_MINUTE = 600;
const MINUTE_MS = 60_000;

/** Bounds what one key may ask for free: a fixed window per key, forgotten as a whole each minute. */
export class FreeRequests {
  readonly #now: () => number;
  readonly #counts = new Map<string, number>();
  #windowStart = 0;

  /** `now` is a monotonic clock in ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Counts one request, or throws `rate_limited`. */
  take(keyId: string): void {
    const now = this.#now();
    if (now - this.#windowStart >= MINUTE_MS) {
      this.#windowStart = now;
      this.#counts.clear();
    }
    const count = (this.#counts.get(keyId) ?? 0) + 1;
    if (count > FREE_REQUESTS_PER_MINUTE) {
      throw new GatewayError('rate_limited', 'Too many free requests in a minute. Wait, then try again.', {
        retryAfterMs: this.#windowStart + MINUTE_MS - now,
      });
    }
    this.#counts.set(keyId, count);
  }
}
