/** Divides a number of bytes among wallets by a dynamic threshold, so that none can take all of them. */

interface BudgetSize {
  /** Bytes for all wallets together. */
  total: number;
  /** Bytes beyond the total for wallets that hold less than `floor` each. */
  reserve: number;
  floor: number;
}

/**
 * A wallet may hold at most as many bytes as are still free. One wallet alone gets a half, two get a third
 * each, and a further wallet always finds as many free bytes as each of the others holds.
 */
export class SharedBudget {
  readonly #size: BudgetSize;
  readonly #held = new Map<string, number>();
  #used = 0;

  constructor(size: BudgetSize) {
    this.#size = size;
  }

  /** Bytes that are held at the moment. */
  get used(): number {
    return this.#used;
  }

  /** Whether the bytes are now held by this wallet. Returns false, and takes none, above its share. */
  take(walletId: string, bytes: number): boolean {
    const held = (this.#held.get(walletId) ?? 0) + bytes;
    const used = this.#used + bytes;
    const { total, reserve, floor } = this.#size;
    const isWithinShare = held <= total - used || (held <= floor && used <= total + reserve);
    if (!isWithinShare) return false;
    this.#held.set(walletId, held);
    this.#used = used;
    return true;
  }

  /** Gives bytes of this wallet back. */
  give(walletId: string, bytes: number): void {
    if (bytes === 0) return;
    const held = (this.#held.get(walletId) ?? 0) - bytes;
    if (held > 0) this.#held.set(walletId, held);
    else this.#held.delete(walletId);
    this.#used -= bytes;
  }
}
