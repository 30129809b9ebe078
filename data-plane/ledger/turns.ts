/**
 * Lets a node say what it owes the control plane a few at a time: with many wallets all of it falls due at
 * once, when the control plane goes away or comes back, and must hold up neither plane.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** So many are looked through for one that is waited for. */
const LOOKED_THROUGH_MAX = 1_000;
/** How long one that was in vain keeps its place from the next, in ms. */
const REST_MS = 100;

/** Something to be said to the control plane. */
export interface Saying {
  /** Whether a client waits for it: such ones go first. */
  isWaitedFor(): boolean;
  /** Says it once, and returns whether that was of use. Never rejects. */
  say(): Promise<boolean>;
}

/** Those that wait for their turn. */
export class Turns {
  readonly #atOnce: number;
  readonly #waiting = new Set<Saying>();
  #busy = 0;
  #stopped = false;

  /** `atOnce`: so many are on their way at most. */
  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** It has its turn as soon as there is room. */
  add(saying: Saying): void {
    this.#waiting.add(saying);
    if (this.#busy < this.#atOnce) void this.#work();
  }

  /** Nothing more has its turn. */
  stop(): void {
    this.#stopped = true;
  }

  async #work(): Promise<void> {
    this.#busy += 1;
    for (let next = this.#next(); next && !this.#stopped; next = this.#next()) {
      this.#waiting.delete(next);
      if (!(await next.say())) await sleep(REST_MS, undefined, { ref: false });
    }
    this.#busy -= 1;
  }

  #next(): Saying | undefined {
    let first: Saying | undefined;
    let looked = 0;
    for (const saying of this.#waiting) {
      if (saying.isWaitedFor()) return saying;
      first ??= saying;
      looked += 1;
      if (looked === LOOKED_THROUGH_MAX) break;
    }
    return first;
  }
}
