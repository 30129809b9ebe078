/**
 * Opens the database: the ORM with its connection pool under a role with fewer rights, and the migrations.
 */
import { MikroORM } from '@mikro-orm/postgresql';
import { Migrator } from '@mikro-orm/migrations';
import { Client } from 'pg';
import type { Pool, PoolClient } from 'pg';
import { entities } from '../entities.ts';
import { migrations } from '../migrations/index.ts';
import { retryOnLock } from './lock-retry.ts';
import { refusePooledSessions, refuseNewerSchema, takeMigrationLock } from './migration-lock.ts';
import type { WaitNotice } from './migration-lock.ts';

/** Role of the service's connections. It cannot change rows of the ledger or the audit log. */
const RUNTIME_ROLE = 'gateway_runtime';

/** Cursors have times as PostgreSQL writes them, in the time zone of the session. */
const TIMES_IN_UTC = `set timezone = 'UTC'`;

const CONNECTIONS_MAX = 20;
/** Timeout of the first connection to the database. */
const FIRST_CONNECTION_MS = 10_000;
/**
 * How long a schema change may wait for a lock. Later statements queue behind a waiting change, so this is
 * how long traffic may be blocked; then the change fails and is tried again.
 */
const LOCK_WAIT_MS = 1_000;

interface OrmOptions {
  /** Whether connections act as the database owner, for migrations and tests, instead of the runtime role. */
  asOwner?: boolean;
  connectionsMax?: number;
  /** Receives the pool when it is created, for metrics. */
  onPool?(pool: Pool): void;
  /** Defaults to the migrations of this release. */
  migrationsList?: MigrationList;
}

type MigrationList = typeof migrations;

/** Opens a connection pool to a migrated database. Fork `em` for each request; it must not be used itself. */
export async function createOrm(databaseUrl: string, options: OrmOptions = {}): Promise<MikroORM> {
  return MikroORM.init({
    clientUrl: databaseUrl,
    entities,
    extensions: [Migrator],
    allowGlobalContext: false,
    forceUtcTimezone: true,
    pool: { min: 0, max: options.connectionsMax ?? CONNECTIONS_MAX },
    driverOptions: {
      // `clientUrl` gives the pool neither the TLS options of the address nor any other of its query.
      connectionString: databaseUrl,
      onConnect: options.asOwner ? prepareOwner : takeRuntimeRole,
      onPoolCreated: (pool: Pool) => {
        removeLostConnections(pool);
        options.onPool?.(pool);
      },
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
 * Removes connections from the pool that Kysely does not release, and that would occupy the pool for ever.
 * One died in a transaction: Kysely releases it only after a successful rollback. Another opened while the
 * pool was closing: Kysely 0.29 fails with a TypeError before it uses it, and the pool would never end.
 */
function removeLostConnections(pool: Pool): void {
  const acquired = new WeakSet<PoolClient>();
  pool.on('acquire', (client) => acquired.add(client));
  pool.on('release', (_error, client) => acquired.delete(client));
  pool.on('connect', (client) => {
    setImmediate(() => {
      if (pool.ending && acquired.has(client)) client.release(true);
    });
    client.once('end', () => {
      // Outside a transaction, the failing statement releases the connection in the same iteration of the
      // event loop.
      setImmediate(() => {
        if (acquired.has(client)) client.release(true);
      });
    });
  });
}

/**
 * Applies all pending migrations, or none, while other processes use the database. Concurrent calls run one
 * after another; `onWait` receives a description of the process that a call waits for. Throws an Error of one
 * line that names DATABASE_URL, without its password, if the database cannot be reached, its schema is of a
 * later release, a pooler shares its connections between transactions, or others hold the locks for ten
 * minutes.
 */
export async function migrate(
  databaseUrl: string,
  migrationsList: MigrationList = migrations,
  onWait?: WaitNotice,
): Promise<void> {
  const lock = await connect(databaseUrl, 'DATABASE_URL');
  try {
    await refusePooledSessions(lock, () => connect(databaseUrl, 'DATABASE_URL'));
    await takeMigrationLock(lock, { onWait });
    await refuseNewerSchema(
      lock,
      migrationsList.map(({ name }) => name),
    );
    await limitLockWaits(lock);
    await createRuntimeRole(lock);
    const orm = await createOrm(databaseUrl, { asOwner: true, connectionsMax: 1, migrationsList });
    try {
      await retryOnLock(lock, () => orm.migrator.up());
    } finally {
      await orm.close(true);
    }
    await retryOnLock(lock, () => grantToRuntime(lock));
  } finally {
    await lock.end();
  }
}

async function limitLockWaits(client: Client): Promise<void> {
  await client.query(`set lock_timeout = ${LOCK_WAIT_MS}`);
}

/**
 * Opens one connection. Throws an Error of one line that names the setting, without its password, if the
 * database cannot be reached.
 */
export async function connect(databaseUrl: string, setting: string): Promise<Client> {
  if (!URL.canParse(databaseUrl))
    throw new Error(
      `${setting} is not a valid address. Write it as postgres://user:password@host:5432/database.`,
    );
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: FIRST_CONNECTION_MS });
  try {
    await client.connect();
    return client;
  } catch (cause) {
    const { hostname, port, pathname } = new URL(databaseUrl);
    const place = `${hostname || 'the local socket'}${port && `:${port}`}${pathname}`;
    const advice = 'Check that PostgreSQL runs there and accepts this user and password.';
    throw new Error(`${setting}: no connection to ${place}: ${reasonOf(cause)}. ${advice}`, { cause });
  }
}

/** The message of the failure; of the first one if several addresses were tried. */
function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError) return reasonOf(cause.errors[0]);
  return cause instanceof Error ? cause.message.replaceAll(/\s+/g, ' ') : 'unknown reason';
}

/** The first statements of every pooled connection of the database owner. */
async function prepareOwner(client: Client): Promise<void> {
  await client.query(TIMES_IN_UTC);
  await limitLockWaits(client);
}

/**
 * The first statements of every pooled connection, in one message. If the role is missing (see
 * createRuntimeRole), it is not taken.
 */
async function takeRuntimeRole(client: Client): Promise<void> {
  await client.query(`${TIMES_IN_UTC}; select set_config('role', rolname, false) from pg_roles
    where rolname = '${RUNTIME_ROLE}' and pg_has_role(current_user, oid, 'member')`);
}

/**
 * Creates the role, unless another database of the same server has created it: roles belong to the whole
 * server. If the owner may not create roles, the service runs as the owner, and only triggers protect ledger
 * and audit log.
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

/**
 * Grants by table name: `ledger_*` is written only by the ledger's SQL functions, `audit_*` is append-only.
 */
async function grantToRuntime(client: Client): Promise<void> {
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [RUNTIME_ROLE]);
  if (!rowCount) return;
  await client.query(`do $$ declare t record; begin
    grant usage on schema public to ${RUNTIME_ROLE};
    grant select, insert, update, delete on all tables in schema public to ${RUNTIME_ROLE};
    grant usage, select on all sequences in schema public to ${RUNTIME_ROLE};
    -- A dump restored on another server has no grants for the role, which was created later.
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
