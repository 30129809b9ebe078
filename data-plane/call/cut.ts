/** Stops a request from outside: because its client left, its key was stopped, or the node shuts down. */
import type { GatewayError } from '@gateway/shared/failures';

/** Ends its work when the request is cut. */
export interface CutListener {
  /** Called at most once. */
  abort(reason: GatewayError): void;
}

/** The cut of one request, with its reason. Cheaper than an AbortSignal, because every request has one. */
export class Cut {
  #reason: GatewayError | undefined;
  /** Most requests have one listener. A set for it would take more memory than the rest of the cut. */
  #listener: CutListener | undefined;
  #others: Set<CutListener> | undefined;

  /** Why the request was cut; undefined if it was not. */
  get reason(): GatewayError | undefined {
    return this.#reason;
  }

  /** Cuts the request. Only the first call counts: its reason decides about the charge. */
  trigger(reason: GatewayError): void {
    if (this.#reason) return;
    this.#reason = reason;
    const listeners = [...(this.#listener ? [this.#listener] : []), ...(this.#others ?? [])];
    this.#listener = undefined;
    this.#others = undefined;
    for (const listener of listeners) listener.abort(reason);
  }

  /**
   * Informs the listener once when the request is cut, at once if it already is. A listener is passed once.
   */
  onCut(listener: CutListener): void {
    if (this.#reason) listener.abort(this.#reason);
    else if (this.#listener) (this.#others ??= new Set()).add(listener);
    else this.#listener = listener;
  }

  /** Does not inform the listener any more. */
  offCut(listener: CutListener): void {
    if (this.#listener === listener) this.#listener = undefined;
    else this.#others?.delete(listener);
  }

  /** Throws the reason if the request was cut. */
  throwIfCut(): void {
    if (this.#reason) throw this.#reason;
  }
}
