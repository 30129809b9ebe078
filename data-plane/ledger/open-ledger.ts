/** The ledger of a running node: connects the money rules, the journal, the settler and the control plane. */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { GatewayError } from '@gateway/shared/failures';
import type { Micros } from '@gateway/shared/money';
import type { KeyRecord, UsageRecord } from '@gateway/shared/records';
import { TimestampFormatter } from '@gateway/shared/timestamps';
import type { Control } from '../control/client.ts';
import type { Log } from '../log.ts';
import { isSettledUpTo } from './journal-state.ts';
import { realDisk } from './disk.ts';
import type { Disk } from './disk.ts';
import type { LedgerEffect, LedgerEvent } from './events.ts';
import { LeaseHold, refusalError, unavailableError } from './holds.ts';
import type { HoldActions } from './holds.ts';
import { openJournal } from './journal.ts';
import type { Journal } from './journal.ts';
import type { Hold, OpenLedger } from './ledger.ts';
import { LeaseClient } from './lease-client.ts';
import { isLeaseChargeable, applyEvent } from './leases.ts';
import { chargeAt } from './lines.ts';
import { lockFolderWithin } from './lock.ts';
import { Settler } from './settle.ts';
import { initialLedgerState, isDrained, budgetIdOf } from './state.ts';
import type { LedgerState, Moment, BudgetOwner } from './state.ts';

export type { OpenLedger } from './ledger.ts';

/**
 * `away`: time in ms between checks of a waiting request, each of which refuses it if the control plane does
 * not answer. `most`: maximum wait in ms.
 */
const WAIT_MS = { away: 500, most: 3_000 };
const NOT_WRITABLE = 'The gateway cannot record charges at the moment. Try again shortly.';
const LEASE_EXPIRED =
  'The gateway lost contact with its billing during the answer. You were not charged. Try again.';
const NOT_RECORDED = 'The gateway could not record the charge. You were not charged. Try again.';
/** A timer can fire up to 1 ms early. Without this tolerance the last check would come one round late. */
const TIMER_EARLY_MS = 1;
const TICK_MS = 1_000;

export interface LedgerOptions {
  /** Folder of the journal; this process locks it. */
  folder: string;
  /** Maximum time to wait until another process unlocks the folder, in ms; 0 by default. */
  lockWithinMs?: number;
  control: Pick<Control, 'requestLease' | 'closeLease' | 'reportUsage'>;
  log: Log;
  disk?: Disk;
  clock?(): Moment;
}

