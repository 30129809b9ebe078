/** Which of several control planes a node speaks to: the same one, until it fails. */

/**
 * The addresses of control planes over one database, in a ring. Whoever could not reach the one it used says
 * so, and everybody goes on with the next.
 */
export class Addresses {
  readonly #urls: readonly [string, ...string[]];
  #at = 0;

  constructor(urls: readonly [string, ...string[]]) {
    this.#urls = urls;
  }

  /** The address to use now. */
  get current(): string {
    return this.#urls[this.#at] ?? this.#urls[0];
  }

  /**
   * The address did not answer. Of several who failed at it at once only the first moves on: the others
   * would skip one that nobody has tried.
   */
  leave(failed: string): void {
    if (failed === this.current) this.#at = (this.#at + 1) % this.#urls.length;
  }
}
