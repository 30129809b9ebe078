/** Runs the computation of password hashes, few at a time, signed-in users first. */
import { requestError } from '../graphql/errors.ts';
import { HASH_WAIT_MS, HASHES, HASHES_AT_ONCE } from '../limits.ts';
import { Shares } from '../request/shares.ts';
import type { Claimant } from '../request/shares.ts';

const RETRY_MS = 2000;

/** The hashes of one process. */
export class HashQueue {
  readonly #shares = new Shares(HASHES);
  readonly #waiting: { users: Set<() => void>; strangers: Set<() => void> } = {
    users: new Set(),
    strangers: new Set(),
  };
  #computing = 0;

  /** Runs `work` in its turn. Rejects with RATE_LIMITED if the caller has too many hashes or waits long. */
  async run<T>(work: () => Promise<T>, claimant: Claimant): Promise<T> {
    const giveBack = this.#shares.take(claimant);
    if (!giveBack) throw tooMany();
    try {
      await this.#turn(claimant.rank === 'anonymous' ? this.#waiting.strangers : this.#waiting.users);
      try {
        return await work();
      } finally {
        this.#computing -= 1;
        this.#startNext();
      }
    } finally {
      giveBack();
    }
  }

  /** Resolves when fewer than HASHES_AT_ONCE others run. The caller then counts as running. */
  #turn(line: Set<() => void>): Promise<void> {
    if (this.#computing < HASHES_AT_ONCE) {
      this.#computing += 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const start = (): void => {
        clearTimeout(timer);
        line.delete(start);
        this.#computing += 1;
        resolve();
      };
      const timer = setTimeout(() => {
        line.delete(start);
        reject(tooMany());
      }, HASH_WAIT_MS);
      line.add(start);
    });
  }

  #startNext(): void {
    const { users, strangers } = this.#waiting;
    for (const start of [...users, ...strangers].slice(0, 1)) start();
  }
}

function tooMany(): Error {
  return requestError('RATE_LIMITED', 'Too many sign-ins at once. Try again in a moment.', {
    retryAfterMs: RETRY_MS,
  });
}
