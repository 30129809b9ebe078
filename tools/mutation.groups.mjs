/**
 * What is mutated, and which tests have to notice. Small groups with the tests that are about them: else each
 * mutant would wait for tests that merely pass through.
 */
export const GROUPS = {
  /** Decisions without effects: whom to give how much, what counts, what may end. */
  rules: {
    mutate: [
      'shared/money.ts',
      'data-plane/ledger/{leases,asking,closing,state,events,book}.ts',
      'control-plane/wallet/lease.rules.ts',
      'control-plane/usage/{settlement,claim}.rules.ts',
    ],
    tests: [
      'shared/shared.test.ts',
      'data-plane/ledger/{asking,closing,book}.test.ts',
      'control-plane/{wallet,usage}/*.rules.test.ts',
    ],
    database: false,
  },
  /** What a node promises on its disk. */
  journal: {
    mutate: ['data-plane/ledger/journal.ts'],
    tests: ['data-plane/ledger/{journal-files,journal}.test.ts', 'data-plane/ledger/open-ledger.test.ts'],
    database: false,
  },
  /** The bytes of the journal, and how they are read back. */
  files: {
    mutate: ['data-plane/ledger/{frames,lines,replay,unsettled}.ts'],
    tests: ['data-plane/ledger/frames.test.ts', 'data-plane/ledger/{journal-files,journal}.test.ts'],
    database: false,
  },
  /** How a node reports what it charged, and what a hold is. */
  settle: {
    mutate: ['data-plane/ledger/{settle,holds}.ts'],
    tests: ['data-plane/ledger/{settle,holds}.test.ts'],
    database: false,
  },
  /** Leases, settlement and claims in PostgreSQL. */
  database: {
    mutate: [
      'control-plane/wallet/{lease.service,lease.end,lease.recall}.ts',
      'control-plane/usage/{settlement.service,late.service,claim.service}.ts',
    ],
    // Without interleaving.test.ts: ten seconds for each error, and longer than any test may take here.
    tests: [
      'control-plane/usage/{claim,late}.test.ts',
      'control-plane/wallet/{lease,lease-words,owed}.test.ts',
      'control-plane/usage/settlement.test.ts',
    ],
    database: true,
  },
};
