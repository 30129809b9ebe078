/**
 * A small world for the model check: clients, nodes that run the production money rules and book, and a
 * control plane. Messages are never taken away, which covers loss, delay, reordering and duplication.
 */
import { emptyBook, enter } from '../../data-plane/ledger/book.ts';
import type { JournalRecord } from '../../data-plane/ledger/book.ts';
import type { LedgerEffect, LedgerEvent } from '../../data-plane/ledger/events.ts';
import { mayCommit, step } from '../../data-plane/ledger/leases.ts';
import { beginWith } from '../../data-plane/ledger/state.ts';
import type { LedgerState, Moment } from '../../data-plane/ledger/state.ts';
import { chargeOf } from '../../data-plane/ledger/model/records.ts';
import { copyNode } from './state.ts';
import type { ModelNode, ModelRequest, World, Bounds } from './state.ts';

/** The rules under test; mutants replace some of them. */
export interface Rules {
  step: typeof step;
  mayCommit: typeof mayCommit;
  beginWith: typeof beginWith;
  /** The control plane counts a request id once. */
  dedupes: boolean;
  closesExactly: boolean;
  checksJournal: boolean;
  reclaimsAfterDeadline: boolean;
  guardsBalance: boolean;
  /** The control plane tells of a recall again until the lease is back. */
  retells: boolean;
  /** … and gives no lease to a question that it refused, or of a journal that another one has followed. */
  remembersRefusals: boolean;
  /** The journal comes before the last byte, and only after success. */
  commits: 'before-last-byte' | 'after-last-byte' | 'at-start';
}

export const PRODUCTION: Rules = {
  step,
  mayCommit,
  beginWith,
  dedupes: true,
  closesExactly: true,
  checksJournal: true,
  reclaimsAfterDeadline: true,
  guardsBalance: true,
  retells: true,
  remembersRefusals: true,
  commits: 'before-last-byte',
};

/** Nobody has used a wallet for so long that its leases go back. */
const IDLE_MS = 60_000;
/** How long leases last without a word from the control plane. */
export const DEADLINE_MS = 2 * IDLE_MS;
const WALLET = 'w';

/**
 * The world and the rules it is moved by. Every method changes the world in place; of its nodes, which other
 * worlds may share, a copy is made before the first change.
 */
export class Mover {
  readonly world: World;
  readonly rules: Rules;
  readonly bounds: Bounds;
  /** Whether clients have been away for long. */
  idle = false;
  readonly #own = new Set<number>();

  constructor(world: World, rules: Rules, bounds: Bounds) {
    this.world = world;
    this.rules = rules;
    this.bounds = bounds;
  }

  /** Whether the control plane does so, which those of earlier releases do not. */
  get retells(): boolean {
    return this.rules.retells && this.bounds.formerControl !== true;
  }
  get remembersRefusals(): boolean {
    return this.rules.remembersRefusals && this.bounds.formerControl !== true;
  }

