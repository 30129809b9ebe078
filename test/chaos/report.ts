/** How a chaos run is told, and whether it went well. */
import type { Coverage } from './coverage.ts';
import type { Fault } from './faults.ts';
import type { ChaosReport } from './run.ts';

const FINDINGS_SHOWN = 20;

/** Whether every book agrees with every other to the micro-dollar, and nothing ended by itself. */
export function isClean(report: ChaosReport): boolean {
  return (
    report.comparison.differenceMicros === 0n &&
    report.walletDifferenceMicros === 0n &&
    report.duplicates === 0 &&
    report.negativeBalances === 0 &&
    report.openLeases === 0 &&
    report.keptLeases.length === 0 &&
    report.overLimits === 0 &&
    report.alarms === 0 &&
    report.crashes.length === 0 &&
    report.invariants === '' &&
    (report.coverage === undefined ||
      (report.coverage.findings.length === 0 && report.coverage.guessed === 0))
  );
}

/** The run as a table in Markdown, and what was wrong below it. */
export function tableOf(report: ChaosReport): string {
  const { comparison, faults } = report;
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
    ['answers seen to the end', comparison.finished],
    ['Idempotency-Keys used, charged once', `${comparison.keys}, ${comparison.keysCharged}`],
    ['clients that left after content, charged', comparison.leftCharged],
    [
      '… not, because their node was killed, or their upstream broken off',
      `${comparison.leftFreeByKill}, ${comparison.leftFreeByUpstream}`,
    ],
    ['charged, cut by a kill before the last byte', comparison.cutByKill],
    ['difference client ↔ ledger ↔ usage ↔ upstream, micro-USD', comparison.differenceMicros],
    ['difference of wallets, micro-USD', report.walletDifferenceMicros],
    ['duplicates, negative balances', `${report.duplicates}, ${report.negativeBalances}`],
    ['keys beyond their limit', report.overLimits],
    ['open leases, alarms, crashes', `${report.openLeases}, ${report.alarms}, ${report.crashes.length}`],
    [
      'leases kept though called back; held unasked, while nodes ran',
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
      ...report.crashes,
      report.invariants,
    ].filter(Boolean),
  ].join('\n');
}

function outageRows(coverage: Coverage): [string, string | number | bigint][] {
  return [
    ['away: answered to the end', coverage.served],
    ['away: refused for want of a lease', coverage.refused],
    ['… although a lease held the price', coverage.findings.length],
    ['… the most that leases held at a refusal, micro-USD', coverage.mostAtRefusal],
    [
      'away: held by leases at first, spent of it, micro-USD',
      `${coverage.heldMicros}, ${coverage.spentMicros}`,
    ],
    ['away: leases called back before, or granted unheard', `${coverage.recalled}, ${coverage.unheard}`],
    ['away: Idempotency-Keys that could not be checked', coverage.unchecked],
    ['away: told that the wallet is empty', coverage.guessed],
  ];
}

function describe(counts: Record<string, number>): string {
  return Object.entries(counts)
    .map(([name, number]) => `${name}: ${number}`)
    .join(', ');
}
