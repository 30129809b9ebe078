/**
 * The table in ClickHouse. A row may arrive any number of times: rows with the same request id have the same
 * time and wallet, so the engine replaces them, and questions read with FINAL before it has done so.
 */
import type { ClickHouseStore } from './store.ts';
import { ch, tableOf, textOf } from './statement.ts';
import type { ChStatement } from './statement.ts';

/** Raised when `COLUMNS` or the order changes: the export then fills a new table from PostgreSQL. */
const VERSION = 2;

/** Columns with the names of `usage_entry`. */
const COLUMNS = ch`
  request_id String, id String, at DateTime64(6, 'UTC'), recorded_at DateTime64(6, 'UTC'),
  node_id LowCardinality(String), key_id String, wallet_id String, pool_id String,
  billing_group LowCardinality(String), source LowCardinality(String), model_name LowCardinality(String),
  family LowCardinality(String), route_id LowCardinality(Nullable(String)), base_price Int64, ratio String,
  cost Int64, input_tokens Nullable(Int64), output_tokens Nullable(Int64), cached_tokens Nullable(Int64),
  reasoning_tokens Nullable(Int64), status LowCardinality(String), outcome LowCardinality(String),
  http_status Int32, error_code LowCardinality(Nullable(String)), streamed Bool, latency_ms Int32,
  ttft_ms Nullable(Int32), ip Nullable(String), losses_in_answer Int32, repeats Int32,
  attempts Nullable(String), attempts_omitted Nullable(Int32)`;

/**
 * Days first: a page of all users reads the newest day alone, and a wallet reads one range for each day. Each
 * day is a partition that becomes one part after ten minutes without new rows, and FINAL then has nothing to
 * merge: sums over 33 million rows of a month took four times as long with two parts a day.
 * https://clickhouse.com/docs/engines/table-engines/mergetree-family/replacingmergetree
 * https://clickhouse.com/docs/operations/settings/merge-tree-settings
 */
const ENGINE = ch`engine = ReplacingMergeTree partition by toDate(at)
  order by (toDate(at), wallet_id, at, request_id)
  settings min_age_to_force_merge_seconds = 600, min_age_to_force_merge_on_partition_only = 1`;

/** Whether a table has the shape of this release. */
export function isCurrent(table: string): boolean {
  return table.startsWith(`usage_v${VERSION}_`);
}

/** The name of a new table; `suffix` makes it unlike any earlier one. */
export function newTableName(suffix: string): string {
  return `usage_v${VERSION}_${suffix}`;
}

/** The identifier of the partition of a day, given as `2026-11-28`. Throws an Error for another text. */
export function partitionOf(day: string): ChStatement {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) throw new Error('Not a day of ClickHouse.');
  return { text: `'${day.replaceAll('-', '')}'`, parameters: [] };
}

/** Creates the table. */
export async function createTable(store: ClickHouseStore, table: string): Promise<void> {
  await store.command(ch`create table if not exists ${tableOf(table)} (${COLUMNS}) ${ENGINE}`);
}

/** Whether the table exists. */
export async function tableExists(store: ClickHouseStore, table: string): Promise<boolean> {
  const rows = await store.slowRows(
    ch`select count() as found from system.tables
      where database = currentDatabase() and name = ${textOf(table)}`,
  );
  return Number(rows[0]?.['found']) > 0;
}

/** Deletes the table if it exists. */
export async function dropTable(store: ClickHouseStore, table: string): Promise<void> {
  await store.command(ch`drop table if exists ${tableOf(table)} sync`);
}
