/** How many downloads run at once: each reads the database for as long as its client reads. */
import { requestError } from '../errors.ts';

const DOWNLOADS_MAX = 8;
const DOWNLOADS_PER_USER_MAX = 2;
const RETRY_MS = 5000;

/** The downloads that run in this process. */
export class Places {
  readonly #taken = new Map<string, number>();
  #all = 0;

  /** Takes a place until the returned function is called. Throws RATE_LIMITED where none is free. */
  take(userId: string): () => void {
    const own = this.#taken.get(userId) ?? 0;
    if (this.#all >= DOWNLOADS_MAX || own >= DOWNLOADS_PER_USER_MAX)
      throw requestError('RATE_LIMITED', 'Other downloads are running. Try again when one has ended.', {
        retryAfterMs: RETRY_MS,
      });
    this.#all += 1;
    this.#taken.set(userId, own + 1);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#all -= 1;
      const rest = (this.#taken.get(userId) ?? 1) - 1;
      if (rest > 0) this.#taken.set(userId, rest);
      else this.#taken.delete(userId);
    };
  }
}
