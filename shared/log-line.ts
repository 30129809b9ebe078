/** The log of both planes: one JSON object per line. */

/** Levels of the log with their rank. `fatal` and `trace` are accepted as names of the nearest levels. */
const RANKS: Readonly<Record<string, number>> = {
  trace: 0,
  debug: 0,
  info: 1,
  warn: 2,
  error: 3,
  fatal: 3,
  silent: 4,
};

/** The level of one line. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** The process that writes the log. */
export interface LogSource {
  plane: 'control' | 'node';
  /** The name of this process among those of its plane: INSTANCE_NAME or NODE_NAME. */
  instance: string;
  /** The worker of a node; absent if the process is the whole node or a control plane. */
  worker?: number | undefined;
  /** The lowest level that is written; the value of LOG_LEVEL. */
  lowest: string;
}

/** Writes one line. Fields must never hold secrets, or content of clients and upstreams. */
export type LogWriter = (level: LogLevel, message: string, fields: object) => void;

/** LOG_LEVEL, `info` if it is not set. Throws an Error that names the valid values. */
export function readLogLevel(environment: Record<string, string | undefined>): string {
  const level = environment['LOG_LEVEL'] || 'info';
  if (!Object.hasOwn(RANKS, level))
    throw new Error(`LOG_LEVEL is "${level}". Set it to one of ${Object.keys(RANKS).join(', ')}.`);
  return level;
}

/**
 * A log that passes each line of a sufficient level to `write`, with a line end. Fields never replace time,
 * level, plane, instance, worker or message. A bigint is written as text, because JSON has no such numbers.
 */
export function createLogWriter(source: LogSource, write: (line: string) => void): LogWriter {
  const { plane, instance, worker, lowest } = source;
  const least = RANKS[lowest] ?? 1;
  return (level, message, fields) => {
    if ((RANKS[level] ?? 1) < least) return;
    const time = new Date().toISOString();
    const own = { time, level, plane, instance, ...(worker !== undefined && { worker }), message };
    write(`${JSON.stringify({ ...own, ...fields, ...own }, writeBigint)}\n`);
  };
}

function writeBigint(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
