/** Conditions for a change of the schema: a session of our own, the lock, and no later schema. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';

/** Key of the advisory lock that makes concurrent starts migrate one after another; arbitrary but fixed. */
export const MIGRATION_LOCK = 7_205_114;
/** Time that a start waits for the migration of another process, in ms. */
const WAIT_MS = 10 * 60_000;
const RETRY_MS = 200;
/** Time between two notices of a waiting start, in ms. */
const NOTICE_MS = 5_000;
/** An idle pooler in transaction mode gives its connection to the next client at once, a busy one soon. */
const POOLER_ROUNDS = 5;

/** Receives one sentence about the connection that holds the migration lock. */
export type WaitNotice = (sentence: string) => void;

interface WaitOptions {
  onWait?: WaitNotice | undefined;
  waitMs?: number;
  noticeMs?: number;
}

/**
 * Takes the migration lock for the session of the client. Tells `onWait` every 5 s who holds it. Throws an
 * Error that names the holder after ten minutes.
 */
export async function takeMigrationLock(
  client: Client,
  { onWait, waitMs = WAIT_MS, noticeMs = NOTICE_MS }: WaitOptions,
): Promise<void> {
  const until = performance.now() + waitMs;
  for (let noticeAt = performance.now() + Math.min(noticeMs, 1_000); ;) {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
      MIGRATION_LOCK,
    ]);
    if (rows[0]?.taken) return;
    const now = performance.now();
    if (now > until)
      throw new Error(
        `DATABASE_URL: another process holds the migration lock: ${await holderOf(client)}. ` +
          'Wait for it, or end it with pg_terminate_backend, then start again.',
      );
    if (now >= noticeAt) {
      noticeAt = now + noticeMs;
      onWait?.(`The start waits for the migration lock, held by ${await holderOf(client)}.`);
    }
    await sleep(RETRY_MS);
  }
}

/** The connection that holds the migration lock, for people. */
async function holderOf(client: Client): Promise<string> {
  // A key of one bigint is split in two: https://www.postgresql.org/docs/current/view-pg-locks.html
  const { rows } = await client.query<{ holder: string }>(
    `select format('process %s (%s, %s) since %s', l.pid, coalesce(nullif(a.application_name, ''), 'unnamed'),
        coalesce(host(a.client_addr), 'local socket'), a.backend_start) as holder
      from pg_locks l left join pg_stat_activity a using (pid)
      where l.locktype = 'advisory' and l.granted and l.objsubid = 1 and l.classid = 0 and l.objid = $1
        and l.database = (select oid from pg_database where datname = current_database())`,
    [MIGRATION_LOCK],
  );
  return rows[0]?.holder ?? 'a process that has just ended';
}

/**
 * Throws an Error if two connections share a session, as behind a pooler in transaction mode. Locks, roles
 * and notifications would then reach other clients, or nobody.
 */
export async function refusePooledSessions(
  client: Client,
  connectAgain: () => Promise<Client>,
): Promise<void> {
  const other = await connectAgain();
  try {
    for (let round = 0; round < POOLER_ROUNDS; round += 1) {
      const own = await backendOf(client);
      await other.query('begin');
      const isShared = (await backendOf(other)) === own;
      await other.query('rollback');
      if (isShared)
        throw new Error(
          'DATABASE_URL leads to a pooler that shares connections between transactions. ' +
            'Use pool_mode = session, or the address of PostgreSQL itself.',
        );
    }
  } finally {
    await other.end();
  }
}

async function backendOf(client: Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid;
}

/** Throws an Error that names the migrations of the database that this release does not know. */
export async function refuseNewerSchema(client: Client, known: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ exists: boolean }>(
    "select to_regclass('public.mikro_orm_migrations') is not null as exists",
  );
  if (!rows[0]?.exists) return;
  const { rows: unknown } = await client.query<{ name: string }>(
    'select name from mikro_orm_migrations where not name = any($1::text[]) order by name',
    [known],
  );
  if (unknown.length === 0) return;
  const lacking = unknown.map(({ name }) => name).join(', ');
  throw new Error(
    `DATABASE_URL: the schema is newer than this release, which lacks ${lacking}. ` +
      'Start the later release, or restore the backup from before it.',
  );
}