  at(number: number): ModelNode {
    const node = this.world.nodes[number];
    if (!node) throw new Error(`no node ${number}`);
    if (this.#own.has(number)) return node;
    this.#own.add(number);
    const copy = copyNode(node);
    this.world.nodes[number] = copy;
    return copy;
  }

  now(number: number): Moment {
    const mono = (this.at(number).late ? DEADLINE_MS + 1 : 0) + (this.idle ? IDLE_MS : 0);
    return { mono, wall: mono };
  }

  tell(number: number, event: LedgerEvent): void {
    const node = this.at(number);
    for (const effect of this.rules.step(node.ledger, event, this.now(number))) this.#perform(number, effect);
    forgetTimes(node.ledger);
  }

  send(message: string): void {
    if (this.world.messages.includes(message)) return;
    this.world.messages.push(message);
    this.world.messages.sort();
  }

  request(number: number): ModelRequest {
    const request = this.world.requests[number];
    if (!request) throw new Error(`no request ${number}`);
    return request;
  }

  start(number: number, node: number): void {
    Object.assign(this.request(number), { phase: 'waiting', node });
    this.tell(node, { type: 'HOLD', waiter: number, walletId: WALLET, keyId: null, price: 1n });
    const request = this.request(number);
    if (this.rules.commits === 'at-start' && request.phase === 'held') this.#append(number);
  }

  fail(number: number): void {
    const request = this.request(number);
    request.phase = 'failed';
    if (request.seen === 'nothing') request.seen = 'error';
    this.tell(request.node, { type: 'RELEASE', leaseId: request.leaseId, price: 1n });
  }

  /** The check right before the journal write. */
  check(number: number, left: boolean): void {
    const request = this.request(number);
    const node = this.at(request.node);
    if (!this.rules.mayCommit(node.ledger, request.leaseId, this.now(request.node))) return this.fail(number);
    const lease = this.world.leases.find(({ id }) => id === request.leaseId);
    if (lease?.state !== 'open')
      this.world.bad = `a charge is about to be made in ${request.leaseId}, which has ended`;
    request.left = left;
    request.phase = 'checked';
  }

  write(number: number): void {
    const request = this.request(number);
    this.#append(number);
    this.tell(request.node, { type: 'COMMITTED', leaseId: request.leaseId, price: 1n });
    request.phase = request.left || request.phase === 'sent' ? 'done' : 'committed';
  }

  /** Writes what was noted to the disk. */
  flush(number: number): void {
    const node = this.at(number);
    for (const record of node.noted.splice(0)) this.#enter(node, record);
  }

  crash(number: number, diskLost: boolean): void {
    const node = this.at(number);
    node.up = false;
    node.noted = [];
    for (const request of this.world.requests) if (request.node === number) crashRequest(request);
    for (const lease of this.world.leases) if (lease.node === number) lease.heard = false;
    if (!diskLost) return;
    this.world.lost.push(...node.charges.map(([request]) => request));
    node.lives += 1;
    node.charges = [];
    node.book = emptyBook(`j${number}/${node.lives}`);
  }

  restart(number: number): void {
    const node = this.at(number);
    node.up = true;
    node.ledger = this.rules.beginWith(node.book);
    node.registered = node.book.journalId;
    this.tell(number, { type: 'TICK' });
  }

  /** The oldest charge that is not settled yet, as a message. */
  report(number: number): void {
    const node = this.at(number);
    const next = node.charges[node.book.settledSeq];
    if (next) this.send(`settle ${number} ${next[0]} ${next[1]}`);
  }

  /** The control plane's answer to a settlement reaches the node. */
  settled(number: number, leaseId: string): void {
    const node = this.at(number);
    const leases = [{ leaseId, count: 1, rejected: 0, rejectedSum: '0' }];
    this.flush(number);
    this.#enter(node, { type: 'settled', seq: node.book.settledSeq + 1, leases });
    this.tell(number, { type: 'SETTLED', leases });
  }

  #append(number: number): void {
    const { node: at, leaseId } = this.request(number);
    const node = this.at(at);
    this.flush(at);
    this.#enter(node, chargeOf(`r${number}`, 1n, { leaseId, seq: node.book.nextSeq }));
    node.charges.push([number, leaseId]);
  }

  #enter(node: ModelNode, record: JournalRecord): void {
    try {
      enter(node.book, record);
    } catch (error) {
      this.world.bad = error instanceof Error ? error.message : 'the book refused a record';
    }
  }

  #perform(number: number, effect: LedgerEffect): void {
    const node = this.at(number);
    switch (effect.type) {
      case 'HELD':
        Object.assign(this.request(effect.waiter), { phase: 'held', leaseId: effect.leaseId });
        break;
      case 'REFUSE':
        Object.assign(this.request(effect.waiter), { phase: 'failed', seen: 'error' });
        break;
      case 'WRITE':
        node.noted.push(effect.record);
        break;
      case 'REQUEST': {
        const { no, want, need, waiting } = effect.request;
        this.flush(number);
        if (effect.fresh) {
          this.#enter(node, {
            type: 'requested',
            no,
            walletId: WALLET,
            keyId: null,
            want: String(want),
            need: String(need),
          });
        }
        this.send(`ask ${number} ${node.book.journalId} ${no} ${need} ${want} ${waiting}`);
        break;
      }
      case 'CLOSE':
        this.send(`close ${number} ${node.book.journalId} ${effect.leaseId} ${effect.count}`);
        break;
      // Waiting is left out: whatever waits may be asked again at any time.
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
 * Times and counters that only pace the node: any wait may end at any moment, so states that differ in them
 * are one.
 */
function forgetTimes(ledger: LedgerState): void {
  ledger.heardAt = null;
  ledger.unheardAt = null;
  for (const purse of ledger.purses.values()) {
    Object.assign(purse, {
      askAfter: 0,
      renewAfter: 0,
      conflicts: 0,
      roomy: false,
      lastPrice: 0n,
      lastHoldAt: 0,
      minute: 0,
      spentNow: 0n,
      spentBefore: 0n,
    });
  }
  for (const lease of ledger.leases.values())
    Object.assign(lease, { closeAfter: 0, closeAttempts: 0, deadlineMs: DEADLINE_MS });
  for (const unknown of ledger.recalled.values()) Object.assign(unknown, { closeAfter: 0, closeAttempts: 0 });
  for (const request of ledger.requests.values()) Object.assign(request, { attempts: 0 });
}
