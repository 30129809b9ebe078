/** The ledger at work: the money rules, the journal, the settler and the control plane put together. */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { GatewayError } from '@gateway/shared/failures';
import type { Micros } from '@gateway/shared/money';
import type { KeyRecord, UsageRecord } from '@gateway/shared/records';
import { TimeTexts } from '@gateway/shared/time-texts';
import type { Control } from '../control.ts';
import type { Log } from '../log.ts';
import { isSettledTo } from './book.ts';
import { realDisk } from './disk.ts';
import type { Disk } from './disk.ts';
import type { LedgerEffect, LedgerEvent } from './events.ts';
import { LeaseHold, refusal, unavailable } from './holds.ts';
import type { HoldActions } from './holds.ts';
import { openJournal } from './journal.ts';
import type { Journal } from './journal.ts';
import type { Hold, OpenLedger } from './ledger.ts';
import { LeaseDesk } from './lease-desk.ts';
import { mayCommit, step } from './leases.ts';
import { chargeAt } from './lines.ts';
import { lockFolder } from './lock.ts';
import { Settler } from './settle.ts';
import { beginWith, isCleared, purseIdOf } from './state.ts';
import type { LedgerState, Moment, PurseOwner } from './state.ts';

export type { OpenLedger } from './ledger.ts';

/**
 * How long a request waits for money while the control plane is away, and at most while it answers, in ms.
 */
const WAIT_MS = { silent: 500, most: 3_000 };
const OUT_OF_CONTACT = 'The gateway lost its contact to billing while it answered; nothing was charged.';
const NOT_RECORDED = 'The gateway could not record the charge; nothing was charged.';
/** A timer may be early by a part of a millisecond of the clock. */
const EARLY_MS = 1;
const TICK_MS = 1_000;

export interface LedgerOptions {
  /** Where the journal lives; this process locks it. */
  folder: string;
  control: Pick<Control, 'requestLease' | 'closeLease' | 'reportUsage'>;
  log: Log;
  disk?: Disk;
  clock?(): Moment;
}

