/**
 * The model check as a command: `npm run model -- [states]`. Visits the states of small worlds under the
 * production rules, then those of each mutant. Exits with 1 if a production rule is violated or a mutant is
 * not detected.
 */
import { explore } from './explore.ts';
import type { Exploration } from './explore.ts';
import { MUTANTS } from './mutants.ts';
import { PRODUCTION } from './world.ts';
import type { Bounds } from './state.ts';

export const SMALL: Bounds = {
  nodes: 2,
  requests: 2,
  total: 2,
  chunk: 1,
  leases: 2,
  crashes: 0,
  diskLosses: 0,
  reclaims: 0,
};
/** The faults that are tried with the production rules, each in a separate world. */
export const WORLDS: Record<string, Bounds> = {
  'a crash': { ...SMALL, crashes: 1 },
  'a lost disk': { ...SMALL, total: 1, requests: 2, diskLosses: 1 },
  'a lease past its deadline': { ...SMALL, nodes: 1, reclaims: 1 },
  'a control plane of an earlier release': { ...SMALL, nodes: 1, crashes: 1, earlierControl: true },
  'a crash, a lost disk and a lease past its deadline': {
    ...SMALL,
    nodes: 1,
    requests: 1,
    total: 1,
    crashes: 1,
    diskLosses: 1,
    reclaims: 1,
  },
};

const MUTANT_STATES = 60_000;
const QUIESCENCE_EVERY = 7;

if (process.argv[1] === import.meta.filename) main(Number(process.argv[2] ?? 300_000));

function main(states: number): void {
  let failed = false;
  for (const [name, bounds] of Object.entries(WORLDS)) {
    const result = explore({ bounds, rules: PRODUCTION, limit: states, quiescenceEvery: QUIESCENCE_EVERY });
    failed ||= result.violation !== undefined;
    printResult(name, result);
  }
  for (const [name, { rules, bounds }] of Object.entries(MUTANTS)) {
    const result = explore({
      bounds: { ...SMALL, ...bounds },
      rules,
      limit: MUTANT_STATES,
      quiescenceEvery: 3,
    });
    failed ||= result.violation === undefined;
    printResult(`mutant: ${name}`, result);
  }
  process.exitCode = failed ? 1 : 0;
}

function printResult(name: string, { states, transitions, exhausted, violation }: Exploration): void {
  const verdict = violation ? `${violation.what}\n    ${violation.trace.join(' ; ')}` : 'no violation';
  const extent = exhausted ? 'all states' : 'not all states';
  process.stdout.write(`${name}: ${states} states, ${transitions} transitions, ${extent}; ${verdict}\n`);
}
