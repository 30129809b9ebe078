/** Digests of all tables, with which a test proves that a request changed nothing. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, queryOne, sql } from '../../control-plane/database/sql.ts';

/** Tables of rate limits: every request writes to them, refused ones too. */
const RATE_LIMIT_TABLES: ReadonlySet<string> = new Set(['attempt_window', 'query_budget']);

/** Columns by table that every authenticated request updates. */
const ACTIVITY_COLUMNS: Readonly<Record<string, string>> = {
  access_token: 'last_used_at',
  session: 'last_seen_at,expires_at',
};

/** MD5 of all rows of each table, by table name. Rate limits and activity times are left out. */
export async function tableDigests(em: EntityManager): Promise<Record<string, string>> {
  const tables = await query<{ name: string }>(
    em,
    sql`select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
  );
  const digests: Record<string, string> = {};
  for (const { name } of tables.filter((table) => !RATE_LIMIT_TABLES.has(table.name))) {
    const row = `(to_jsonb(t) - '{${ACTIVITY_COLUMNS[name] ?? ''}}'::text[])::text`;
    const rows = `string_agg(${row}, '|' order by ${row})`;
    const text = `select md5(coalesce(${rows}, '')) as digest from "${name}" t`;
    digests[name] = (await queryOne<{ digest: string }>(em, { text, values: [] }))?.digest ?? '';
  }
  return digests;
}
