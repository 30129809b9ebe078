/** What stands in the database, to find out whether something changed it. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, queryOne, sql } from '../../control-plane/sql.ts';

/** Written by each attempt, about who makes it. */
const ABOUT_THE_CALLER: ReadonlySet<string> = new Set(['attempt_window', 'query_budget']);

/** What the mere coming of a caller moves, from minute to minute. */
const MOVED_BY_COMING: Readonly<Record<string, string>> = {
  access_token: 'last_used_at',
  session: 'last_seen_at,expires_at',
};

/** What stands in each table, as a digest; without what is counted of callers. */
export async function everything(em: EntityManager): Promise<Record<string, string>> {
  const tables = await query<{ name: string }>(
    em,
    sql`select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
  );
  const digests: Record<string, string> = {};
  for (const { name } of tables.filter((table) => !ABOUT_THE_CALLER.has(table.name))) {
    const row = `(to_jsonb(t) - '{${MOVED_BY_COMING[name] ?? ''}}'::text[])::text`;
    const rows = `string_agg(${row}, '|' order by ${row})`;
    const text = `select md5(coalesce(${rows}, '')) as digest from "${name}" t`;
    digests[name] = (await queryOne<{ digest: string }>(em, { text, values: [] }))?.digest ?? '';
  }
  return digests;
}
