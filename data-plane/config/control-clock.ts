/** The clock of the control plane as this node knows it. A wrong wall clock of the node does not move it. */

/** Reads of the clocks of this machine, in ms. */
interface Clocks {
  monotonic(): number;
  wall(): number;
}

const REAL: Clocks = { monotonic: () => performance.now(), wall: () => Date.now() };

/** Runs on by the monotonic clock from the last time that the control plane told. */
export class ControlClock {
  readonly #clocks: Clocks;
  #offset: number | undefined;

  constructor(clocks: Clocks = REAL) {
    this.#clocks = clocks;
  }

  /** Sets the clock to the time in a message of the control plane. Ignores an unreadable one. */
  set(at: string): void {
    const told = Date.parse(at);
    if (!Number.isNaN(told)) this.#offset = told - this.#clocks.monotonic();
  }

  /** Time in ms since 1970: of the control plane, or of this machine before the first message. */
  now(): number {
    return this.#offset === undefined ? this.#clocks.wall() : this.#clocks.monotonic() + this.#offset;
  }
}
