/** Limits concurrent downloads, because each queries the database for as long as its client reads. */
import type { Viewer } from '../graphql/context.ts';
import { requestError } from '../graphql/errors.ts';
import { DOWNLOADS } from '../limits.ts';
import { claimantOf } from '../request/callers.ts';
import { Shares } from '../request/shares.ts';

const RETRY_MS = 5000;

/** The running downloads of this process. */
export class DownloadSlots {
  readonly #shares = new Shares(DOWNLOADS);

  /** Takes a slot, and returns the function that frees it. Throws RATE_LIMITED if none is free. */
  take(viewer: Viewer): () => void {
    const free = this.#shares.take(claimantOf({ node: null, viewer }, null));
    if (free) return free;
    throw requestError('RATE_LIMITED', 'Too many downloads are running. Try again when one has ended.', {
      retryAfterMs: RETRY_MS,
    });
  }
}
