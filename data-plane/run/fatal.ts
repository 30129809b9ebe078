/** Ends the process after an error from which it cannot recover. */

/** Writes the reason to standard error and exits with 1. */
export function fatal(error: unknown): never {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`The node stops: ${reason}\n`);
  process.exit(1);
}
