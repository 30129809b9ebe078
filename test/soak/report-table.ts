/** Prints the report of a soak run as a table with a line per attack. */
import type { Figures, Peak, SoakReport } from './report.ts';

const COLUMNS = [
  ...['part', 'honest per s', '% of quiet', 'errors', 'retries', 'chat p99', 'console p99', 'livez p99'],
  ...['CPU ms/s', 'for the attack', 'ms per attempt', 'heap MB', 'RSS MB', 'handles'],
  ...['timers', 'loop', 'rows', 'files', 'log KB', 'attacker'],
];

/** The report as a Markdown table, followed by the violations. */
export function tableOf({ seed, heapMegabytes, figures, faults }: SoakReport): string {
  const pair = ({ control, node }: { control: number; node: number }): string => `${control} / ${node}`;
  const peaks = ({ peak: { control, node } }: Figures, name: keyof Peak): string =>
    `${control[name]} / ${node[name]}`;
  return [
    `seed ${seed}, heap ${heapMegabytes} MB; pairs are control plane / node`,
    '',
    `| ${COLUMNS.join(' | ')} |`,
    `|${'---|'.repeat(COLUMNS.length)}`,
    ...figures.map((part) =>
      [
        '',
        ...[
          part.name,
          part.perSecond,
          part.throughput,
          part.errors,
          part.retries,
          part.chatP99Ms,
          part.consoleP99Ms,
          pair(part.livezP99Ms),
          `${part.cpu.control.used} / ${part.cpu.node.used}`,
          `${part.cpu.control.attack} / ${part.cpu.node.attack}`,
          part.cpu.perAttempt,
          pair(part.heap),
        ],
        ...(['rssMegabytes', 'handles', 'timers', 'loopDelayMs'] as const).map((name) => peaks(part, name)),
        ...[part.rowsBeyond, part.files, pair(part.logKilobytes), part.attacker, ''],
      ]
        .join(' | ')
        .trim(),
    ),
    '',
    ...(faults.length === 0 ? ['Everything held.'] : faults.map((fault) => `FAULT: ${fault}`)),
  ].join('\n');
}
