/** The money rules of one node at a desk: events go in at chosen moments, effects come out. For tests. */
import type { Micros } from '@gateway/shared/money';
import { emptyBook } from '../book.ts';
import type { Book } from '../book.ts';
import type { LedgerEffect, LedgerEvent } from '../events.ts';
import { mayCommit, step } from '../leases.ts';
import { beginWith } from '../state.ts';
import type { Lease, LedgerState, Purse } from '../state.ts';

export const PRICE = 100n;
export const WALLET = 'wallet_a';
export const DEADLINE_MS = 1_000_000;

/** A node whose clocks both show what is written in `time`, in ms. */
export class Desk {
  readonly state: LedgerState;
  time = 1_000;

  constructor(book: Book = emptyBook('journal_1')) {
    this.state = beginWith(book);
  }

  tell(event: LedgerEvent): LedgerEffect[] {
    return step(this.state, event, { mono: this.time, wall: this.time });
  }

  hold(waiter: number, price: Micros = PRICE, keyId: string | null = null): LedgerEffect[] {
    return this.tell({ type: 'HOLD', waiter, walletId: WALLET, keyId, price });
  }

  grant(no: number, amount: Micros, leaseId = `lease_${no}`): LedgerEffect[] {
    return this.tell({ type: 'GRANTED', no, leaseId, amount, deadlineMs: DEADLINE_MS });
  }

  commit(leaseId: string, price: Micros = PRICE): LedgerEffect[] {
    return this.tell({ type: 'COMMITTED', leaseId, price });
  }

  release(leaseId: string, price: Micros = PRICE): LedgerEffect[] {
    return this.tell({ type: 'RELEASE', leaseId, price });
  }

  settle(leaseId: string, count: number, rejected = 0): LedgerEffect[] {
    const rejectedSum = String(BigInt(rejected) * PRICE);
    return this.tell({ type: 'SETTLED', leases: [{ leaseId, count, rejected, rejectedSum }] });
  }

  mayCommit(leaseId: string, now = { mono: this.time, wall: this.time }): boolean {
    return mayCommit(this.state, leaseId, now);
  }

  /** Throws when there is none. */
  lease(id: string): Lease {
    const lease = this.state.leases.get(id);
    if (!lease) throw new Error(`there is no ${id}`);
    return lease;
  }

  /** The wallet's purse. Throws when there is none. */
  get purse(): Purse {
    const purse = this.state.purses.get(WALLET);
    if (!purse) throw new Error('nobody asked for money');
    return purse;
  }
}

/** The types of effects, in order. */
export const typesOf = (effects: readonly LedgerEffect[]): string[] => effects.map(({ type }) => type);

/** The question among the effects. */
export function questionOf(effects: readonly LedgerEffect[]) {
  return effects.find((effect) => effect.type === 'REQUEST');
}

/** Who was refused, and how. */
export function refusedIn(effects: readonly LedgerEffect[]): [waiter: number, code: string][] {
  return effects.flatMap((effect) => (effect.type === 'REFUSE' ? [[effect.waiter, effect.code]] : []));
}

/** Who got money. */
export function heldIn(effects: readonly LedgerEffect[]): number[] {
  return effects.flatMap((effect) => (effect.type === 'HELD' ? [effect.waiter] : []));
}
