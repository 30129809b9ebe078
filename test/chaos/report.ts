/** Prints the report of a chaos run, and decides whether the run was clean. */
import type { Coverage } from './coverage.ts';
import type { Fault } from './faults.ts';
import type { PaymentReport } from './payments.ts';
import type { ChaosReport } from './run.ts';

const FINDINGS_SHOWN = 20;

/**
 * The figures of a run that are wrong: none if all records agree to the micro-dollar, all leases were
 * returned, and no process crashed.
 */
export function failuresOf(report: ChaosReport): Record<string, unknown> {
  const { comparison, coverage } = report;
  const figures = {
    findings: comparison.findings,
    differenceMicros: comparison.differenceMicros,
    walletDifferenceMicros: report.walletDifferenceMicros,
    paymentDifferenceMicros: report.payments.differenceMicros,
    paymentFindings: report.payments.findings,
    duplicates: report.duplicates,
    negativeBalances: report.negativeBalances,
    openLeases: report.openLeases,
    keptLeases: report.keptLeases,
    overLimits: report.overLimits,
    alarms: report.alarms,
    crashes: report.crashes,
    invariants: report.invariants,
    refusedThoughCovered: coverage?.findings ?? [],
    refusedAsIfEmpty: coverage?.guessed ?? 0,
  };
  // Right figures are empty lists, empty texts and zeros.
  return Object.fromEntries(
    Object.entries(figures).filter(([, value]) => (Array.isArray(value) ? value.length > 0 : Boolean(value))),
  );
}

/** The report as a Markdown table, followed by the findings. */
export function tableOf(report: ChaosReport): string {
  const { comparison, faults, payments } = report;
  const of = (kind: Fault['kind']): string => {
    const list = faults.filter((fault) => fault.kind === kind);
    const targets = Map.groupBy(list, ({ target }) => target);
    return `${list.length} (${[...targets].map(([name, each]) => `${name} ${each.length}`).join(', ')})`;
  };
  const rows: [string, string | number | bigint][] = [
    ['seed, seconds', `${report.seed}, ${report.seconds}`],
    ['kills', of('kill')],
    ['partitions', of('partition')],
    ['freezes', of('freeze')],
    ['requests', `${comparison.attempts} (${describe(report.statuses)})`],
    ['charges', comparison.charges],
    ['complete answers', comparison.finished],
    ['Idempotency-Keys used, charged once', `${comparison.keys}, ${comparison.keysCharged}`],
    ['clients that left after content: charged', comparison.leftCharged],
    [
      '… free, because their node was killed or their upstream failed',
      `${comparison.leftFreeByKill}, ${comparison.leftFreeByUpstream}`,
    ],
    ['charged, node killed between commit and last byte', comparison.cutByKill],
    ['difference client ↔ ledger ↔ usage ↔ upstream, micro-USD', comparison.differenceMicros],
    ['difference of paid in, charged and left, micro-USD', report.walletDifferenceMicros],
    ...paymentRows(payments),
    ['duplicates, negative balances', `${report.duplicates}, ${report.negativeBalances}`],
    ['keys above their limit', report.overLimits],
    ['open leases, alarms, crashes', `${report.openLeases}, ${report.alarms}, ${report.crashes.length}`],
    [
      'recalled leases not returned; leases not recalled, while nodes ran',
      `${report.keptLeases.length}, ${report.idleLeases}`,
    ],
    ['invariants', report.invariants === '' ? 'hold' : 'BROKEN'],
    ['seconds to drain', report.drainSeconds],
    ...(report.coverage ? outageRows(report.coverage) : []),
  ];
  return [
    '| what | figure |',
    '|---|---|',
    ...rows.map(([name, value]) => `| ${name} | ${value} |`),
    ...[
      ...comparison.findings.slice(0, FINDINGS_SHOWN),
      ...(report.coverage?.findings.slice(0, FINDINGS_SHOWN) ?? []),
      ...report.keptLeases.slice(0, FINDINGS_SHOWN),
      ...payments.findings.slice(0, FINDINGS_SHOWN),
      ...report.crashes,
      report.invariants,
    ].filter(Boolean),
  ].join('\n');
}

function paymentRows(report: PaymentReport): [string, string | number | bigint][] {
  const { payments, automatic, refunds, disputes, differenceMicros } = report;
  return [
    [
      'payments by card, automatic ones, refunds, disputes',
      `${payments}, ${automatic}, ${refunds}, ${disputes}`,
    ],
    ['difference ledger ↔ card processor, micro-USD', differenceMicros],
  ];
}

function outageRows(coverage: Coverage): [string, string | number | bigint][] {
  return [
    ['outage: complete answers', coverage.served],
    ['outage: refused because of a missing lease', coverage.refused],
    ['… although a lease could pay', coverage.findings.length],
    ['… largest balance of leases at a refusal, micro-USD', coverage.mostAtRefusal],
    [
      'outage: balance of leases at its start, spent during it, micro-USD',
      `${coverage.heldMicros}, ${coverage.spentMicros}`,
    ],
    [
      'outage: leases recalled before it, or granted too late to arrive',
      `${coverage.recalled}, ${coverage.undelivered}`,
    ],
    ['outage: refused because Idempotency-Keys cannot be checked', coverage.unchecked],
    ['outage: refused as if the wallet were empty', coverage.guessed],
  ];
}

function describe(counts: Record<string, number>): string {
  return Object.entries(counts)
    .map(([name, number]) => `${name}: ${number}`)
    .join(', ');
}
