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
  /** What a node promises on its disk, and how it reports it. */
  journal: {
    mutate: ['data-plane/ledger/{journal,frames,lines,replay,unsettled,settle,holds}.ts'],
    tests: ['data-plane/ledger/{journal,open-ledger,parked-charge}.test.ts'],
    database: false,
  },
  /** Leases, settlement and claims in PostgreSQL. */
  database: {
    mutate: [
      'control-plane/wallet/{lease.service,lease.end,lease.recall}.ts',
      'control-plane/usage/{settlement.service,late.service,claim.service}.ts',
    ],
    tests: ['control-plane/wallet/lease.test.ts', 'control-plane/usage/{settlement,claim}.test.ts'],
    database: true,
  },
};
