/** The work beside requests, as the service calls it. */

/** The jobs that have words; one of a later release is called as the service calls it. */
export const JOBS = [
  'leases',
  'ledger',
  'pools',
  'low balances',
  'retirement of models',
  'unrevealed keys',
  'tombstones',
  'claims',
  'repeats',
  'accounts',
  'permits',
  'budgets',
  'usage months',
] as const;
