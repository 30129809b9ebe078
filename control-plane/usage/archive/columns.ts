/** The columns of the archived usage log: how they are read from PostgreSQL, and their types in Parquet. */
import type { SchemaElement } from 'hyparquet';
import { sql } from '../../database/sql.ts';
import type { Statement } from '../../database/sql.ts';

/** A value as Parquet stores it: times are µs since 1970, money is micro-USD. */
export type ArchiveValue = string | bigint | number | boolean | null;

/** A column of the archive. */
interface ArchiveColumn {
  name: string;
  type: 'text' | 'time' | 'int64' | 'int32' | 'boolean';
  /** Whether every row has a value. */
  isRequired: boolean;
  /** The expression over `usage_entry u`; the column itself by default. */
  from?: Statement;
}

const required = (type: ArchiveColumn['type'], name: string, from?: Statement): ArchiveColumn => ({
  ...{ name, type, isRequired: true },
  ...(from && { from }),
});
const optional = (type: ArchiveColumn['type'], name: string, from?: Statement): ArchiveColumn => ({
  ...{ name, type, isRequired: false },
  ...(from && { from }),
});

/** All columns of the usage log, under their names there. */
export const ARCHIVE_COLUMNS: readonly ArchiveColumn[] = [
  required('text', 'request_id'),
  required('text', 'id'),
  required('time', 'at', sql`(extract(epoch from u.at) * 1000000)::bigint`),
  required('time', 'recorded_at', sql`(extract(epoch from u.recorded_at) * 1000000)::bigint`),
  required('text', 'node_id'),
  required('text', 'key_id'),
  required('text', 'wallet_id'),
  optional('text', 'pool_id'),
  required('text', 'billing_group'),
  required('text', 'source'),
  required('text', 'model_name'),
  required('text', 'family'),
  optional('text', 'route_id'),
  required('int64', 'base_price'),
  required('text', 'ratio'),
  required('int64', 'cost'),
  optional('int64', 'input_tokens'),
  optional('int64', 'output_tokens'),
  optional('int64', 'cached_tokens'),
  optional('int64', 'reasoning_tokens'),
  required('text', 'status'),
  required('text', 'outcome'),
  required('int32', 'http_status'),
  optional('text', 'error_code'),
  required('boolean', 'streamed'),
  required('int32', 'latency_ms'),
  optional('int32', 'ttft_ms'),
  optional('text', 'ip', sql`host(u.ip)`),
  required('int32', 'losses_in_answer'),
  required('int32', 'repeats'),
  optional('text', 'attempts', sql`u.attempts::text`),
  optional('int32', 'attempts_omitted'),
];

/** Position of the charge in micro-USD among the columns. */
export const COST_AT = ARCHIVE_COLUMNS.findIndex(({ name }) => name === 'cost');

/** The select list of all columns over `usage_entry u`. */
export const SELECTED: Statement = ARCHIVE_COLUMNS.reduce<Statement>(
  (list, { name, from }, at) => {
    const value = from ?? { text: `u.${name}`, values: [] };
    return { text: `${list.text}${at === 0 ? '' : ', '}${value.text} as "${name}"`, values: [] };
  },
  sql``,
);

/** A row as PostgreSQL gives it: 64-bit integers are texts. */
export type StoredRow = Readonly<Record<string, string | number | boolean | null>>;

/** The values of one column. */
export function columnOf({ name, type }: ArchiveColumn, rows: readonly StoredRow[]): ArchiveValue[] {
  return rows.map((row) => valueOf(type, row[name]));
}

function valueOf(type: ArchiveColumn['type'], value: StoredRow[string] = null): ArchiveValue {
  if (value === null) return null;
  if (type === 'int64' || type === 'time') return BigInt(String(value));
  if (type === 'int32') return Number(value);
  return type === 'boolean' ? value === true : String(value);
}

/** Types of Parquet. Older readers know the converted types, newer ones the logical types. */
const TYPES: Readonly<
  Record<ArchiveColumn['type'], Pick<SchemaElement, 'type' | 'converted_type' | 'logical_type'>>
> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  time: {
    ...{ type: 'INT64', converted_type: 'TIMESTAMP_MICROS' },
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
  },
  int64: { type: 'INT64' },
  int32: { type: 'INT32' },
  boolean: { type: 'BOOLEAN' },
};

/** The schema of the files. https://parquet.apache.org/docs/file-format/types/logicaltypes/ */
export const ARCHIVE_SCHEMA: SchemaElement[] = [
  { name: 'usage', num_children: ARCHIVE_COLUMNS.length },
  ...ARCHIVE_COLUMNS.map(({ name, type, isRequired }): SchemaElement => ({
    ...{ name, repetition_type: isRequired ? 'REQUIRED' : 'OPTIONAL' },
    ...TYPES[type],
  })),
];
