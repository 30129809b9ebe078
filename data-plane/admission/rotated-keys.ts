/** Remembers which rotated keys are still used with their previous secret, for the node's heartbeat. */
import { OLD_SECRETS_MAX } from '@gateway/shared/old-secrets';
import type { OldSecretReport } from '@gateway/shared/old-secrets';

/** How long a use is reported, in ms: several heartbeats, so that one may be lost. */
const REPORTED_MS = 5 * 60_000;

/** Kept in memory and lost at a restart. Holds the last used keys, as many as one heartbeat may report. */
export class RotatedKeys {
  readonly #now: () => number;
  /** Time of the last use in ms by key id, in the order of use. */
  readonly #usedAt = new Map<string, number>();

  /** `now` is a monotonic clock in ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Notes that the key was just used with its previous secret. */
  used(keyId: string): void {
    this.#usedAt.delete(keyId);
    this.#usedAt.set(keyId, this.#now());
    if (this.#usedAt.size > OLD_SECRETS_MAX) this.#forget(this.#usedAt.keys().next().value);
  }

  /** The uses of the last minutes, the newest first. */
  report(): OldSecretReport[] {
    const now = this.#now();
    for (const [keyId, usedAt] of this.#usedAt) {
      if (now - usedAt <= REPORTED_MS) break;
      this.#forget(keyId);
    }
    return [...this.#usedAt]
      .reverse()
      .map(([keyId, usedAt]) => ({ keyId, usedMsAgo: Math.round(now - usedAt) }));
  }

  #forget(keyId: string | undefined): void {
    if (keyId !== undefined) this.#usedAt.delete(keyId);
  }
}
