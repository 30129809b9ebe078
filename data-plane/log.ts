/** The node's log: one JSON line per event, in the format of both planes. */
import { createLogWriter } from '@gateway/shared/log-line';
import type { LogSource } from '@gateway/shared/log-line';

/** Fields must never hold secrets, or content of clients and upstreams. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A log that writes to standard output and omits levels below `lowest`. */
export function createLog(source: Omit<LogSource, 'plane'>): Log {
  const write = createLogWriter({ ...source, plane: 'node' }, (line) => void process.stdout.write(line));
  return {
    info: (fields, message) => write('info', message, fields),
    warn: (fields, message) => write('warn', message, fields),
    error: (fields, message) => write('error', message, fields),
  };
}
