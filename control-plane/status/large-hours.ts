/** Decides when the jobs that compute whole hours from the rows of the usage log read a large hour again. */
import { sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';

/** Minimum number of requests of a large hour. */
const LARGE_HOUR_REQUESTS = 100_000;
/** Factor by which a large hour grows before the job of each minute reads it again. */
const GROWTH = 1.5;
/** The same factor for an hour that has ended, so that it is soon complete. */
const GROWTH_OF_ENDED = 1.01;

/**
 * SQL of whether the job of each minute reads an hour whose number of requests is `log.requests`, and was
 * `done.requests` when it was read last. The rows of a large hour are read about three times in all. The
 * hourly job reads every hour whose number changed.
 */
export function isDueEachMinute(): Statement {
  return sql`(done.requests is null or log.requests < ${LARGE_HOUR_REQUESTS}
    or log.requests >= done.requests * case when log.hour <= now() - interval '1 hour'
      then ${GROWTH_OF_ENDED}::numeric else ${GROWTH}::numeric end)`;
}
