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
    mutate: ['data-plane/ledger/{journal,write-watch}.ts'],
    tests: [
      'data-plane/ledger/{journal-files,journal,hanging-disk}.test.ts',
      'data-plane/ledger/open-ledger.test.ts',
    ],
    database: false,
  },
  /** The bytes of the journal, and how they are read back. */
  files: {
    mutate: ['data-plane/ledger/{frames,lines,pages,replay,unsettled}.ts'],
    tests: ['data-plane/ledger/{frames,pages}.test.ts', 'data-plane/ledger/{journal-files,journal}.test.ts'],
    database: false,
  },
  /** How a node reports what it charged, and what a hold is. */
  settle: {
    mutate: ['data-plane/ledger/{settle,holds,lease-calls,turns}.ts'],
    tests: ['data-plane/ledger/{settle,holds,lease-calls,turns}.test.ts'],
    database: false,
  },
  /** What a charge says on the disk and on the wire, and how a report is sent. */
  texts: {
    mutate: ['shared/{usage-report,time-texts}.ts', 'data-plane/report-usage.ts'],
    tests: [
      'shared/shared.test.ts',
      'data-plane/report-usage.test.ts',
      'data-plane/ledger/{tried,settle,pages}.test.ts',
    ],
    database: false,
  },
  /** The ledger of a node put together, what keeps a second process out of it, and its files. */
  node: {
    mutate: ['data-plane/ledger/{open-ledger,lease-desk,lock,disk}.ts'],
    tests: [
      'data-plane/ledger/{lease-desk,ledger-trouble,ledger-ends,hanging-disk}.test.ts',
      'data-plane/ledger/open-ledger.test.ts',
      'data-plane/ledger/{journal-files,journal}.test.ts',
      'data-plane/ledger/parked-charge.test.ts',
    ],
    database: false,
  },
  /** What one request of a customer costs, when it is charged, and what stands in its way. */
  bill: {
    mutate: ['data-plane/{bill,claim,cut}.ts'],
    tests: ['data-plane/{bill,claim,cut}.test.ts', 'data-plane/{leaving,request-path}.test.ts'],
    database: false,
  },
  /** The one place where price × ratio is computed for nodes. */
  prices: {
    mutate: ['control-plane/catalog/model.record.ts'],
    tests: ['control-plane/catalog/catalog.test.ts'],
    database: true,
  },
  /** The posting of entries: what comes in, goes out, is owed and is changed by hand. */
  posting: {
    mutate: ['control-plane/wallet/{ledger,movements,wallet.service,account.record}.ts'],
    tests: ['control-plane/wallet/{movements,ledger,owed}.test.ts'],
    database: true,
  },
  /** What watches over the ledger. */
  check: {
    mutate: ['control-plane/wallet/{invariants,check-ledger,scheduled-check}.ts'],
    tests: ['control-plane/wallet/{invariants,ledger,scheduled-check}.test.ts'],
    database: true,
  },
  /** What becomes of leases and charges when the database is an older one. */
  restore: {
    mutate: ['control-plane/wallet/after-restore.ts'],
    tests: ['control-plane/wallet/after-restore.test.ts'],
    database: true,
  },
  /** What becomes void of a gift, in the wallet and in leases. */
  gifts: {
    mutate: ['control-plane/wallet/gift.void.ts'],
    tests: ['control-plane/wallet/gift.void.test.ts'],
    database: true,
  },
  /** The rows of leases, of the usage log and of charges. */
  rows: {
    mutate: ['control-plane/wallet/lease.rows.ts', 'control-plane/usage/usage.rows.ts'],
    tests: [
      'control-plane/usage/{settlement,usage.rows}.test.ts',
      'control-plane/wallet/{owed,lease}.test.ts',
      'control-plane/usage/{late,attempts}.test.ts',
    ],
    database: true,
  },
  /** Which process is a node and what it is told, and the Idempotency-Keys that processes claim and leave. */
  processes: {
    mutate: [
      'control-plane/nodes/{start.rules,start.service,contact.service,recalls}.ts',
      'control-plane/usage/claim.service.ts',
    ],
    // Last what plays long histories: twelve seconds for what nothing else has noticed.
    tests: [
      'control-plane/nodes/{recalls,start.words}.test.ts',
      'control-plane/usage/{claim,late}.test.ts',
      'control-plane/nodes/start.test.ts',
    ],
    database: true,
  },
  /** Leases and settlement in PostgreSQL. */
  database: {
    mutate: [
      'control-plane/watch.ts',
      'control-plane/wallet/{lease.service,lease.end,lease.recall,lease.refusals}.ts',
      'control-plane/usage/{settlement.service,admission.service,late.service}.ts',
    ],
    // Without interleaving.test.ts: ten seconds for each error, and longer than any test may take here.
    tests: [
      'control-plane/watch.test.ts',
      'control-plane/usage/{late,missing-months}.test.ts',
      'control-plane/wallet/{lease,lease-words,lease.refusals,owed}.test.ts',
      'control-plane/usage/settlement.test.ts',
    ],
    database: true,
  },
};
