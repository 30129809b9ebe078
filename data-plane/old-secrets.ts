/** Which keys are still used by the secret that a rotation replaced, until the control plane was told. */
import { OLD_SECRETS_MAX } from '@gateway/shared/node-api';
import type { OldSecretReport } from '@gateway/shared/node-api';

/** A heartbeat that was lost is made up for by the next ones: a use is told for this long, in ms. */
const TOLD_FOR_MS = 5 * 60_000;

/** Local, in memory, gone at a restart. Of more keys than one heartbeat tells, it knows those used last. */
export class OldSecrets {
  readonly #now: () => number;
  /** In the order of use. */
  readonly #usedAt = new Map<string, number>();

  /** `now` is a monotonic clock in ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Notes that the key was used by its old secret just now. */
  used(keyId: string): void {
    this.#usedAt.delete(keyId);
    this.#usedAt.set(keyId, this.#now());
    if (this.#usedAt.size > OLD_SECRETS_MAX) this.#forget(this.#usedAt.keys().next().value);
  }

  /** The uses of the last minutes, the newest first. */
  report(): OldSecretReport[] {
    const now = this.#now();
    for (const [keyId, usedAt] of this.#usedAt) {
      if (now - usedAt <= TOLD_FOR_MS) break;
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
