/** The log file of the embedded PostgreSQL. */
import { chmodSync, existsSync, openSync, readFileSync, statSync } from 'node:fs';

const LOG_TAIL_LINES = 12;
const LOG_MAX_BYTES = 10 * 1024 * 1024;
const STILL_IN_USE = 'FATAL:  pre-existing shared memory block';

/** Opens the log to append to it; one that is too large is emptied. Only its owner can read it. */
export function openLog(file: string): number {
  const tooLarge = existsSync(file) && statSync(file).size > LOG_MAX_BYTES;
  const log = openSync(file, tooLarge ? 'w' : 'a', 0o600);
  chmodSync(file, 0o600);
  return log;
}

/** The last lines of the log. */
export function tailOf(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-LOG_TAIL_LINES).join('\n');
}

/** Size of the log in bytes; 0 without a log. */
export function sizeOfLog(file: string): number {
  return existsSync(file) ? statSync(file).size : 0;
}

/**
 * Whether the log says, after its first `begin` bytes, that the server did not start because processes of a
 * killed one have not ended yet.
 */
export function isStillInUse(file: string, begin: number): boolean {
  return readFileSync(file).subarray(begin).includes(STILL_IN_USE);
}
