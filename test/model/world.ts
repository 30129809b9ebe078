/**
 * The world of the model check in motion: clients, nodes with the production money rules and journal, and a
 * control plane. Messages are never removed, which covers loss, delay, reordering and duplication.
 */
import { emptyJournalState, applyRecord } from '../../data-plane/ledger/journal-state.ts';
import type { JournalRecord } from '../../data-plane/ledger/journal-state.ts';
import type { LedgerEffect, LedgerEvent } from '../../data-plane/ledger/events.ts';
import { isLeaseChargeable, applyEvent } from '../../data-plane/ledger/leases.ts';
import { initialLedgerState } from '../../data-plane/ledger/state.ts';
import type { LedgerState, Moment } from '../../data-plane/ledger/state.ts';
import { chargeOf } from '../ledger/records.ts';
import { copyNode } from './state.ts';
import type { ModelNode, ModelRequest, World, Bounds } from './state.ts';

/** The rules under test. Mutants replace some of them. */
export interface Rules {
  applyEvent: typeof applyEvent;
  isLeaseChargeable: typeof isLeaseChargeable;
  initialLedgerState: typeof initialLedgerState;
  /** The control plane counts each request id once. */
  dedupes: boolean;
  closesExactly: boolean;
  checksJournal: boolean;
  reclaimsAfterDeadline: boolean;
  guardsBalance: boolean;
  /** The control plane repeats a recall until the lease is returned. */
  repeatsRecalls: boolean;
  /** The control plane grants no lease to a request that it refused, or of a replaced journal. */
  remembersRefusals: boolean;
  /** When a charge is written: production writes it after success and before the last byte. */
  commits: 'before-last-byte' | 'after-last-byte' | 'at-start';
}

export const PRODUCTION: Rules = {
  applyEvent,
  isLeaseChargeable,
  initialLedgerState,
  dedupes: true,
  closesExactly: true,
  checksJournal: true,
  reclaimsAfterDeadline: true,
  guardsBalance: true,
  repeatsRecalls: true,
  remembersRefusals: true,
  commits: 'before-last-byte',
};

/** After this time without a request, the leases of a wallet are returned. */
const IDLE_MS = 60_000;
/** How long leases stay valid without an answer of the control plane. */
export const DEADLINE_MS = 2 * IDLE_MS;
const WALLET = 'w';

/**
 * A world and the rules that change it. Every method changes the world in place. Nodes may be shared with
 * other worlds, so each is copied before its first change.
 */
export class WorldDriver {
  readonly world: World;
  readonly rules: Rules;
  readonly bounds: Bounds;
  /** Whether clients have sent nothing for longer than the idle time. */
  idle = false;
  readonly #copied = new Set<number>();

  constructor(world: World, rules: Rules, bounds: Bounds) {
    this.world = world;
    this.rules = rules;
    this.bounds = bounds;
  }

  // Control planes of earlier releases neither repeat recalls nor remember refusals.
  get repeatsRecalls(): boolean {
    return this.rules.repeatsRecalls && this.bounds.earlierControl !== true;
  }
  get remembersRefusals(): boolean {
    return this.rules.remembersRefusals && this.bounds.earlierControl !== true;
  }

