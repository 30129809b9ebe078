/** Repeats changes of the schema until they get their locks, while traffic goes on. */
import { setTimeout as sleep } from 'node:timers/promises';
import { escapeIdentifier } from 'pg';
import type { Client } from 'pg';

const PAUSE_MS = 500;
/** After this time without getting the locks, the start fails. */
const WITHIN_MS = 10 * 60_000;
/** https://www.postgresql.org/docs/current/errcodes-appendix.html: lock_not_available, deadlock_detected. */
const LOCK_ERRORS = new Set(['55P03', '40P01']);
/** How long a vacuum has until it ends, in ms. */
const VACUUM_ENDS_MS = 1_000;

/**
 * Repeats the work while others hold locks that it needs. Before each repetition it ends automatic vacuums
 * through the client, which must not be in a transaction.
 */
export async function retryOnLock(client: Client, work: () => Promise<unknown>): Promise<void> {
  const until = performance.now() + WITHIN_MS;
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      const code = codeOf(error);
      if (code === undefined || !LOCK_ERRORS.has(code)) throw error;
      if (performance.now() > until) {
        const advice =
          'Wait for a vacuum against wraparound, end other vacuums and long transactions that ' +
          'pg_stat_activity shows, then start again.';
        throw new Error(
          `DATABASE_URL: the schema cannot be migrated, other transactions lock it. ${advice}`,
          { cause: error },
        );
      }
      await sleep(PAUSE_MS * (0.5 + Math.random()));
      // After the pause, so that the next vacuum does not get the lock before the work.
      await endAutovacuums(client);
    }
  }
}

/** The error code of PostgreSQL, found anywhere in the chain of causes. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return codeOf(error.cause);
}

/**
 * Ends the automatic vacuums of all tables of `public`. PostgreSQL ends one if somebody waits for its lock
 * longer than `deadlock_timeout`, 1 s. A change of the schema does not wait so long, because traffic waits
 * behind it. The lock that is asked for here stops only vacuums, index builds and changes of the schema.
 * TOAST tables cannot be locked: a vacuum of one goes on.
 */
async function endAutovacuums(client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string; waitMs: number }>(`
    select distinct c.relname as name, s.setting::integer + ${VACUUM_ENDS_MS} as "waitMs"
    from pg_locks l join pg_class c on c.oid = l.relation, pg_settings s
    where l.granted and l.mode = 'ShareUpdateExclusiveLock' and l.pid <> pg_backend_pid()
      and l.database = (select oid from pg_database where datname = current_database())
      and c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
      and s.name = 'deadlock_timeout'`);
  for (const { name, waitMs } of rows) {
    await client.query('begin');
    await client.query(`set local lock_timeout = ${waitMs}`);
    // A vacuum that a person started goes on, and so does one against wraparound.
    await client
      .query(`lock table only public.${escapeIdentifier(name)} in share update exclusive mode`)
      .catch(() => undefined);
    await client.query('rollback');
  }
}