/** Locks the folder, replays its journal and begins. Throws when another process has it or it is damaged. */
export async function openLedger(options: LedgerOptions): Promise<OpenLedger> {
  mkdirSync(options.folder, { recursive: true, mode: 0o700 });
  const unlock = lockFolder(options.folder);
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
  /** The last charge of the processes before this one. */
  readonly #formerSeq: number;
  readonly #waiting = new Map<number, Waiting>();
  readonly #ticking: NodeJS.Timeout;
  readonly #retries = new Set<NodeJS.Timeout>();
  readonly #desk: LeaseDesk;
  readonly #times = new TimeTexts();
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
    this.#formerSeq = journal.nextSeq - 1;
    this.#state = beginWith(journal.book);
    this.#settler = new Settler({
      journal,
      reportUsage: (report) => options.control.reportUsage(report),
      onSettled: (leases) => this.#dispatch({ type: 'SETTLED', leases }),
      log: options.log,
    });
    this.#desk = new LeaseDesk({
      caller: () => ({ ...options, journalId: this.journalId, nodeId: this.#nodeId }),
      write: (record) => journal.append(record),
      purseOf: (leaseId) => this.#state.purses.get(this.#state.leases.get(leaseId)?.purseId ?? ''),
      tell: (event) => this.#dispatch(event),
    });
    this.#ticking = setInterval(() => {
      journal.watch.look();
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
    return isSettledTo(this.#journal.book, this.#formerSeq);
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

  get tally(): OpenLedger['tally'] {
    const { book } = this.#journal;
    const leases = this.#state.leases.size;
    return { leases, charges: this.#charges, chargedMicros: this.#charged, parked: book.parked.size };
  }

  now(): Moment {
    return this.#options.clock?.() ?? { mono: performance.now(), wall: Date.now() };
  }

  connect(nodeId: string): void {
    this.#nodeId = nodeId;
    this.#settler.start(nodeId);
    this.confirm(this.now());
    this.#dispatch({ type: 'TICK' });
  }

  confirm(sentAt: Moment): void {
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
    if (!this.#journal.writable) throw unavailable('The gateway cannot record charges at the moment.');
    const { walletId } = key;
    const keyId = key.hasSpendLimit ? key.id : null;
    const waiter = ++this.#lastWaiter;
    let decided: LedgerEffect | undefined;
    for (const effect of step(this.#state, { type: 'HOLD', waiter, walletId, keyId, price }, this.now())) {
      if ('waiter' in effect && effect.waiter === waiter) decided = effect;
      else this.#perform(effect);
    }
    if (decided?.type === 'REFUSE') throw refusal(decided.code);
    const leaseId =
      decided?.type === 'HELD' ? decided.leaseId : await this.#wait(waiter, { walletId, keyId });
    return new LeaseHold(leaseId, price, this.#actions);
  }

  async drain(limitMs: number): Promise<void> {
    this.#dispatch({ type: 'STOP' });
    const until = this.now().mono + limitMs;
    while (this.now().mono < until && !(isCleared(this.#state) && this.usageBacklog === 0)) {
      this.#settler.hurry();
      await new Promise((resolve) => {
        setTimeout(resolve, 10);
      });
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#ticking);
    for (const timer of this.#retries) clearTimeout(timer);
    this.#desk.stop();
    await this.#settler.stop();
    await this.#journal.close();
    this.#unlock();
  }

  /** Resolves with the lease that the purse has money in, once it has. */
  #wait(waiter: number, owner: PurseOwner): Promise<string> {
    return new Promise((resolve, reject) => {
      const purseId = purseIdOf(owner);
      const until = this.now().mono + WAIT_MS.most - EARLY_MS;
      const timer = setInterval(() => {
        this.#dispatch({ type: 'GIVE_UP', waiter, purseId, final: this.now().mono >= until });
      }, WAIT_MS.silent);
      this.#waiting.set(waiter, { resolve, reject, timer });
    });
  }

  #commit(leaseId: string, price: Micros, usage: UsageRecord): Promise<void> {
    return new Promise((resolve, reject) => {
      const now = this.now();
      const refuse = (message: string, cause?: unknown): void => {
        this.#dispatch({ type: 'RELEASE', leaseId, price });
        reject(unavailable(message, cause));
      };
      if (!mayCommit(this.#state, leaseId, now)) return refuse(OUT_OF_CONTACT);
      const { journalId, nextSeq: seq } = this.#journal;
      try {
        this.#journal.enqueue(chargeAt({ journalId, leaseId, seq, cost: price }, usage, this.#times), {
          resolve: () => {
            this.#charges += 1;
            this.#charged += price;
            // The money rules ask only in which minute that was: the clock is not read again for it.
            this.#dispatch({ type: 'COMMITTED', leaseId, price }, now);
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
    for (const effect of step(this.#state, event, now)) this.#perform(effect);
  }

  #perform(effect: LedgerEffect): void {
    switch (effect.type) {
      case 'HELD':
        return this.#finish(effect.waiter)?.resolve(effect.leaseId);
      case 'REFUSE':
        return this.#finish(effect.waiter)?.reject(refusal(effect.code));
      case 'WRITE':
        return this.#journal.note(effect.record);
      case 'SETTLE':
        return this.#settler.hurry();
      case 'REQUEST':
        return this.#desk.request(effect);
      case 'CLOSE':
        return this.#desk.close(effect);
      case 'RETRY':
        return this.#retryLater(effect);
    }
  }

  #finish(waiter: number): Waiting | undefined {
    const waiting = this.#waiting.get(waiter);
    this.#waiting.delete(waiter);
    clearInterval(waiting?.timer);
    return waiting;
  }

  #retryLater({ purseId, afterMs }: { purseId: string; afterMs: number }): void {
    if (this.#closed) return;
    const timer = setTimeout(() => {
      this.#retries.delete(timer);
      this.#dispatch({ type: 'RETRY', purseId });
    }, afterMs);
    this.#retries.add(timer);
  }
}
