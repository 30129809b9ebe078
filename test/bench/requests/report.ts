/** Formats the figures of one run as Markdown tables. */
import type { Heavy } from '../profile.ts';
import type { Figure, MemoryRow, Row } from './measure.ts';

const HEAD = [
  ...['workload', 'target', 'CPU µs', '× bare Fastify', 'all processes µs'],
  ...['added p50 ms', 'added p99 ms', 'beyond a durable write p50, p99 ms'],
  ...['added p99.9 ms', 'first byte p50, p99 ms', 'longest GC pause ms', 'loop delay p99 ms'],
];

/** One line per workload and target: medians, and ranges in brackets. */
export function requestTable(rows: readonly Row[]): string {
  return tableOf(HEAD, rows.map(lineOf));
}

function lineOf(row: Row): string[] {
  const { p50, p99, p999, firstP50, firstP99 } = row.added;
  const target = row.permitted === undefined ? '' : ` (target ${row.permitted})`;
  return [
    ...[row.workload, row.target, withRange(row.cpu, 1), `${withRange(row.ratio, 2)}${target}`],
    row.all === undefined ? '–' : withRange(row.all, 0),
    ...[p50, p99].map((figure) => withRange(figure, 2)),
    row.beyondDisk ? `${withRange(row.beyondDisk.p50, 2)}, ${withRange(row.beyondDisk.p99, 2)}` : '–',
    p999.median.toFixed(2),
    `${firstP50.median.toFixed(2)}, ${firstP99.median.toFixed(2)}`,
    ...[row.pauseMs, row.delayP99Ms].map((value) => value?.toFixed(1) ?? '–'),
  ];
}

function withRange({ median, from, to }: Figure, digits: number): string {
  return `${median.toFixed(digits)} (${from.toFixed(digits)}–${to.toFixed(digits)})`;
}

/** Memory, one line per target and number of streams. */
export function memoryTable(rows: readonly MemoryRow[]): string {
  const lines = rows.map((row) => [
    ...[row.target, String(row.streams), row.kilobytesPerStream.toFixed(1), row.megabytes.toFixed(0)],
  ]);
  return tableOf(['target', 'open streams', 'KiB per stream', 'MB in all'], lines);
}

/** Functions of a profile, heaviest first. */
export function profileTable(functions: readonly Heavy[]): string {
  return tableOf(
    ['% of CPU', 'function'],
    functions.map(({ name, percent }) => [percent.toFixed(1), name]),
  );
}

function tableOf(head: readonly string[], lines: readonly string[][]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...lines.map(line)].join('\n');
}
