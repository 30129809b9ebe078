/**
 * A database of its own for the keys of content. A base backup of the main database then holds no key, and a
 * chat whose key was destroyed cannot be read from any backup.
 */
import type { MikroORM } from '@mikro-orm/postgresql';
import { Pool } from 'pg';
import { newId } from '../database/ids.ts';
import { connect } from '../database/orm.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import type { RunStatement } from './content-keys.ts';

/** A schema of its own: in the main database, given by mistake, they do not mix with its own table. */
const SCHEMA = 'gateway_keys';
const CONNECTIONS_MAX = 5;
/** Maximum wait for a connection in ms. */
const CONNECT_MS = 5_000;
/** Name of the entry in the main database that says which database holds the keys. */
const MARKER = 'content keys';
const MOVED_AT_ONCE = 1_000;
const TABLES = `
  create schema if not exists ${SCHEMA};
  create table if not exists ${SCHEMA}.content_key (
    user_id text primary key,
    sealed text not null,
    created_at timestamptz not null default now()
  );
  create table if not exists ${SCHEMA}.home (number integer primary key check (number = 1), id text not null);
`;

/** The opened database. */
export interface KeyDatabase {
  run: RunStatement;
  close(): Promise<void>;
}

/**
 * Throws if the keys were moved to a database of their own, whose address is missing now: new keys would be
 * made, and nothing that exists could be read.
 */
export async function requireNoKeyDatabase(orm: MikroORM): Promise<void> {
  if (await markedHome(orm))
    throw new Error(
      'CONTENT_KEYS_URL is not set, but the keys of chats are in another database. Set it to its address.',
    );
}

/**
 * Opens the database of the keys, creates its tables, and moves keys there that the main database still
 * holds. Throws an Error of one line that names CONTENT_KEYS_URL if it cannot be reached, or is not the one
 * that was used before.
 */
export async function openKeyDatabase(orm: MikroORM, url: string): Promise<KeyDatabase> {
  const first = await connect(url, 'CONTENT_KEYS_URL');
  try {
    await first.query(TABLES);
    await first.query(`insert into ${SCHEMA}.home values (1, $1) on conflict do nothing`, [newId('key')]);
    const { rows } = await first.query<{ id: string }>(`select id from ${SCHEMA}.home`);
    await claimHome(orm, rows[0]?.id ?? '');
  } finally {
    await first.end();
  }
  const pool = new Pool({
    connectionString: url,
    max: CONNECTIONS_MAX,
    connectionTimeoutMillis: CONNECT_MS,
    options: `-c search_path=${SCHEMA}`,
  });
  // A lost connection is replaced by the next statement.
  pool.on('error', () => undefined);
  const run: RunStatement = async ({ text, values }) =>
    (await pool.query<{ sealed: string }>(text, [...values])).rows;
  await moveKeys(orm, run);
  return { run, close: () => pool.end() };
}

/** Marks the main database with the id of the database that holds its keys. */
async function claimHome(orm: MikroORM, id: string): Promise<void> {
  await query(
    orm.em.fork(),
    sql`insert into installation (name, value) values (${MARKER}, ${id}) on conflict do nothing`,
  );
  if ((await markedHome(orm)) !== id)
    throw new Error(
      'CONTENT_KEYS_URL leads to a database without the keys of this installation. Set the former address.',
    );
}

async function markedHome(orm: MikroORM): Promise<string | undefined> {
  const row = await queryOne<{ value: string }>(
    orm.em.fork(),
    sql`select value from installation where name = ${MARKER}`,
  );
  return row?.value;
}

/**
 * Copies each key, then deletes from the main database what the copy holds. An interrupted move goes on at
 * the next start.
 */
async function moveKeys(orm: MikroORM, run: RunStatement): Promise<void> {
  for (let last = ''; ;) {
    const rows = await query<{ userId: string; sealed: string }>(
      orm.em.fork(),
      sql`select user_id as "userId", sealed from content_key where user_id > ${last}
        order by user_id limit ${MOVED_AT_ONCE}`,
    );
    if (rows.length === 0) return;
    const userIds = rows.map(({ userId }) => userId);
    const given = rows.map(({ sealed }) => sealed);
    await run(sql`
      insert into content_key (user_id, sealed) select * from unnest(${userIds}::text[], ${given}::text[])
      on conflict (user_id) do nothing`);
    const copied = await run(sql`select sealed from content_key where sealed = any(${given}::text[])`);
    const sealed = copied.map((row) => row.sealed);
    await query(orm.em.fork(), sql`delete from content_key where sealed = any(${sealed}::text[])`);
    last = userIds.at(-1) ?? '';
  }
}
