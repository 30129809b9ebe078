/** The connection to ClickHouse over HTTP, with the official client. Every answer is checked and bounded. */
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { ClickHouseClient } from '@clickhouse/client';
import { parametersOf } from './statement.ts';
import type { ChStatement } from './statement.ts';

/** How long a question of a page may take; then PostgreSQL answers. */
const READ_MS_MAX = 5_000;
/** How long an insert, a change of a table or a comparison may take. */
const WRITE_MS_MAX = 120_000;
const CONNECTIONS_MAX = 16;

/** One row of an answer: text, number or null by column. */
export type ChRow = Readonly<Record<string, unknown>>;

/** Reads and writes of ClickHouse. Every method rejects if the server is away, slow or answers nonsense. */
export class ClickHouseStore {
  readonly #client: ClickHouseClient;
  readonly #readMs: number;

  /** `url` holds user, password and database, e.g. `https://user:password@host:8443/gateway`. */
  constructor(url: string, readMs: number = READ_MS_MAX) {
    this.#readMs = readMs;
    const { protocol, host, username, password, pathname } = new URL(url);
    this.#client = createClient({
      url: `${protocol}//${host}`,
      ...(username && { username: decodeURIComponent(username) }),
      ...(password && { password: decodeURIComponent(password) }),
      ...(pathname.length > 1 && { database: decodeURIComponent(pathname.slice(1)) }),
      application: 'gateway',
      request_timeout: WRITE_MS_MAX,
      max_open_connections: CONNECTIONS_MAX,
      // Without logs: error texts can quote rows.
      log: { level: ClickHouseLogLevel.OFF },
      use_multipart_params_auto: true,
    });
  }

  /** The rows of a question that pages ask. */
  rows(statement: ChStatement): Promise<ChRow[]> {
    return this.#select(statement, this.#readMs);
  }

  /** The rows of a question of the export, which may take longer. */
  slowRows(statement: ChStatement): Promise<ChRow[]> {
    return this.#select(statement, WRITE_MS_MAX);
  }

  /** Runs a statement without an answer. Resolves when its effect is visible on the server asked. */
  async command(statement: ChStatement): Promise<void> {
    await this.#client.command({
      query: statement.text,
      query_params: parametersOf(statement),
      abort_signal: AbortSignal.timeout(WRITE_MS_MAX),
      // https://clickhouse.com/docs/operations/settings/settings#wait_end_of_query: errors come as a status.
      clickhouse_settings: { wait_end_of_query: 1 },
    });
  }

  /** Inserts rows, given as lines of JSON. Resolves when the server has stored all of them. */
  async insert(table: string, lines: string): Promise<void> {
    const { stream } = await this.#client.exec({
      query: `insert into ${table} format JSONEachRow`,
      values: Readable.from([Buffer.from(lines)], { objectMode: false }),
      abort_signal: AbortSignal.timeout(WRITE_MS_MAX),
      clickhouse_settings: {
        async_insert: 0,
        wait_end_of_query: 1,
        insert_deduplicate: 0,
        // Each day is a partition, and few requests may lie in many days.
        max_partitions_per_insert_block: '0',
        // `exact_at` of each line is the position of the rebuild.
        input_format_skip_unknown_fields: 1,
      },
    });
    await finished(stream.resume());
  }

  /** Closes the connections. */
  close(): Promise<void> {
    return this.#client.close();
  }

  async #select(statement: ChStatement, withinMs: number): Promise<ChRow[]> {
    const answer = await this.#client.query({
      query: statement.text,
      query_params: parametersOf(statement),
      format: 'JSON',
      abort_signal: AbortSignal.timeout(withinMs),
      clickhouse_settings: {
        wait_end_of_query: 1,
        max_execution_time: Math.ceil(withinMs / 1000),
        output_format_json_quote_64bit_integers: 1,
        do_not_merge_across_partitions_select_final: 1,
      },
    });
    return checkedRows(await answer.json());
  }
}

/** The rows of an answer in the format JSON. Throws an Error if it is not whole. */
function checkedRows(answer: unknown): ChRow[] {
  const { data, rows } = (answer ?? {}) as { data?: unknown; rows?: unknown };
  if (!Array.isArray(data) || data.length !== rows || !data.every(isRow))
    throw new Error('ClickHouse answered without whole rows.');
  return data;
}

function isRow(value: unknown): value is ChRow {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
