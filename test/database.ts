/** Fresh databases for tests, on the PostgreSQL of the run. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { migrate } from '../control-plane/database/orm.ts';

/** Names the lock under which the first worker makes the template; any constant does. */
const TEMPLATE_LOCK = 7_461_002;
const TEMPLATE = 'gateway_template';
/** SQLSTATE of a statement whose connection `pg_terminate_backend` ended. */
export const ADMIN_SHUTDOWN = '57P01';

export interface TestDatabase {
  url: string;
  /** Drops the database and closes its connections. */
  drop(): Promise<void>;
}

/** A new database, a copy of one that all migrations ran on. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await asServer(async (client) => {
    await client.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    await makeTemplate(client);
    await client.query(`create database ${name} template ${TEMPLATE}`);
  });
  return { url: databaseUrl(name), drop: () => dropDatabase(name) };
}

/** A new database without anything in it. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await asServer(async (client) => {
    await client.query(`create database ${name} template template0`);
  });
  return { url: databaseUrl(name), drop: () => dropDatabase(name) };
}

async function makeTemplate(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [TEMPLATE]);
  if (rowCount) return;
  const draft = `${TEMPLATE}_draft`;
  await client.query(`drop database if exists ${draft} with (force)`);
  await client.query(`create database ${draft} template template0`);
  await migrate(databaseUrl(draft));
  await client.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = $1`, [draft]);
  await client.query(`alter database ${draft} rename to ${TEMPLATE}`);
}

function dropDatabase(name: string): Promise<void> {
  return asServer(async (client) => {
    await client.query(`drop database if exists ${name} with (force)`);
  });
}

function databaseUrl(name: string): string {
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${name}`;
  return url.href;
}

async function asServer(work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