/** Locks the folder and replays its journal. Throws if the folder is in use or the journal is damaged. */
export async function openLedger(options: LedgerOptions): Promise<OpenLedger> {
  mkdirSync(options.folder, { recursive: true, mode: 0o700 });
  const unlock = await lockFolderWithin(options.folder, options.lockWithinMs ?? 0);
  try {
    const { folder, disk = realDisk, log } = options;
    const journal = await openJournal({ folder, disk, log, newId: randomUUID });
    return new NodeLedger(options, journal, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

interface Waiting {
  resolve(leaseId: string): void;
  reject(error: GatewayError): void;
  timer: NodeJS.Timeout;
}

class NodeLedger implements OpenLedger {
  readonly instanceId = randomUUID();
  readonly #options: LedgerOptions;
  readonly #journal: Journal;
  readonly #settler: Settler;
  readonly #state: LedgerState;
  readonly #unlock: () => void;
  /** Sequence number of the last charge that an earlier process wrote. */
  readonly #lastEarlierSeq: number;
  readonly #waiting = new Map<number, Waiting>();
  readonly #ticker: NodeJS.Timeout;
  readonly #retries = new Set<NodeJS.Timeout>();
  readonly #leaseClient: LeaseClient;
  readonly #times = new TimestampFormatter();
  readonly #actions: HoldActions = {
    commit: (leaseId, price, usage) => this.#commit(leaseId, price, usage),
    release: (leaseId, price) => this.#dispatch({ type: 'RELEASE', leaseId, price }),
  };
  #lastWaiter = 0;
  #nodeId: string | undefined;
  #closed = false;
  #charges = 0;
  #charged: Micros = 0n;

  constructor(options: LedgerOptions, journal: Journal, unlock: () => void) {
    this.#options = options;
    this.#journal = journal;
    this.#unlock = unlock;
    this.#lastEarlierSeq = journal.nextSeq - 1;
    this.#state = initialLedgerState(journal.state);
    this.#settler = new Settler({
      journal,
      reportUsage: (report) => options.control.reportUsage(report),
      onSettled: (leases) => this.#dispatch({ type: 'SETTLED', leases }),
      log: options.log,
    });
    this.#leaseClient = new LeaseClient({
      context: () => ({ ...options, journalId: this.journalId, nodeId: this.#nodeId }),
      write: (record) => journal.append(record),
      budgetOf: (leaseId) => this.#state.budgets.get(this.#state.leases.get(leaseId)?.budgetId ?? ''),
      dispatch: (event) => this.#dispatch(event),
    });
    this.#ticker = setInterval(() => {
      journal.stallDetector.check();
      this.#dispatch({ type: 'TICK' });
    }, TICK_MS);
  }

  get journalId(): string {
    return this.#journal.journalId;
  }
  get start(): number {
    return this.#journal.start;
  }
  get formerSettled(): boolean {
    return isSettledUpTo(this.#journal.state, this.#lastEarlierSeq);
  }
  get writable(): boolean {
    return this.#journal.writable;
  }
  get usageBacklog(): number {
    return this.#journal.backlog + this.#settler.waitingFree;
  }
  get usageDropped(): number {
    return this.#settler.dropped;
  }

  get totals(): OpenLedger['totals'] {
    const leases = this.#state.leases.size;
    const quarantined = this.#journal.state.quarantined.size;
    return { leases, charges: this.#charges, chargedMicros: this.#charged, quarantined };
  }

  now(): Moment {
    return this.#options.clock?.() ?? { mono: performance.now(), wall: Date.now() };
  }

  connect(nodeId: string): void {
    this.#nodeId = nodeId;
    this.#settler.start(nodeId);
    this.confirmLeases(this.now());
    this.#dispatch({ type: 'TICK' });
  }

  confirmLeases(sentAt: Moment): void {
    this.#dispatch({ type: 'CONFIRMED', sentAt });
  }
  recall(leaseId: string): void {
    this.#dispatch({ type: 'RECALL', leaseId });
  }
  report(usage: UsageRecord): void {
    this.#settler.addFree(usage);
  }

  async hold(key: KeyRecord, price: Micros): Promise<Hold> {
    if (price === 0n) return { commit: async (usage) => this.report(usage), release: () => undefined };
    if (!this.#journal.writable) throw unavailableError(NOT_WRITABLE);
    const { walletId } = key;
    const keyId = key.hasSpendLimit ? key.id : null;
    const waiter = ++this.#lastWaiter;
    let decision: LedgerEffect | undefined;
    for (const effect of applyEvent(
      this.#state,
      { type: 'HOLD', waiter, walletId, keyId, price },
      this.now(),
    )) {
      if ('waiter' in effect && effect.waiter === waiter) decision = effect;
      else this.#perform(effect);
    }
    if (decision?.type === 'REFUSE') throw refusalError(decision.code);
    const leaseId =
      decision?.type === 'HELD' ? decision.leaseId : await this.#wait(waiter, { walletId, keyId });
    return new LeaseHold(leaseId, price, this.#actions);
  }

  async drain(limitMs: number): Promise<boolean> {
    this.#dispatch({ type: 'STOP' });
    const until = this.now().mono + limitMs;
    while (!(isDrained(this.#state) && this.usageBacklog === 0)) {
      if (this.now().mono >= until) return false;
      this.#settler.reportNow();
      await new Promise((resolve) => {
        setTimeout(resolve, 10);
      });
    }
    return true;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#ticker);
    for (const timer of this.#retries) clearTimeout(timer);
    this.#leaseClient.stop();
    await this.#settler.stop();
    await this.#journal.close();
    this.#unlock();
  }

  /**
   * Resolves with the lease of the hold. Rejects if the rules refuse the hold, at the latest after WAIT_MS.
   */
  #wait(waiter: number, owner: BudgetOwner): Promise<string> {
    return new Promise((resolve, reject) => {
      const budgetId = budgetIdOf(owner);
      const until = this.now().mono + WAIT_MS.most - TIMER_EARLY_MS;
      const timer = setInterval(() => {
        this.#dispatch({ type: 'GIVE_UP', waiter, budgetId, final: this.now().mono >= until });
      }, WAIT_MS.away);
      this.#waiting.set(waiter, { resolve, reject, timer });
    });
  }

  #commit(leaseId: string, price: Micros, usage: UsageRecord): Promise<void> {
    return new Promise((resolve, reject) => {
      const now = this.now();
      const refuse = (message: string, cause?: unknown): void => {
        this.#dispatch({ type: 'RELEASE', leaseId, price });
        reject(unavailableError(message, cause));
      };
      if (!isLeaseChargeable(this.#state, leaseId, now)) return refuse(LEASE_EXPIRED);
      const { journalId, nextSeq: seq } = this.#journal;
      try {
        this.#journal.enqueue(chargeAt({ journalId, leaseId, seq, cost: price }, usage, this.#times), {
          resolve: () => {
            this.#charges += 1;
            this.#charged += price;
            // `now` is the time before the write. The money rules need it only to the minute.
            this.#dispatch({ type: 'COMMITTED', leaseId, price }, now);
            this.#settler.recorded();
            resolve();
          },
          reject: (cause) => refuse(NOT_RECORDED, cause),
        });
      } catch (cause) {
        refuse(NOT_RECORDED, cause);
      }
    });
  }

  #dispatch(event: LedgerEvent, now = this.now()): void {
    for (const effect of applyEvent(this.#state, event, now)) this.#perform(effect);
  }

  #perform(effect: LedgerEffect): void {
    switch (effect.type) {
      case 'HELD':
        return this.#takeWaiting(effect.waiter)?.resolve(effect.leaseId);
      case 'REFUSE':
        return this.#takeWaiting(effect.waiter)?.reject(refusalError(effect.code));
      case 'WRITE':
        return this.#journal.appendInBackground(effect.record);
      case 'SETTLE':
        return this.#settler.reportNow();
      case 'REQUEST':
        return this.#leaseClient.request(effect);
      case 'CLOSE':
        return this.#leaseClient.close(effect);
      case 'RETRY':
        return this.#retryLater(effect);
    }
  }

  #takeWaiting(waiter: number): Waiting | undefined {
    const waiting = this.#waiting.get(waiter);
    this.#waiting.delete(waiter);
    clearInterval(waiting?.timer);
    return waiting;
  }

  #retryLater({ budgetId, afterMs }: { budgetId: string; afterMs: number }): void {
    if (this.#closed) return;
    const timer = setTimeout(() => {
      this.#retries.delete(timer);
      this.#dispatch({ type: 'RETRY', budgetId });
    }, afterMs);
    this.#retries.add(timer);
  }
}
