/** Tells a database that does not answer from a statement that failed. */

/** Errors of connections: https://nodejs.org/api/errors.html#common-system-errors. */
const NETWORK = /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ENOENT)/;
/**
 * https://www.postgresql.org/docs/current/errcodes-appendix.html: 08 connection exception, 57P01 to 57P05
 * shutdown, crash and start, 53300 too many connections, 25006 read-only during a failover.
 */
const STATES = /^(08...|57P0[1-5]|53300|25006)$/;
/** Errors of `pg` and its pool, which have no code. */
const MESSAGES = /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a)/;

/** Whether the error, or a cause of it, says that the database cannot be reached. */
export function isDatabaseAway(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof AggregateError && at.errors.some(isDatabaseAway)) return true;
    const code = 'code' in at && typeof at.code === 'string' ? at.code : '';
    if (NETWORK.test(code) || STATES.test(code) || MESSAGES.test(at.message)) return true;
  }
  return false;
}
