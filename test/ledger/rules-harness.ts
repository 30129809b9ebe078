/** Drives the money rules of one node in tests: events go in at chosen moments, effects come out. */
import type { Micros } from '@gateway/shared/money';
import { emptyJournalState } from '../../data-plane/ledger/journal-state.ts';
import type { JournalState } from '../../data-plane/ledger/journal-state.ts';
import type { LedgerEffect, LedgerEvent } from '../../data-plane/ledger/events.ts';
import { isLeaseChargeable, applyEvent } from '../../data-plane/ledger/leases.ts';
import { initialLedgerState } from '../../data-plane/ledger/state.ts';
import type { Lease, LedgerState, WalletBudget } from '../../data-plane/ledger/state.ts';

export const PRICE = 100n;
export const WALLET = 'wallet_a';
export const DEADLINE_MS = 1_000_000;

/** The money rules of one node. Both of its clocks show `time`, in ms. */
export class RulesHarness {
  readonly state: LedgerState;
  time = 1_000;

  constructor(journal: JournalState = emptyJournalState('journal_1')) {
    this.state = initialLedgerState(journal);
  }

  dispatch(event: LedgerEvent): LedgerEffect[] {
    return applyEvent(this.state, event, { mono: this.time, wall: this.time });
  }

  hold(waiter: number, price: Micros = PRICE, keyId: string | null = null): LedgerEffect[] {
    return this.dispatch({ type: 'HOLD', waiter, walletId: WALLET, keyId, price });
  }

  grant(no: number, amount: Micros, leaseId = `lease_${no}`): LedgerEffect[] {
    return this.dispatch({ type: 'GRANTED', no, leaseId, amount, deadlineMs: DEADLINE_MS });
  }

  commit(leaseId: string, price: Micros = PRICE): LedgerEffect[] {
    return this.dispatch({ type: 'COMMITTED', leaseId, price });
  }

  release(leaseId: string, price: Micros = PRICE): LedgerEffect[] {
    return this.dispatch({ type: 'RELEASE', leaseId, price });
  }

  settle(leaseId: string, count: number, rejected = 0): LedgerEffect[] {
    const rejectedSum = String(BigInt(rejected) * PRICE);
    return this.dispatch({ type: 'SETTLED', leases: [{ leaseId, count, rejected, rejectedSum }] });
  }

  isChargeable(leaseId: string, now = { mono: this.time, wall: this.time }): boolean {
    return isLeaseChargeable(this.state, leaseId, now);
  }

  /** Throws if there is no such lease. */
  lease(id: string): Lease {
    const lease = this.state.leases.get(id);
    if (!lease) throw new Error(`there is no ${id}`);
    return lease;
  }

  /** The budget of the wallet. Throws if no request has used it. */
  get budget(): WalletBudget {
    const budget = this.state.budgets.get(WALLET);
    if (!budget) throw new Error(`there is no budget of ${WALLET}`);
    return budget;
  }
}

/** The types of effects, in order. */
export const typesOf = (effects: readonly LedgerEffect[]): string[] => effects.map(({ type }) => type);

/** The lease request among the effects; undefined if there is none. */
export function requestIn(effects: readonly LedgerEffect[]) {
  return effects.find((effect) => effect.type === 'REQUEST');
}

/** The refused requests and their codes. */
export function refusedIn(effects: readonly LedgerEffect[]): [waiter: number, code: string][] {
  return effects.flatMap((effect) => (effect.type === 'REFUSE' ? [[effect.waiter, effect.code]] : []));
}

/** The requests that got a hold. */
export function heldIn(effects: readonly LedgerEffect[]): number[] {
  return effects.flatMap((effect) => (effect.type === 'HELD' ? [effect.waiter] : []));
}
