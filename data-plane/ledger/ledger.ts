/** What the pipeline knows of money: hold a price, then commit it once or give it back. */
import type { KeyRecord, UsageRecord } from '@gateway/shared/records';
import type { Micros } from '@gateway/shared/money';

export interface Ledger {
  /**
   * Reserves one price from a lease of the key's wallet. Immediate where a lease has room, else asks the
   * control plane.
   * Throws `insufficient_funds`, `spend_limit_reached` or `wallet_frozen` when the control plane says so, and
   * `unavailable`
   * when it is away (at most 500 ms of waiting once that is known, else 3 s), the journal is not writable, or
   * the lease is too old.
   */
  hold(key: KeyRecord, price: Micros): Promise<Hold>;
  /** Records a request that cost nothing, for the usage log. Best effort, bounded, never waits. */
  report(usage: UsageRecord): void;
}

/** One reserved price. Exactly one of `commit` and `release` is called. */
export interface Hold {
  /**
   * Makes the charge durable (journal record, fdatasync) and resolves then; the end of the answer may leave
   * after it.
   * Throws `unavailable` when the lease expired meanwhile or the disk refuses: then nothing was charged.
   */
  commit(usage: UsageRecord): Promise<void>;
  /** Gives the price back. Nothing was charged. */
  release(): void;
}
