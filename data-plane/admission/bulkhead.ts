/** Limits of concurrent and of free requests, and the requests in progress that stopping a key cuts. */
import { GatewayError } from '@gateway/shared/failures';
import {
  FREE_REQUESTS_PER_MINUTE,
  SESSIONS_PER_ADDRESS,
  SESSIONS_PER_KEY,
  SESSIONS_PER_WALLET,
} from '../limits.ts';
import type { KeyStop, StoppedBy } from '../config/config.ts';
import type { Cut } from '../call/cut.ts';
import { networkOf } from './addresses.ts';
import { RequestsPerMinute } from './requests-per-minute.ts';
import { ONLY_WORKER, partOf } from '../workers/worker.ts';
import type { Worker } from '../workers/worker.ts';
import type { KeyRecord } from '@gateway/shared/records';

/** Counts concurrent requests by id, and refuses those above the limit instead of queuing them. */
export class Bulkhead {
  readonly #limit: () => number;
  readonly #counted: string;
  readonly #inFlight = new Map<string, number>();

  /** A limit that is a function may change at any time. `counted` is the plural noun for the refusal. */
  constructor(limit: number | (() => number), counted = 'requests') {
    this.#limit = typeof limit === 'number' ? () => limit : limit;
    this.#counted = counted;
  }

  /** Counts a request that starts. Throws `too_many_concurrent`, else `leave` must follow. */
  enter(id: string): void {
    const count = this.#inFlight.get(id) ?? 0;
    const limit = this.#limit();
    if (count >= limit) {
      throw new GatewayError(
        'too_many_concurrent',
        `At most ${limit} ${this.#counted} may run at once. Wait for one to finish, then try again.`,
        { retryAfterMs: 1_000 },
      );
    }
    this.#inFlight.set(id, count + 1);
  }

  /** Counts a request that has ended. */
  leave(id: string): void {
    const count = this.#inFlight.get(id) ?? 0;
    if (count <= 1) this.#inFlight.delete(id);
    else this.#inFlight.set(id, count - 1);
  }
}

/** Counts concurrent realtime sessions by key, wallet and address. */
export class Sessions {
  readonly #keys: Bulkhead;
  readonly #wallets: Bulkhead;
  readonly #addresses: Bulkhead;

  /** Workers of a node share its limits. */
  constructor(worker: Worker = ONLY_WORKER) {
    this.#keys = new Bulkhead(partOf(SESSIONS_PER_KEY, worker), 'sessions');
    this.#wallets = new Bulkhead(partOf(SESSIONS_PER_WALLET, worker), 'sessions');
    this.#addresses = new Bulkhead(partOf(SESSIONS_PER_ADDRESS, worker), 'sessions');
  }

  /** Counts a session that starts. Throws `too_many_concurrent`, else returns the function that ends it. */
  enter(address: string, key: Pick<KeyRecord, 'id' | 'walletId'>): () => void {
    const entered: [Bulkhead, string][] = [];
    const leave = (): void => {
      for (const [bulkhead, id] of entered.splice(0)) bulkhead.leave(id);
    };
    const places: [Bulkhead, string][] = [
      [this.#keys, key.id],
      [this.#wallets, key.walletId],
      [this.#addresses, networkOf(address)],
    ];
    try {
      for (const [bulkhead, id] of places) {
        bulkhead.enter(id);
        entered.push([bulkhead, id]);
      }
    } catch (error) {
      leave();
      throw error;
    }
    return leave;
  }
}

const STOPPED: Record<StoppedBy, string> = {
  OWNER: 'This API key was disabled. Use another key.',
  OPERATOR: 'The operator stopped this API key. This answer costs nothing. Contact support.',
};

const SECRET_STOPPED = 'This secret of the API key was stopped after a rotation. Use the new secret.';

/** The requests in progress of each key, so that stopping a key or one of its secrets cuts them. */
export class StreamsByKey {
  /** Digests of the secrets that the requests came with, by key id and cut. */
  readonly #cuts = new Map<string, Map<Cut, string>>();

  /** Adds a request that starts. `digest` is the digest of the secret that it was sent with. */
  add({ id, digest }: { id: string; digest: string }, cut: Cut): void {
    const cuts = this.#cuts.get(id);
    if (cuts) cuts.set(cut, digest);
    else this.#cuts.set(id, new Map([[cut, digest]]));
  }

  /** Removes a request that has ended. */
  remove(keyId: string, cut: Cut): void {
    const cuts = this.#cuts.get(keyId);
    if (!cuts) return;
    cuts.delete(cut);
    if (cuts.size === 0) this.#cuts.delete(keyId);
  }

  /** Cuts every request of these keys, or of the secrets that stopped, with `key_disabled`. */
  stop(keys: ReadonlyMap<string, KeyStop>): void {
    for (const [keyId, { by, secrets }] of keys) {
      const message = secrets ? SECRET_STOPPED : STOPPED[by];
      for (const [cut, digest] of [...(this.#cuts.get(keyId) ?? [])]) {
        if (!secrets || secrets.includes(digest))
          cut.trigger(new GatewayError('key_disabled', message, { byOwner: by === 'OWNER' }));
      }
    }
  }

  /** Cuts every request because the node stops. They cost nothing and may be sent again. */
  stopAll(): void {
    for (const cuts of this.#cuts.values()) {
      for (const cut of [...cuts.keys()]) {
        cut.trigger(new GatewayError('unavailable', 'This node is being stopped. Send the request again.'));
      }
    }
  }
}

/** Limits the free requests of each key, in fixed windows of one minute. */
export class FreeRequests {
  readonly #requests: RequestsPerMinute;

  /** `now` is a monotonic clock in ms. Workers of a node share its limit. */
  constructor(now: () => number, worker: Worker = ONLY_WORKER) {
    this.#requests = new RequestsPerMinute(now, partOf(FREE_REQUESTS_PER_MINUTE, worker));
  }

  /** Counts one request, or throws `rate_limited`. */
  take(keyId: string): void {
    if (this.#requests.isFull(keyId)) {
      throw new GatewayError('rate_limited', 'Too many free requests in a minute. Wait, then try again.', {
        retryAfterMs: this.#requests.restMs,
      });
    }
    this.#requests.count(keyId);
  }
}
