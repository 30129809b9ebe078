/** Divides one resource among callers: a maximum per caller, and capacity kept for higher ranks. */
import type { Rank, ShareLimits } from '../limits.ts';

/** A caller as limits see it. */
export interface Claimant {
  rank: Rank;
  /** Identifies the caller within its rank: a network, an account or a node. */
  name: string;
  /** Of an anonymous caller: whether a verified caller was in its network lately. */
  isKnownNetwork?: boolean;
}

/** Counts what callers hold of one resource in this process. */
export class Shares {
  readonly #limits: ShareLimits;
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /** Takes an amount, and returns the function that gives it back; null if the caller may not take it. */
  take(claimant: Claimant, amount = 1): (() => void) | null {
    const { perCaller, upTo } = this.#limits[claimant.rank];
    const key = `${claimant.rank} ${claimant.name}`;
    const own = this.#held.get(key) ?? 0;
    if (own + amount > perCaller || this.#total + amount > upTo) return null;
    this.#held.set(key, own + amount);
    this.#total += amount;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#total -= amount;
      const rest = (this.#held.get(key) ?? amount) - amount;
      if (rest > 0) this.#held.set(key, rest);
      else this.#held.delete(key);
    };
  }

  /** The amount that all callers hold together. */
  get total(): number {
    return this.#total;
  }
}
