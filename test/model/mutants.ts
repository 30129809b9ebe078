/** Rules with one error each. A check that does not find every one of them proves nothing. */
import type { LedgerEffect } from '../../data-plane/ledger/events.ts';
import type { LedgerState } from '../../data-plane/ledger/state.ts';
import { DEADLINE_MS, PRODUCTION } from './world.ts';
import type { Bounds } from './state.ts';
import type { Rules } from './world.ts';

/** A wrong rule, and bounds within which it must be found. */
export interface Mutant {
  rules: Rules;
  bounds: Partial<Bounds>;
}

type After = (state: LedgerState, effects: LedgerEffect[]) => LedgerEffect[];

/** The production step, with something done wrong behind it. */
function stepThen(after: After): Pick<Rules, 'step'> {
  return { step: (state, event, now) => after(state, PRODUCTION.step(state, event, now)) };
}

function mutant(wrong: Partial<Rules>, bounds: Partial<Bounds> = {}): Mutant {
  return { rules: { ...PRODUCTION, ...wrong }, bounds };
}

/** Errors that need a fault, but only one node to show. */
const ONE_NODE: Partial<Bounds> = { nodes: 1, requests: 1, total: 1 };

export const MUTANTS: Record<string, Mutant> = {
  'a settlement that comes twice counts twice': mutant({ dedupes: false }),
  'the journal is written after the last byte': mutant(
    { commits: 'after-last-byte' },
    { ...ONE_NODE, crashes: 1 },
  ),
  'the journal is written before success': mutant({ commits: 'at-start' }),
  'a lease closes without the exact count, before its charges are settled': mutant(
    {
      closesExactly: false,
      ...stepThen((state, effects) => {
        const closes = [...state.leases.values()].filter(
          (lease) => lease.draining && lease.holds === 0 && !lease.closing,
        );
        return [
          ...effects,
          ...closes.map(({ id }) => ({ type: 'CLOSE' as const, leaseId: id, count: 0, sum: 0n })),
        ];
      }),
    },
    { ...ONE_NODE, requests: 2, total: 1 },
  ),
  'a lease is taken back before the deadline of its node': mutant(
    { reclaimsAfterDeadline: false },
    { ...ONE_NODE, reclaims: 1 },
  ),
  'a grant is not guarded by the balance': mutant({ guardsBalance: false }, { total: 1, chunk: 2 }),
  'a lost disk may close leases of the old journal': mutant(
    { checksJournal: false },
    { ...ONE_NODE, requests: 2, diskLosses: 1 },
  ),
  'a restarted process spends from leases of its former life': mutant(
    {
      beginWith: (book) => {
        const state = PRODUCTION.beginWith(book);
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
  'a grant is applied again when it arrives again': mutant({
    step: (state, event, now) => {
      const lease = event.type === 'GRANTED' ? state.leases.get(event.leaseId) : undefined;
      if (lease && event.type === 'GRANTED') lease.remaining += event.amount;
      return PRODUCTION.step(state, event, now);
    },
  }),
  'a hold does not lessen the lease': mutant(
    stepThen((state, effects) => {
      for (const effect of effects) {
        const lease = effect.type === 'HELD' ? state.leases.get(effect.leaseId) : undefined;
        if (lease) lease.remaining += 1n;
      }
      return effects;
    }),
  ),
  'a release gives back twice': mutant({
    step: (state, event, now) => {
      const lease = event.type === 'RELEASE' ? state.leases.get(event.leaseId) : undefined;
      if (lease) lease.remaining += 1n;
      return PRODUCTION.step(state, event, now);
    },
  }),
  'a recalled lease closes under its holds': mutant(
    stepThen((state, effects) => {
      const closes = [...state.leases.values()].filter(
        (lease) => lease.draining && lease.holds > 0 && !lease.closing,
      );
      return [
        ...effects,
        ...closes.map(({ id, count, sum }) => ({ type: 'CLOSE' as const, leaseId: id, count, sum })),
      ];
    }),
    { ...ONE_NODE, requests: 2 },
  ),
  'the deadline is not asked again at the commit': mutant(
    { mayCommit: (state, leaseId) => state.leases.has(leaseId) },
    { ...ONE_NODE, reclaims: 1 },
  ),
  'a grant is not written down': mutant(
    stepThen((_, effects) =>
      effects.filter((effect) => effect.type !== 'WRITE' || effect.record.type !== 'granted'),
    ),
  ),
  'a draining lease is never closed': mutant(
    stepThen((_, effects) => effects.filter(({ type }) => type !== 'CLOSE')),
  ),
  'a lease that came while nobody asked is kept for ever': mutant(
    {
      step: (state, event, now) =>
        event.type === 'RECALL' && !state.leases.has(event.leaseId) ? [] : PRODUCTION.step(state, event, now),
    },
    { ...ONE_NODE, requests: 2, formerControl: true },
  ),
  'the closing of a lease that is nobody’s is ordered once': mutant(
    stepThen((state, effects) => {
      for (const [id, { closing }] of state.recalled) if (closing) state.recalled.delete(id);
      return effects;
    }),
    { ...ONE_NODE, requests: 2, formerControl: true },
  ),
  'a recall is told once': mutant({ retells: false }, { total: 1 }),
  'a question that was refused gets a lease when it comes again': mutant(
    { remembersRefusals: false },
    { ...ONE_NODE, requests: 2 },
  ),
};
