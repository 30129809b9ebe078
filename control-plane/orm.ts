/**
 * The database: the list of entities, the connection pool under the lesser runtime role, and the migrations.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { MikroORM } from '@mikro-orm/postgresql';
import { Migrator } from '@mikro-orm/migrations';
import { Client } from 'pg';
import type { Pool, PoolClient } from 'pg';
import { entities } from './entities.ts';
import { migrations } from './migrations/index.ts';

/**
 * Connections of the running service act as this role, which cannot change the ledger's or the audit's rows.
 */
export const RUNTIME_ROLE = 'gateway_runtime';

const CONNECTIONS_MAX = 20;
/** How long a database may take to accept the first connection, in ms. */
const FIRST_CONNECTION_MS = 10_000;
/** Arbitrary but fixed: two processes that start together migrate one after the other. */
const MIGRATION_LOCK = 7_205_114;
/**
 * How long a change of the schema may wait for one lock, in ms. Everything that comes later waits behind it:
 * traffic stands still for no longer than this, then the change makes room and is tried again.
 */
const LOCK_WAIT_MS = 1_000;
const LOCK_PAUSE_MS = 500;
/** A start that gets no lock for so long gives up, in ms: somebody has to look at what holds it. */
const MIGRATE_WITHIN_MS = 10 * 60_000;
/** https://www.postgresql.org/docs/current/errcodes-appendix.html: lock_not_available, deadlock_detected. */
const GIVEN_WAY = new Set(['55P03', '40P01']);

/**
 * Whether the connections act as the lesser role (the service) or as the owner (migrations and tests of
 * them).
 */
export interface OrmOptions {
  asOwner?: boolean;
  connectionsMax?: number;
  /** Those of this release, unless a test has others. */
  migrationsList?: MigrationList;
}

export type MigrationList = typeof migrations;

/** Opens a pool to a migrated database. `em` of the result is never used itself: fork it per request. */
export async function createOrm(databaseUrl: string, options: OrmOptions = {}): Promise<MikroORM> {
  return MikroORM.init({
    clientUrl: databaseUrl,
    entities,
    extensions: [Migrator],
    allowGlobalContext: false,
    forceUtcTimezone: true,
    pool: { min: 0, max: options.connectionsMax ?? CONNECTIONS_MAX },
    driverOptions: {
      onConnect: options.asOwner ? limitLockWaits : takeRuntimeRole,
      onPoolCreated: replaceDeadConnections,
    },
    migrations: {
      migrationsList: [...(options.migrationsList ?? migrations)],
      snapshot: false,
      allOrNothing: true,
      silent: true,
    },
  });
}

/**
 * Kysely gives a connection back only after a rollback that succeeded, which a dead connection never has:
 * each one that dies in a transaction would take its place in the pool with it, until no place is left.
 */
function replaceDeadConnections(pool: Pool): void {
  const lent = new WeakSet<PoolClient>();
  pool.on('acquire', (client) => lent.add(client));
  pool.on('release', (_error, client) => lent.delete(client));
  pool.on('connect', (client) => {
    client.once('end', () => {
      // Whoever hears of the end by a failing statement outside a transaction gives it back in the same turn.
      setImmediate(() => {
        if (lent.has(client)) client.release(true);
      });
    });
  });
}

/**
 * Brings the database to the newest schema, all of it or nothing, while other processes go on using it. Safe
 * to call from several processes at once; later ones wait. Throws an Error that names DATABASE_URL, in one
 * line and without its password, where no connection comes about, or where others hold a lock for ten
 * minutes.
 */
export async function migrate(
  databaseUrl: string,
  migrationsList: MigrationList = migrations,
): Promise<void> {
  const lock = await connectFirst(databaseUrl);
  try {
    await lock.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await limitLockWaits(lock);
    await createRuntimeRole(lock);
    const orm = await createOrm(databaseUrl, { asOwner: true, connectionsMax: 1, migrationsList });
    try {
      await givingWay(() => orm.migrator.up());
    } finally {
      await orm.close(true);
    }
    await givingWay(() => grantToRuntime(lock));
  } finally {
    await lock.end();
  }
}

