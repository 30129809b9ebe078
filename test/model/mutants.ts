/** Rules with one error each. The model check must detect every one of them. */
import type { LedgerEffect } from '../../data-plane/ledger/events.ts';
import type { LedgerState } from '../../data-plane/ledger/state.ts';
import { DEADLINE_MS, PRODUCTION } from './world.ts';
import type { Bounds } from './state.ts';
import type { Rules } from './world.ts';

/** Rules with an error, and the bounds within which it must be detected. */
interface Mutant {
  rules: Rules;
  bounds: Partial<Bounds>;
}

type After = (state: LedgerState, effects: LedgerEffect[]) => LedgerEffect[];

/** The production rules, with their effects changed by `after`. */
function applyEventThen(after: After): Pick<Rules, 'applyEvent'> {
  return { applyEvent: (state, event, now) => after(state, PRODUCTION.applyEvent(state, event, now)) };
}

function mutant(wrong: Partial<Rules>, bounds: Partial<Bounds> = {}): Mutant {
  return { rules: { ...PRODUCTION, ...wrong }, bounds };
}

/** Bounds for errors that need a fault, but only one node. */
const ONE_NODE: Partial<Bounds> = { nodes: 1, requests: 1, total: 1 };

export const MUTANTS: Record<string, Mutant> = {
  'a duplicate settlement counts twice': mutant({ dedupes: false }),
  'the journal is written after the last byte': mutant(
    { commits: 'after-last-byte' },
    { ...ONE_NODE, crashes: 1 },
  ),
  'the journal is written before success': mutant({ commits: 'at-start' }),
  'a lease closes without the exact count, before its charges are settled': mutant(
    {
      closesExactly: false,
      ...applyEventThen((state, effects) => {
        const closes = [...state.leases.values()].filter(
          (lease) => lease.draining && lease.holds === 0 && !lease.closeInFlight,
        );
        return [
          ...effects,
          ...closes.map(({ id }) => ({ type: 'CLOSE' as const, leaseId: id, count: 0, sum: 0n })),
        ];
      }),
    },
    { ...ONE_NODE, requests: 2, total: 1 },
  ),
  'a lease is reclaimed before its deadline': mutant(
    { reclaimsAfterDeadline: false },
    { ...ONE_NODE, reclaims: 1 },
  ),
  'a grant does not check the balance': mutant({ guardsBalance: false }, { total: 1, chunk: 2 }),
  'a lost disk may close leases of the old journal': mutant(
    { checksJournal: false },
    { ...ONE_NODE, requests: 2, diskLosses: 1 },
  ),
  'a restarted process spends from leases of the earlier process': mutant(
    {
      initialLedgerState: (journal) => {
        const state = PRODUCTION.initialLedgerState(journal);
        for (const lease of state.leases.values()) {
          Object.assign(lease, {
            draining: false,
            expired: false,
            deadlineMs: DEADLINE_MS,
            remaining: lease.amount,
          });
        }
        return state;
      },
    },
    { crashes: 1 },
  ),
  'a duplicate grant is applied twice': mutant({
    applyEvent: (state, event, now) => {
      const lease = event.type === 'GRANTED' ? state.leases.get(event.leaseId) : undefined;
      if (lease && event.type === 'GRANTED') lease.remaining += event.amount;
      return PRODUCTION.applyEvent(state, event, now);
    },
  }),
  'a hold does not reduce the credit of its lease': mutant(
    applyEventThen((state, effects) => {
      for (const effect of effects) {
        const lease = effect.type === 'HELD' ? state.leases.get(effect.leaseId) : undefined;
        if (lease) lease.remaining += 1n;
      }
      return effects;
    }),
  ),
  'a release returns the price twice': mutant({
    applyEvent: (state, event, now) => {
      const lease = event.type === 'RELEASE' ? state.leases.get(event.leaseId) : undefined;
      if (lease) lease.remaining += 1n;
      return PRODUCTION.applyEvent(state, event, now);
    },
  }),
  'a recalled lease is closed while it has holds': mutant(
    applyEventThen((state, effects) => {
      const closes = [...state.leases.values()].filter(
        (lease) => lease.draining && lease.holds > 0 && !lease.closeInFlight,
      );
      return [
        ...effects,
        ...closes.map(({ id, count, sum }) => ({ type: 'CLOSE' as const, leaseId: id, count, sum })),
      ];
    }),
    { ...ONE_NODE, requests: 2 },
  ),
  'the deadline is not checked at the commit': mutant(
    { isLeaseChargeable: (state, leaseId) => state.leases.has(leaseId) },
    { ...ONE_NODE, reclaims: 1 },
  ),
  'a grant is not journaled': mutant(
    applyEventThen((_, effects) =>
      effects.filter((effect) => effect.type !== 'WRITE' || effect.record.type !== 'granted'),
    ),
  ),
  'a draining lease is never closed': mutant(
    applyEventThen((_, effects) => effects.filter(({ type }) => type !== 'CLOSE')),
  ),
  'an unknown recalled lease is never closed': mutant(
    {
      applyEvent: (state, event, now) =>
        event.type === 'RECALL' && !state.leases.has(event.leaseId)
          ? []
          : PRODUCTION.applyEvent(state, event, now),
    },
    { ...ONE_NODE, requests: 2, earlierControl: true },
  ),
  'the close message of an unknown lease is sent only once': mutant(
    applyEventThen((state, effects) => {
      for (const [id, { closeInFlight }] of state.unknownRecalls)
        if (closeInFlight) state.unknownRecalls.delete(id);
      return effects;
    }),
    { ...ONE_NODE, requests: 2, earlierControl: true },
  ),
  'a recall is sent only once': mutant({ repeatsRecalls: false }, { total: 1 }),
  'a duplicate of a refused lease request gets a lease': mutant(
    { remembersRefusals: false },
    { ...ONE_NODE, requests: 2 },
  ),
};
