/** The outbox of the export in PostgreSQL, and the rows of the log as ClickHouse takes them. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { inTransaction, query, queryRow, sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';

/** Batches of settled requests that one round reads at most. */
const BATCHES_MAX = 400;
/** Rows that one insert holds at most, unless a single batch has more. */
const ROWS_MAX = 20_000;

/** Rows of the outbox with their requests. */
export interface OutboxPart {
  positions: readonly string[];
  /** Rows as lines of JSON; empty if their month was dropped meanwhile. */
  lines: string;
  /** The UTC days of the rows, as `2026-11-25`. */
  days: readonly string[];
}

/** Columns of `usage_entry u` as ClickHouse takes them. */
const COLUMNS = sql`
  u.request_id, u.id, to_char(u.at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') as at,
  to_char(u.recorded_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') as recorded_at, u.node_id, u.key_id,
  u.wallet_id, coalesce(u.pool_id, '') as pool_id, u.billing_group, u.source, u.model_name, u.family,
  u.route_id, u.base_price, u.ratio, u.cost, u.input_tokens, u.output_tokens, u.cached_tokens,
  u.reasoning_tokens, u.status, u.outcome, u.http_status, u.error_code, u.streamed, u.latency_ms, u.ttft_ms,
  host(u.ip) as ip, u.losses_in_answer, u.repeats, u.attempts::text as attempts, u.attempts_omitted`;

/** The oldest batches of the outbox; undefined if it is empty. */
export async function readOutbox(em: EntityManager): Promise<OutboxPart | undefined> {
  const batches = await query<{ position: string; size: number }>(
    em,
    sql`select position::text, cardinality(request_ids) as size from usage_outbox
      order by position limit ${BATCHES_MAX}`,
  );
  const positions: string[] = [];
  let rows = 0;
  for (const { position, size } of batches) {
    if (positions.length > 0 && rows + size > ROWS_MAX) break;
    rows += size;
    positions.push(position);
  }
  if (positions.length === 0) return undefined;
  const wanted = sql`select r.request_id, r.at from usage_outbox o
    cross join unnest(o.request_ids, o.ats) as r (request_id, at)
    where o.position = any(${positions}::bigint[])`;
  const { lines, days } = await linesOf(
    em,
    sql`(${wanted}) w join usage_entry u on u.request_id = w.request_id and u.at = w.at`,
  );
  return { positions, lines, days };
}

/**
 * Deletes batches that ClickHouse has, unless another table is filled by now. Their days have to be summed up
 * again by the comparison.
 */
export async function deleteFromOutbox(em: EntityManager, table: string, part: OutboxPart): Promise<void> {
  await inTransaction(em, async (inner) => {
    const state = await query(
      inner,
      sql`select from usage_export where table_name = ${table} and is_active for share`,
    );
    if (state.length === 0) return;
    await query(inner, sql`delete from usage_export_day where day = any(${[...part.days]}::date[])`);
    await query(inner, sql`delete from usage_outbox where position = any(${[...part.positions]}::bigint[])`);
  });
}

/** Rows of the log that follow a row in the order of time and id, and the last of them. */
export async function readLog(
  em: EntityManager,
  after: { at: string; id: string },
): Promise<{ lines: string; last: { at: string; id: string } | null; isEnd: boolean }> {
  const chunk = sql`(select * from usage_entry where (at, id) > (${after.at}::timestamptz, ${after.id})
    order by at, id limit ${ROWS_MAX}) u`;
  const { lines, count, last } = await linesOf(em, chunk);
  return { lines, last, isEnd: count < ROWS_MAX };
}

/** All rows of a UTC day, in parts. */
export async function* readDay(em: () => EntityManager, day: string): AsyncGenerator<string> {
  let after = { at: `${day} 00:00:00+00`, id: '' };
  for (;;) {
    const chunk = sql`(select * from usage_entry where (at, id) >= (${after.at}::timestamptz, ${after.id})
      and at < (${day}::date + 1)::timestamp at time zone 'UTC' order by at, id limit ${ROWS_MAX}) u`;
    const { lines, count, last } = await linesOf(em(), chunk);
    if (lines) yield lines;
    if (!last || count < ROWS_MAX) return;
    after = last;
  }
}

interface Lines {
  lines: string;
  count: number;
  days: string[];
  last: { at: string; id: string } | null;
}

/** The rows of a source `u`. PostgreSQL writes the JSON: parsing it here would take most of the time. */
async function linesOf(em: EntityManager, source: Statement): Promise<Lines> {
  const row = await queryRow<{ lines: string | null; count: number; days: string[]; last: Lines['last'] }>(
    em,
    sql`
    with found as materialized (select u.at as exact_at, ${COLUMNS} from ${source})
    select (select string_agg(to_json(f)::text, E'\n') from found f) as lines,
      (select count(*)::integer from found) as count,
      array(select distinct left(at, 10) from found) as days,
      (select to_jsonb(l) from (select exact_at::text as at, id from found
        order by exact_at desc, id desc limit 1) l) as last`,
  );
  return { ...row, lines: row.lines ?? '' };
}
