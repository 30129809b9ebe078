/** Chooses which of several control plane instances a node uses: the same one until it fails. */

/** The addresses of control plane instances on one database, used in turn. */
export class ControlAddresses {
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
   * Moves to the next address because `failed` did not answer. When several callers fail on the same address,
   * only the first call moves on; otherwise they would skip an instance without a try.
   */
  failOver(failed: string): void {
    if (failed === this.current) this.#at = (this.#at + 1) % this.#urls.length;
  }
}
