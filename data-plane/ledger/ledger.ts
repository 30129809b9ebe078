/** What the pipeline knows of money: hold a price, then commit it once or give it back. */
import type { KeyRecord, UsageRecord } from '@gateway/shared/records';
import type { Micros } from '@gateway/shared/money';
import type { Moment } from './state.ts';

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

/** A ledger at work, as the process that runs it sees it. */
export interface OpenLedger extends Ledger {
  readonly journalId: string;
  /** Of this process alone. */
  readonly instanceId: string;
  /** Which of the processes that have had the journal this is, counted upwards. */
  readonly start: number;
  /** Whether all charges are settled that stood in the journal when this process began. */
  readonly formerSettled: boolean;
  /** False while the disk refuses charges, or does not answer: paid requests are answered with 503. */
  readonly writable: boolean;
  /** Charges and free records that the control plane does not have yet. */
  readonly usageBacklog: number;
  /** Free usage records that were dropped because the control plane was away for long. */
  readonly usageDropped: number;
  /** Leases held now; charges made durable since the start, their sum; those that are parked. */
  readonly tally: { leases: number; charges: number; chargedMicros: Micros; parked: number };
  now(): Moment;
  /** From here on leases are asked for and usage is reported, as this node. */
  connect(nodeId: string): void;
  /** The control plane answered a heartbeat that was sent at that moment. */
  confirm(sentAt: Moment): void;
  /** The control plane wants a lease back. */
  recall(leaseId: string): void;
  /** Refuses new holds, settles and closes every lease; resolves when that is done or the time is over. */
  drain(limitMs: number): Promise<void>;
  /** Writes what waits, closes the journal and lets the folder go. */
  close(): Promise<void>;
}
