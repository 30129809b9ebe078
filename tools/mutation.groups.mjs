/**
 * The files that are mutated, and the tests that must notice the errors. Each group has only the tests about
 * its files: otherwise each mutant would wait for tests that only pass through the code.
 */
export const GROUPS = {
  /** Pure rules of the ledger on both planes: holds, leases, settlement. */
  rules: {
    mutate: [
      'shared/money.ts',
      'data-plane/ledger/{leases,requesting,closing,state,events,journal-state}.ts',
      'control-plane/wallet/lease.rules.ts',
      'control-plane/usage/{settlement,idempotency}.rules.ts',
    ],
    tests: [
      'shared/shared.test.ts',
      'data-plane/ledger/{requesting,closing,journal-state}.test.ts',
      'control-plane/{wallet,usage}/*.rules.test.ts',
    ],
    database: false,
  },
  /** Durability of the journal. */
  journal: {
    mutate: ['data-plane/ledger/{journal,write-stall}.ts'],
    tests: [
      'data-plane/ledger/{journal-trouble,journal-files,journal,hanging-disk}.test.ts',
      'data-plane/ledger/open-ledger.test.ts',
    ],
    database: false,
  },
  /** Encoding and reading of the journal's bytes. */
  files: {
    mutate: ['data-plane/ledger/{frames,lines,pages,replay,unsettled}.ts'],
    tests: ['data-plane/ledger/{frames,pages}.test.ts', 'data-plane/ledger/{journal-files,journal}.test.ts'],
    database: false,
  },
  /** Usage reports, holds and lease messages of a node. */
  settle: {
    mutate: ['data-plane/ledger/{settle,holds,lease-requests,message-queue}.ts'],
    tests: ['data-plane/ledger/{settle,holds,lease-requests,message-queue}.test.ts'],
    database: false,
  },
  /** The encoding of charges, and how reports are sent. */
  texts: {
    mutate: ['shared/{usage-report,timestamps}.ts', 'data-plane/control/report-usage.ts'],
    tests: [
      'shared/shared.test.ts',
      'data-plane/control/report-usage.test.ts',
      'data-plane/ledger/{attempts,settle,pages}.test.ts',
    ],
    database: false,
  },
  /** The whole ledger of a node, its lock and its file operations. */
  node: {
    mutate: ['data-plane/ledger/{open-ledger,lease-client,lock,disk}.ts'],
    tests: [
      'data-plane/ledger/{lease-client,ledger-trouble,ledger-ends,hanging-disk}.test.ts',
      'data-plane/ledger/open-ledger.test.ts',
      'data-plane/ledger/{journal-files,journal}.test.ts',
      'data-plane/ledger/quarantined-charge.test.ts',
    ],
    database: false,
  },
  /** The price of a request, when it is charged, and what prevents a charge. */
  bill: {
    mutate: ['data-plane/bill.ts', 'data-plane/admission/idempotency.ts', 'data-plane/call/cut.ts'],
    tests: [
      'data-plane/bill.test.ts',
      'data-plane/admission/idempotency.test.ts',
      'data-plane/call/cut.test.ts',
      'data-plane/endpoints/{disconnects,chat}.test.ts',
    ],
    database: false,
  },
  /** The one place where price × ratio is computed for nodes. */
  prices: {
    mutate: ['control-plane/catalog/model.record.ts'],
    tests: ['control-plane/catalog/catalog.test.ts'],
    database: true,
  },
  /** Posting of entries: top-ups, charges, debts and corrections. */
  posting: {
    mutate: ['control-plane/wallet/{ledger,movements,wallet.service,account.record}.ts'],
    tests: ['control-plane/wallet/{movements,ledger,debt}.test.ts'],
    database: true,
  },
  /** The checks of the ledger. */
  check: {
    mutate: ['control-plane/wallet/{invariants,check-ledger,scheduled-check}.ts'],
    tests: ['control-plane/wallet/{invariants,ledger,scheduled-check}.test.ts'],
    database: true,
  },
  /** Leases and charges after the database was restored from a backup. */
  restore: {
    mutate: ['control-plane/wallet/after-restore.ts'],
    tests: ['control-plane/wallet/after-restore.test.ts'],
    database: true,
  },
  /** Voiding of gift credit, in the wallet and in leases. */
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
      'control-plane/wallet/{debt,lease}.test.ts',
      'control-plane/usage/{settlement-effects,attempts}.test.ts',
    ],
    database: true,
  },
  /** Registration and contact of node processes, lease recalls, and idempotency records. */
  processes: {
    mutate: [
      'control-plane/nodes/{registration.rules,registration.service,contact.service,recalls}.ts',
      'control-plane/usage/idempotency.service.ts',
    ],
    // The last test takes twelve seconds, so it runs only for errors that the others missed.
    tests: [
      'control-plane/nodes/{recalls,registration.messages}.test.ts',
      'control-plane/usage/idempotency.test.ts',
      'control-plane/nodes/registration.test.ts',
    ],
    database: true,
  },
  /** Leases and settlement in PostgreSQL. */
  database: {
    mutate: [
      'control-plane/database/uptime-clock.ts',
      'control-plane/wallet/{lease.service,lease.end,lease.recall,lease.refusals}.ts',
      'control-plane/usage/{settlement.service,settlement.group,settlement.queue,admission.service,late-charge.service}.ts',
    ],
    // Without interleaving.test.ts, which takes ten seconds: longer than the time limit of these tests.
    tests: [
      'control-plane/database/uptime-clock.test.ts',
      'control-plane/usage/{settlement-effects,settlement.queue}.test.ts',
      'control-plane/usage/missing-months.proof.test.ts',
      'control-plane/wallet/{lease,lease-messages,lease.refusals,debt}.test.ts',
      'control-plane/usage/settlement.test.ts',
    ],
    database: true,
  },
  /** Pure rules of payments: the life of a top-up, what the processor says, amounts, automatic top-ups. */
  payments: {
    mutate: [
      'control-plane/payments/{topup,amount}.rules.ts',
      'control-plane/payments/card/{auto.rules,facts}.ts',
    ],
    tests: [
      'control-plane/payments/{topup,amount}.rules.test.ts',
      'control-plane/payments/card/{auto.rules,facts}.test.ts',
    ],
    database: false,
  },
  /** One top-up in PostgreSQL: its rows and movements, and refunds. */
  'payments-database': {
    mutate: ['control-plane/payments/{topup.service,topup.rows,refund.service}.ts'],
    tests: [
      'control-plane/payments/{topup,refund}.service.test.ts',
      'control-plane/payments/card/late.proof.test.ts',
      'control-plane/payments/play.proof.test.ts',
    ],
    database: true,
  },
  /** What the processor says of payments: its events, and the comparison with it. */
  'payments-processor': {
    mutate: ['control-plane/payments/card/{events.service,reconcile}.ts'],
    // Without events.permutations.test.ts, which may take longer than the time limit of these tests.
    tests: ['control-plane/payments/card/{reconcile,webhook,late.proof,checkout}.test.ts'],
    database: true,
  },
  /** Automatic top-ups. */
  'payments-automatic': {
    mutate: [
      'control-plane/payments/card/{auto.service,auto.facts,auto.payment,saved-card,forgotten-card}.ts',
    ],
    // Without auto.histories.test.ts, which may take longer than the time limit of these tests.
    tests: ['control-plane/payments/card/{auto.payment,auto.service,saved-card,late.proof}.test.ts'],
    database: true,
  },
  /** Deposits without a database: addresses, the life of a deposit, and what two RPC services say. */
  deposits: {
    mutate: [
      'control-plane/payments/crypto/{address,deposit,scan}.rules.ts',
      'control-plane/payments/crypto/{rpc.pair,transfers}.ts',
    ],
    tests: [
      'control-plane/payments/crypto/{address,deposit,scan}.rules.test.ts',
      'control-plane/payments/crypto/{rpc.pair,transfers}.test.ts',
    ],
    database: false,
  },
  /** Deposit addresses, and the keys from which they are derived. */
  'deposits-addresses': {
    mutate: ['control-plane/payments/crypto/address.service.ts'],
    tests: ['control-plane/payments/crypto/address.service.test.ts'],
    database: true,
  },
  /** Deposits in PostgreSQL and on a chain: the watcher and the credit. */
  'deposits-database': {
    mutate: ['control-plane/payments/crypto/{credit,deposit.rows,watcher}.ts'],
    tests: ['control-plane/payments/crypto/{pass,watcher,credit,scan}.test.ts'],
    database: true,
  },
};
