/** The secrets of the webhook in memory, so that strangers cannot cause a query with each request. */
import { setTimeout as sleep } from 'node:timers/promises';
import { WEBHOOK_SECRETS_READ_MS } from '../../limits.ts';

/** Reads the secrets at most once per WEBHOOK_SECRETS_READ_MS, however many callers ask. */
export class SigningSecrets {
  readonly #read: () => Promise<string[]>;
  #known: readonly string[] | undefined;
  #readAt = -Infinity;
  #next: Promise<readonly string[]> | undefined;

  constructor(read: () => Promise<string[]>) {
    this.#read = read;
  }

  /** The secrets as they were last read; they may have changed since. */
  async known(): Promise<readonly string[]> {
    return this.#known ?? this.next();
  }

  /** The secrets from a read that starts after this call. All callers of one interval share it. */
  next(): Promise<readonly string[]> {
    this.#next ??= this.#readInTime();
    return this.#next;
  }

  async #readInTime(): Promise<readonly string[]> {
    const wait = this.#readAt + WEBHOOK_SECRETS_READ_MS - performance.now();
    await sleep(Math.max(0, wait), undefined, { ref: false });
    this.#next = undefined;
    this.#readAt = performance.now();
    this.#known = await this.#read();
    return this.#known;
  }
}
