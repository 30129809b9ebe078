/** Ends bodies that arrive too slowly: a request may hold its place only while it makes progress. */
import { GatewayError } from '@gateway/shared/failures';
import { BODY_BYTES_PER_SECOND, SLOW_BODY_CHECK_MS, SLOW_BODY_GRACE_MS } from '../limits.ts';

/** A body that is being read. */
export interface ArrivingBody {
  /** When reading began, in ms of the node's monotonic clock. */
  readonly startedAt: number;
  /** Number of bytes that have arrived. */
  readonly size: number;
  /** Stops reading. */
  fail(error: GatewayError): void;
}

/** The long bodies of a node that are being read, with one timer for all of them. */
export class SlowBodies {
  readonly #now: () => number;
  readonly #bodies = new Set<ArrivingBody>();
  #timer: NodeJS.Timeout | undefined;

  /** `now` is a monotonic clock in ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** ms of the monotonic clock. */
  now(): number {
    return this.#now();
  }

  /** Checks this body until `unwatch`. */
  watch(body: ArrivingBody): void {
    this.#bodies.add(body);
    this.#timer ??= setInterval(() => this.#check(), SLOW_BODY_CHECK_MS).unref();
  }

  unwatch(body: ArrivingBody): void {
    this.#bodies.delete(body);
    if (this.#bodies.size > 0 || !this.#timer) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #check(): void {
    const now = this.#now();
    for (const body of this.#bodies) if (isTooSlow(body, now - body.startedAt)) body.fail(tooSlow());
  }
}

function isTooSlow({ size }: ArrivingBody, elapsedMs: number): boolean {
  return elapsedMs > SLOW_BODY_GRACE_MS && size < (elapsedMs / 1_000) * BODY_BYTES_PER_SECOND;
}

function tooSlow(): GatewayError {
  return new GatewayError('request_timeout', 'The request body arrives too slowly. Send it again.');
}