  /** The node, as a copy that this driver may change. */
  nodeAt(number: number): ModelNode {
    const node = this.world.nodes[number];
    if (!node) throw new Error(`there is no node ${number}`);
    if (this.#copied.has(number)) return node;
    this.#copied.add(number);
    const copy = copyNode(node);
    this.world.nodes[number] = copy;
    return copy;
  }

  now(number: number): Moment {
    const mono = (this.nodeAt(number).late ? DEADLINE_MS + 1 : 0) + (this.idle ? IDLE_MS : 0);
    return { mono, wall: mono };
  }

  dispatch(number: number, event: LedgerEvent): void {
    const node = this.nodeAt(number);
    for (const effect of this.rules.applyEvent(node.ledger, event, this.now(number)))
      this.#perform(number, effect);
    resetTimes(node.ledger);
  }

  send(message: string): void {
    if (this.world.messages.includes(message)) return;
    this.world.messages.push(message);
    this.world.messages.sort();
  }

  request(number: number): ModelRequest {
    const request = this.world.requests[number];
    if (!request) throw new Error(`there is no request ${number}`);
    return request;
  }

  start(number: number, node: number): void {
    Object.assign(this.request(number), { phase: 'waiting', node });
    this.dispatch(node, { type: 'HOLD', waiter: number, walletId: WALLET, keyId: null, price: 1n });
    const request = this.request(number);
    if (this.rules.commits === 'at-start' && request.phase === 'held') this.#append(number);
  }

  fail(number: number): void {
    const request = this.request(number);
    request.phase = 'failed';
    if (request.seen === 'nothing') request.seen = 'error';
    this.dispatch(request.node, { type: 'RELEASE', leaseId: request.leaseId, price: 1n });
  }

  /** Checks the lease right before the charge is written; fails the request if it has expired. */
  check(number: number, left: boolean): void {
    const request = this.request(number);
    const node = this.nodeAt(request.node);
    if (!this.rules.isLeaseChargeable(node.ledger, request.leaseId, this.now(request.node)))
      return this.fail(number);
    const lease = this.world.leases.find(({ id }) => id === request.leaseId);
    if (lease?.state !== 'open')
      this.world.violation = `a charge is about to be written for ${request.leaseId}, which is not open`;
    request.left = left;
    request.phase = 'checked';
  }

  write(number: number): void {
    const request = this.request(number);
    this.#append(number);
    this.dispatch(request.node, { type: 'COMMITTED', leaseId: request.leaseId, price: 1n });
    request.phase = request.left || request.phase === 'sent' ? 'done' : 'committed';
  }

  /** Writes the queued records to the disk. */
  flush(number: number): void {
    const node = this.nodeAt(number);
    for (const record of node.queuedRecords.splice(0)) this.#applyRecord(node, record);
  }

  crash(number: number, diskLost: boolean): void {
    const node = this.nodeAt(number);
    node.up = false;
    node.queuedRecords = [];
    for (const request of this.world.requests) if (request.node === number) crashRequest(request);
    for (const lease of this.world.leases) if (lease.node === number) lease.recallDelivered = false;
    if (!diskLost) return;
    this.world.lost.push(...node.charges.map(([request]) => request));
    node.lives += 1;
    node.charges = [];
    node.journal = emptyJournalState(`j${number}/${node.lives}`);
  }

  restart(number: number): void {
    const node = this.nodeAt(number);
    node.up = true;
    node.ledger = this.rules.initialLedgerState(node.journal);
    node.registered = node.journal.journalId;
    this.dispatch(number, { type: 'TICK' });
  }

  /** Sends the oldest unsettled charge. */
  report(number: number): void {
    const node = this.nodeAt(number);
    const next = node.charges[node.journal.settledSeq];
    if (next) this.send(`settle ${number} ${next[0]} ${next[1]}`);
  }

  /** Applies the answer to a settlement on the node. */
  settled(number: number, leaseId: string): void {
    const node = this.nodeAt(number);
    const leases = [{ leaseId, count: 1, rejected: 0, rejectedSum: '0' }];
    this.flush(number);
    this.#applyRecord(node, { type: 'settled', seq: node.journal.settledSeq + 1, leases });
    this.dispatch(number, { type: 'SETTLED', leases });
  }

  #append(number: number): void {
    const { node: at, leaseId } = this.request(number);
    const node = this.nodeAt(at);
    this.flush(at);
    this.#applyRecord(node, chargeOf(`r${number}`, 1n, { leaseId, seq: node.journal.nextSeq }));
    node.charges.push([number, leaseId]);
  }

  #applyRecord(node: ModelNode, record: JournalRecord): void {
    try {
      applyRecord(node.journal, record);
    } catch (error) {
      this.world.violation = error instanceof Error ? error.message : 'the journal refused a record';
    }
  }

  #perform(number: number, effect: LedgerEffect): void {
    const node = this.nodeAt(number);
    switch (effect.type) {
      case 'HELD':
        Object.assign(this.request(effect.waiter), { phase: 'held', leaseId: effect.leaseId });
        break;
      case 'REFUSE':
        Object.assign(this.request(effect.waiter), { phase: 'failed', seen: 'error' });
        break;
      case 'WRITE':
        node.queuedRecords.push(effect.record);
        break;
      case 'REQUEST': {
        const { no, want, need, waiting } = effect.request;
        this.flush(number);
        if (effect.isNew) {
          this.#applyRecord(node, {
            type: 'requested',
            no,
            walletId: WALLET,
            keyId: null,
            want: String(want),
            need: String(need),
          });
        }
        this.send(`ask ${number} ${node.journal.journalId} ${no} ${need} ${want} ${waiting}`);
        break;
      }
      case 'CLOSE':
        this.send(`close ${number} ${node.journal.journalId} ${effect.leaseId} ${effect.count}`);
        break;
      // Delays are not modelled: a waiting message may be sent again at any time.
      case 'SETTLE':
      case 'RETRY':
        break;
    }
  }
}

function crashRequest(request: ModelRequest): void {
  if (['waiting', 'held', 'checked'].includes(request.phase)) request.phase = 'failed';
  if (['committed', 'sent'].includes(request.phase)) request.phase = 'done';
}

/**
 * Resets times and counters that only pace the node: any wait may end at any moment, so states that differ
 * only in them are equal.
 */
function resetTimes(ledger: LedgerState): void {
  ledger.lastAnswerAt = null;
  ledger.lastUnansweredAt = null;
  for (const budget of ledger.budgets.values()) {
    Object.assign(budget, {
      requestAfter: 0,
      renewAfter: 0,
      conflicts: 0,
      grantHadSurplus: false,
      lastPrice: 0n,
      lastHoldAt: 0,
      minute: 0,
      spentThisMinute: 0n,
      spentLastMinute: 0n,
    });
  }
  for (const lease of ledger.leases.values())
    Object.assign(lease, { closeAfter: 0, closeAttempts: 0, deadlineMs: DEADLINE_MS });
  for (const unknown of ledger.unknownRecalls.values())
    Object.assign(unknown, { closeAfter: 0, closeAttempts: 0 });
  for (const request of ledger.requests.values()) Object.assign(request, { attempts: 0 });
}
