/**
 * The one way a request is stopped from outside: its client left, its key was stopped, or its time was up.
 */
import type { GatewayError } from '@gateway/shared/failures';

/** Cut at most once, with a reason; lighter than an AbortSignal, which every request would pay for. */
export class Cut {
  #reason: GatewayError | undefined;
  readonly #listeners = new Set<(reason: GatewayError) => void>();

  /** Why the request was cut; undefined while it may go on. */
  get reason(): GatewayError | undefined {
    return this.#reason;
  }

  /** Stops the request. Later calls change nothing: the first reason decides about the charge. */
  trigger(reason: GatewayError): void {
    if (this.#reason) return;
    this.#reason = reason;
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener(reason);
  }

  /**
   * Calls the listener once when the request is cut, at once if it already is. Returns how to stop
   * listening.
   */
  onCut(listener: (reason: GatewayError) => void): () => void {
    if (this.#reason) {
      listener(this.#reason);
      return () => undefined;
    }
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Throws the reason if the request was cut. */
  throwIfCut(): void {
    if (this.#reason) throw this.#reason;
  }
}
