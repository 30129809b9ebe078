/** Stops a request from outside: because its client left, its key was stopped, or the node shuts down. */
import type { GatewayError } from '@gateway/shared/failures';

/** The cut of one request, with its reason. Cheaper than an AbortSignal, because every request has one. */
export class Cut {
  #reason: GatewayError | undefined;
  readonly #listeners = new Set<(reason: GatewayError) => void>();

  /** Why the request was cut; undefined if it was not. */
  get reason(): GatewayError | undefined {
    return this.#reason;
  }

  /** Cuts the request. Only the first call counts: its reason decides about the charge. */
  trigger(reason: GatewayError): void {
    if (this.#reason) return;
    this.#reason = reason;
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener(reason);
  }

  /** Calls the listener once when the request is cut, at once if it already is. Returns the unsubscriber. */
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
