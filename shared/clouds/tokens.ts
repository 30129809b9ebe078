/**
 * Keeps tokens and renews them before they expire. Requests that need the same token wait for one renewal.
 * A failed renewal keeps the token that is still valid.
 */

/** A token is renewed this long before it expires, in ms; one with a short life, in its last fifth. */
const RENEW_BEFORE_MS = 5 * 60_000;
const LAST_PART_OF_LIFE = 0.2;
/** A token that expires sooner is not used any more, in ms: the request must arrive before. */
const ARRIVAL_MS = 2_000;
/** Pause after a failed renewal, in ms. */
const RETRY_AFTER_MS = 1_000;
/** Maximum number of tokens; the one that was fetched first is forgotten. */
const TOKENS_MAX = 1_000;

/** A token or temporary keys, as fetched. */
export interface Fetched<Value> {
  value: Value;
  /** Remaining life in ms. */
  livesMs: number;
}

interface Entry<Value> {
  value: Value | undefined;
  /** ms of the monotonic clock. */
  fetchedAt: number;
  expiresAt: number;
  renewAt: number;
  renewal: Promise<Value> | undefined;
  failure: { error: unknown; until: number } | undefined;
}

/** The tokens of a process. */
export class TokenCache<Value> {
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry<Value>>();

  /** `now` is a monotonic clock in ms: a change of the wall clock does not change the life of a token. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * The token of this key. Fetches it if there is no valid one, and renews it in the background when its end
   * is near. Throws the error of `fetch` only if no valid token is left; `failed` receives it otherwise.
   */
  get(
    key: string,
    fetch: () => Promise<Fetched<Value>>,
    failed: (error: unknown) => void,
  ): Value | Promise<Value> {
    const now = this.#now();
    const entry = this.#entries.get(key) ?? this.#add(key);
    const isValid = entry.value !== undefined && now < entry.expiresAt - ARRIVAL_MS;
    if (isValid && now < entry.renewAt) return entry.value as Value;
    const isPaused = entry.failure !== undefined && now < entry.failure.until;
    if (isValid) {
      if (!isPaused && !entry.renewal) this.#renew(entry, fetch).catch(failed);
      return entry.value as Value;
    }
    if (isPaused) return Promise.reject(entry.failure?.error);
    return this.#renew(entry, fetch);
  }

  /** Forgets a refused token that is at least as old as RETRY_AFTER_MS: it may have been revoked. */
  refused(key: string): void {
    const entry = this.#entries.get(key);
    if (entry && this.#now() - entry.fetchedAt >= RETRY_AFTER_MS) entry.value = undefined;
  }

  #add(key: string): Entry<Value> {
    if (this.#entries.size >= TOKENS_MAX) {
      const [oldest] = this.#entries.keys();
      if (oldest !== undefined) this.#entries.delete(oldest);
    }
    const entry: Entry<Value> = {
      value: undefined,
      fetchedAt: 0,
      expiresAt: 0,
      renewAt: 0,
      renewal: undefined,
      failure: undefined,
    };
    this.#entries.set(key, entry);
    return entry;
  }

  /** One renewal for all callers that need the token during it. */
  #renew(entry: Entry<Value>, fetch: () => Promise<Fetched<Value>>): Promise<Value> {
    entry.renewal ??= this.#fetched(entry, fetch).finally(() => {
      entry.renewal = undefined;
    });
    return entry.renewal;
  }

  async #fetched(entry: Entry<Value>, fetch: () => Promise<Fetched<Value>>): Promise<Value> {
    try {
      const { value, livesMs } = await fetch();
      const now = this.#now();
      entry.value = value;
      entry.fetchedAt = now;
      entry.expiresAt = now + livesMs;
      entry.renewAt = entry.expiresAt - Math.min(RENEW_BEFORE_MS, livesMs * LAST_PART_OF_LIFE + ARRIVAL_MS);
      entry.failure = undefined;
      return value;
    } catch (error) {
      entry.failure = { error, until: this.#now() + RETRY_AFTER_MS };
      throw error;
    }
  }
}
