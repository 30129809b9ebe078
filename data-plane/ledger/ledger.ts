/** The ledger of a node as other code uses it: hold a price, then commit or release it exactly once. */
import type { KeyRecord, UsageRecord } from '@gateway/shared/records';
import type { Micros } from '@gateway/shared/money';
import type { Moment } from './state.ts';

/** The ledger as the request path uses it. */
export interface Ledger {
  /**
   * Reserves one price from a lease of the key's wallet: at once if a lease has room, otherwise after asking
   * the control plane for a lease.
   * Throws `insufficient_funds`, `spend_limit_reached` or `wallet_frozen` if the control plane says so.
   * Throws `unavailable` if the control plane does not answer (after 500 ms if it is known to be away, else
   * after at most 3 s), or if the journal is not writable.
   */
  hold(key: KeyRecord, price: Micros): Promise<Hold>;
  /** Queues the usage record of a free request. Never waits; records are dropped when too many are queued. */
  report(usage: UsageRecord): void;
}

/** One reserved price. Call exactly one of `commit` and `release`. */
export interface Hold {
  /**
   * Resolves when the charge is durable in the journal; only then may the end of the answer be sent.
   * Throws `unavailable` if the lease has expired or the disk refuses the write: then nothing was charged.
   */
  commit(usage: UsageRecord): Promise<void>;
  /** Returns the price to the lease. Nothing was charged. */
  release(): void;
}

/** An open ledger, with the operations that only `main` uses. */
export interface OpenLedger extends Ledger {
  readonly journalId: string;
  /** Identifies this process. */
  readonly instanceId: string;
  /** Number of this process among all that have opened the journal; later ones have higher numbers. */
  readonly start: number;
  /** Whether all charges of earlier processes on this journal are settled. */
  readonly formerSettled: boolean;
  /** False while the disk refuses writes or hangs; then paid requests are answered with 503. */
  readonly writable: boolean;
  /** Number of charges and free usage records that are not settled. */
  readonly usageBacklog: number;
  /** Number of free usage records that were dropped. */
  readonly usageDropped: number;
  /** Open leases; charges since the start and their sum; charges in quarantine. */
  readonly totals: { leases: number; charges: number; chargedMicros: Micros; quarantined: number };
  now(): Moment;
  /** Starts to request leases and to report usage as this node. */
  connect(nodeId: string): void;
  /** Extends all leases: the control plane answered a heartbeat that was sent at `sentAt`. */
  confirmLeases(sentAt: Moment): void;
  /** Returns a lease that the control plane recalls. */
  recall(leaseId: string): void;
  /**
   * Refuses new holds, settles all charges and closes all leases. Resolves with true when done, or with false
   * after `limitMs`.
   */
  drain(limitMs: number): Promise<boolean>;
  /** Writes all queued records, closes the journal and unlocks its folder. */
  close(): Promise<void>;
}
