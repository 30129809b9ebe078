/** This node's estimate of the control plane's clock. A wrong wall clock of the node does not change it. */

/** Reads of the clocks of this machine, in ms. */
interface Clocks {
  monotonic(): number;
  wall(): number;
}

const REAL: Clocks = { monotonic: () => performance.now(), wall: () => Date.now() };

/** Adds the time on the monotonic clock since the last message to the time in that message. */
export class ControlClock {
  readonly #clocks: Clocks;
  #offset: number | undefined;

  constructor(clocks: Clocks = REAL) {
    this.#clocks = clocks;
  }

  /** Sets the clock to the time in a message of the control plane. Ignores an unreadable one. */
  set(at: string): void {
    const received = Date.parse(at);
    if (!Number.isNaN(received)) this.#offset = received - this.#clocks.monotonic();
  }

  /** Time in ms since 1970: of the control plane, or of this machine before the first message. */
  now(): number {
    return this.#offset === undefined ? this.#clocks.wall() : this.#clocks.monotonic() + this.#offset;
  }
}
