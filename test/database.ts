/** Fresh databases for tests, on the PostgreSQL of the run. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import pg from 'pg';
import { inject } from 'vitest';

/** Names the lock under which the first worker makes the template; any constant does. */
const TEMPLATE_LOCK = 7_461_002;
const TEMPLATE = 'gateway_template';
const ORM = new URL('../control-plane/orm.ts', import.meta.url);

export interface TestDatabase {
  url: string;
  /** Drops the database and cuts whoever is still connected to it. */
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
  return { url: databaseUrl(name), drop: () => asServer(async (client) => { await client.query(`drop database ${name} with (force)`); }) };
}

/** A new database without anything in it. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await asServer(async (client) => { await client.query(`create database ${name} template template0`); });
  return { url: databaseUrl(name), drop: () => asServer(async (client) => { await client.query(`drop database ${name} with (force)`); }) };
}

async function makeTemplate(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [TEMPLATE]);
  if (rowCount) return;
  const draft = `${TEMPLATE}_draft`;
  await client.query(`drop database if exists ${draft} with (force)`);
  await client.query(`create database ${draft} template template0`);
  if (existsSync(ORM)) {
    const orm = await import(ORM.href) as { migrate(databaseUrl: string): Promise<unknown> };
    await orm.migrate(databaseUrl(draft));
  }
  await client.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = $1`, [draft]);
  await client.query(`alter database ${draft} rename to ${TEMPLATE}`);
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
