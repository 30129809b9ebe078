/** Limits concurrent downloads, because each queries the database for as long as its client reads. */
import { requestError } from '../graphql/errors.ts';

const DOWNLOADS_MAX = 8;
const DOWNLOADS_PER_USER_MAX = 2;
const RETRY_MS = 5000;

/** The running downloads of this process, by user. */
export class DownloadSlots {
  readonly #byUser = new Map<string, number>();
  #total = 0;

  /** Takes a slot, and returns the function that frees it. Throws RATE_LIMITED if none is free. */
  take(userId: string): () => void {
    const own = this.#byUser.get(userId) ?? 0;
    if (this.#total >= DOWNLOADS_MAX || own >= DOWNLOADS_PER_USER_MAX)
      throw requestError('RATE_LIMITED', 'Too many downloads are running. Try again when one has ended.', {
        retryAfterMs: RETRY_MS,
      });
    this.#total += 1;
    this.#byUser.set(userId, own + 1);
    let isFree = false;
    return () => {
      if (isFree) return;
      isFree = true;
      this.#total -= 1;
      const rest = (this.#byUser.get(userId) ?? 1) - 1;
      if (rest > 0) this.#byUser.set(userId, rest);
      else this.#byUser.delete(userId);
    };
  }
}
