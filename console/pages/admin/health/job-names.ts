/** Names of background jobs, as the service reports them. */

/** The jobs that have translated names. Unknown jobs are shown by their reported name. */
export const JOBS = [
  'leases',
  'ledger',
  'pools',
  'payments',
  'chains',
  'payment balances',
  'low balances',
  'retirement of models',
  'unrevealed keys',
  'tombstones',
  'claims',
  'repeats',
  'accounts',
  'permits',
  'personal intelligence',
  'expired items',
  'sealing of chats',
  'keys of closed accounts',
  'upstream probes',
  'secret key',
  'figures',
  'budgets',
  'usage months',
] as const;
