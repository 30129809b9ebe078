/**
 * A bounded queue between one producer and one consumer: whoever cannot follow is cut off instead of kept
 * in memory.
 */

export class EventQueue<T> {
  readonly #limit: number;
  #items: T[] = [];
  #end: { error?: Error } | undefined;
  #wake: (() => void) | undefined;

  /** `limit`: how many items may wait. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether nothing waits for the consumer. */
  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  /** Adds an item; false, and the end of the queue, when too many wait already. */
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

  /** Ends the queue at once, with an error for the consumer or without. What waits is dropped. */
  end(error?: Error): void {
    this.#end ??= error ? { error } : {};
    this.#items = [];
    this.#wake?.();
  }

  /** The next item; undefined at the end. Throws the error the queue was ended with. */
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
