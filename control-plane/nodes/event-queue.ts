/** A bounded queue between one producer and one consumer. */

/** Ends when too many items wait, so that a slow consumer does not fill the memory. */
export class EventQueue<T> {
  readonly #limit: number;
  #items: T[] = [];
  #end: { error?: Error } | undefined;
  #wake: (() => void) | undefined;

  /** `limit`: maximum number of waiting items. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether no item waits. */
  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  /** Adds an item. Returns false if the queue has ended, or was full and therefore ends now. */
  push(item: T): boolean {
    if (this.#end) return false;
    if (this.#items.length >= this.#limit) {
      this.end();
      return false;
    }
    this.#items.push(item);
    this.#wake?.();
    return true;
  }

  /** Ends the queue and drops its items. The consumer gets the error, if there is one. */
  end(error?: Error): void {
    this.#end ??= error ? { error } : {};
    this.#items = [];
    this.#wake?.();
  }

  /** Waits for the next item; undefined at the end. Throws the error that the queue was ended with. */
  async next(): Promise<T | undefined> {
    while (this.#items.length === 0 && !this.#end) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#end?.error) throw this.#end.error;
    return this.#items.shift();
  }
}