/** Tries again while others hold a lock that the work needs. */
async function givingWay(work: () => Promise<unknown>): Promise<void> {
  const until = performance.now() + MIGRATE_WITHIN_MS;
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      const code = codeOf(error);
      if (code === undefined || !GIVEN_WAY.has(code)) throw error;
      if (performance.now() > until) {
        const advice = 'End the long transactions that pg_stat_activity shows, then start again.';
        throw new Error(`DATABASE_URL: the schema cannot be changed, its tables stay locked. ${advice}`, {
          cause: error,
        });
      }
      await sleep(LOCK_PAUSE_MS * (0.5 + Math.random()));
    }
  }
}

/** The database's code, wherever in the chain of causes it stands. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return codeOf(error.cause);
}

async function limitLockWaits(client: Client): Promise<void> {
  await client.query(`set lock_timeout = ${LOCK_WAIT_MS}`);
}

async function connectFirst(databaseUrl: string): Promise<Client> {
  if (!URL.canParse(databaseUrl))
    throw new Error('DATABASE_URL is no address. Write it as postgres://user:password@host:5432/database.');
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: FIRST_CONNECTION_MS });
  try {
    await client.connect();
    return client;
  } catch (cause) {
    const { hostname, port, pathname } = new URL(databaseUrl);
    const place = `${hostname || 'the local socket'}${port && `:${port}`}${pathname}`;
    const advice = 'Check that PostgreSQL runs there and takes this user and password.';
    throw new Error(`DATABASE_URL: no connection to ${place}: ${reasonOf(cause)}. ${advice}`, { cause });
  }
}

/** Of several addresses that were tried, the first failure. */
function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError) return reasonOf(cause.errors[0]);
  return cause instanceof Error ? cause.message.replaceAll(/\s+/g, ' ') : 'unknown reason';
}

/**
 * The first statement of every pooled connection. Without the role (see createRuntimeRole) the owner serves.
 */
async function takeRuntimeRole(client: Client): Promise<void> {
  await client.query(`select set_config('role', rolname, false) from pg_roles
    where rolname = '${RUNTIME_ROLE}' and pg_has_role(current_user, oid, 'member')`);
}

/**
 * Roles belong to the whole server: several databases may be migrated on it at once, and the second creator
 * loses a
 * race. Where the owner may not create roles at all, the service runs as the owner and only the triggers
 * protect the ledger.
 */
async function createRuntimeRole(client: Client): Promise<void> {
  await client.query(`do $$ begin
    if not exists (select from pg_roles where rolname = '${RUNTIME_ROLE}') then
      create role ${RUNTIME_ROLE} nologin;
    end if;
    if not pg_has_role(current_user, '${RUNTIME_ROLE}', 'member') then
      execute format('grant ${RUNTIME_ROLE} to %I', current_user);
    end if;
  exception when insufficient_privilege or duplicate_object or unique_violation or undefined_object then null;
  end $$`);
}

/** By name: `ledger_*` is written by the ledger's own functions only, `audit_*` is only ever added to. */
async function grantToRuntime(client: Client): Promise<void> {
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [RUNTIME_ROLE]);
  if (!rowCount) return;
  await client.query(`do $$ declare t record; begin
    grant usage on schema public to ${RUNTIME_ROLE};
    grant select, insert, update, delete on all tables in schema public to ${RUNTIME_ROLE};
    grant usage, select on all sequences in schema public to ${RUNTIME_ROLE};
    -- A dump that is restored on another server comes before the role, and so without its grants.
    grant execute on all functions in schema public to ${RUNTIME_ROLE};
    for t in select tablename from pg_tables where schemaname = 'public' loop
      if t.tablename like 'ledger\\_%' then
        execute format('revoke insert, update, delete, truncate on %I from ${RUNTIME_ROLE}', t.tablename);
      elsif t.tablename like 'audit\\_%' then
        execute format('revoke update, delete, truncate on %I from ${RUNTIME_ROLE}', t.tablename);
      end if;
    end loop;
    if to_regclass('public.mikro_orm_migrations') is not null then
      revoke insert, update, delete on mikro_orm_migrations from ${RUNTIME_ROLE};
    end if;
  end $$`);
}
