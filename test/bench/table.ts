/** The figures of one run as a table in Markdown. */

export interface Row {
  target: string;
  load: string;
  cpuMicrosPerRequest: number;
  /** CPU per request as a multiple of the bare Fastify pass-through's. */
  ratio: number;
  addedP50Ms: number;
  addedP99Ms: number;
}

export interface MemoryRow {
  target: string;
  streams: number;
  kilobytesPerStream: number;
}

/**
 * CPU and latency, one line per target and load. Added latency is measured against asking the upstream
 * directly.
 */
export function table(rows: Row[]): string {
  const head = [
    '| target | load | CPU µs/request | × bare Fastify | added p50 ms | added p99 ms |',
    '|---|---|---|---|---|---|',
  ];
  const line = (row: Row): string =>
    `| ${row.target} | ${row.load} | ${row.cpuMicrosPerRequest.toFixed(0)} | ${row.ratio.toFixed(2)} | ` +
    `${row.addedP50Ms.toFixed(2)} | ${row.addedP99Ms.toFixed(2)} |`;
  return [...head, ...rows.map(line)].join('\n');
}

/** Memory, one line per target. */
export function memoryTable(rows: MemoryRow[]): string {
  const line = (row: MemoryRow): string =>
    `| ${row.target} | ${row.streams} | ${row.kilobytesPerStream.toFixed(1)} |`;
  return ['| target | open streams | kB per stream |', '|---|---|---|', ...rows.map(line)].join('\n');
}
