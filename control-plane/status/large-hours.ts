/** Decides when the jobs that compute whole hours from the rows of the usage log read a large hour again. */
import { sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';

/** Requests of a large hour. */
const LARGE_HOUR_REQUESTS = 100_000;
/** Growth of a large hour after which a run of each minute reads it again: its rows are read three times. */
const GROWTH = 1.5;

/**
 * SQL of whether a run of each minute reads an hour whose number of requests changed from `done.requests` to
 * `log.requests`. Their hourly runs read every changed hour.
 */
export function isReadAgain(): Statement {
  return sql`(done.requests is null or log.requests < ${LARGE_HOUR_REQUESTS}
    or log.requests >= done.requests * ${GROWTH}::numeric)`;
}
