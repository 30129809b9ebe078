/** The log of a control plane: one JSON line per event, in the format of both planes. */
import { createLogWriter } from '@gateway/shared/log-line';
import type { LogLevel, LogSource } from '@gateway/shared/log-line';

/** One event: level, message, and fields without secrets or content of users. */
export type LogEvent = Record<string, unknown>;

const LEVELS: readonly unknown[] = ['debug', 'info', 'warn', 'error'] satisfies LogLevel[];

/**
 * A log that writes to standard output and omits levels below `lowest`. Events without a level are `info`.
 */
export function createLog(source: Omit<LogSource, 'plane'>): (event: LogEvent) => void {
  const write = createLogWriter({ ...source, plane: 'control' }, (line) => void process.stdout.write(line));
  return ({ level, message, ...fields }) =>
    write(isLevel(level) ? level : 'info', typeof message === 'string' ? message : '', fields);
}

function isLevel(level: unknown): level is LogLevel {
  return LEVELS.includes(level);
}
