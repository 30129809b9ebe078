/** The node's log: one JSON line per event. */

/** Fields must never hold secrets, or content of clients and upstreams. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A log that writes to standard output and omits levels below `lowest`. */
export function createLog(lowest: string): Log {
  const from = LEVELS[lowest] ?? LEVELS['info'] ?? 0;
  const write = (level: number) => (fields: object, message: string) => {
    if (level < from) return;
    process.stdout.write(
      `${JSON.stringify({ level, time: Date.now(), pid: process.pid, ...fields, msg: message })}\n`,
    );
  };
  return { info: write(30), warn: write(40), error: write(50) };
}

const LEVELS: Record<string, number> = { debug: 20, info: 30, warn: 40, error: 50, silent: 100 };
