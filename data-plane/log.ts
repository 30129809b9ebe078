/** The node's own log: one JSON line an event on standard output, in the form of the server's log. */

/** Fields must never hold secrets or what clients and upstreams sent. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Writes to standard output. `levels` below the given one are left out. */
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
