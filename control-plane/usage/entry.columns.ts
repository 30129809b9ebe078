/** The columns of the usage log, with the values that settlement stores in them. */
import { newId } from '../database/ids.ts';
import type { Statement } from '../database/sql.ts';
import { bigintArray, integerArray } from '../database/number-array.ts';
import { textArray } from '../database/text-array.ts';
import { storableTried } from './attempt.rules.ts';
import { storableCount, storableIp, storableText } from './settlement.rules.ts';
import type { ReportedUsage } from './settlement.rules.ts';

/** Largest values of the column types. */
const SMALLINT_MAX = 32_767;
const INTEGER_MAX = 2_147_483_647;

/** A record to store: the node that reported it, and its time in PostgreSQL's text format. */
export interface StoredUsage {
  usage: ReportedUsage;
  nodeId: string;
  at: string;
}

type Value = string | number | bigint | boolean | null;

interface Column<Type extends string, Item extends Value> {
  name: string;
  type: Type;
  value(stored: StoredUsage): Item | null;
}

type EntryColumn =
  | Column<'text', string>
  | Column<'timestamptz' | 'inet' | 'jsonb', string>
  | Column<'bigint', number | bigint>
  | Column<'integer', number>
  | Column<'smallint', number>
  | Column<'boolean', boolean>;

const COLUMNS: readonly EntryColumn[] = [
  { name: 'request_id', type: 'text', value: ({ usage }) => usage.requestId },
  { name: 'id', type: 'text', value: () => newId('use') },
  { name: 'at', type: 'timestamptz', value: ({ at }) => at },
  { name: 'node_id', type: 'text', value: ({ nodeId }) => nodeId },
  { name: 'key_id', type: 'text', value: ({ usage }) => usage.keyId },
  { name: 'wallet_id', type: 'text', value: ({ usage }) => usage.walletId },
  { name: 'pool_id', type: 'text', value: ({ usage }) => usage.poolId },
  { name: 'billing_group', type: 'text', value: ({ usage }) => usage.group },
  { name: 'source', type: 'text', value: ({ usage }) => usage.source },
  { name: 'model_name', type: 'text', value: ({ usage }) => storableText(usage.modelName) },
  { name: 'family', type: 'text', value: ({ usage }) => usage.family },
  { name: 'route_id', type: 'text', value: ({ usage }) => usage.routeId },
  { name: 'base_price', type: 'bigint', value: ({ usage }) => usage.basePrice },
  { name: 'ratio', type: 'text', value: ({ usage }) => usage.ratio },
  { name: 'cost', type: 'bigint', value: ({ usage }) => usage.cost },
  { name: 'input_tokens', type: 'bigint', value: ({ usage }) => count(usage.inputTokens) },
  { name: 'output_tokens', type: 'bigint', value: ({ usage }) => count(usage.outputTokens) },
  { name: 'cached_tokens', type: 'bigint', value: ({ usage }) => count(usage.cachedTokens) },
  { name: 'reasoning_tokens', type: 'bigint', value: ({ usage }) => count(usage.reasoningTokens) },
  { name: 'status', type: 'text', value: ({ usage }) => usage.status },
  { name: 'outcome', type: 'text', value: ({ usage }) => usage.outcome },
  {
    name: 'http_status',
    type: 'smallint',
    value: ({ usage }) => storableCount(usage.httpStatus, SMALLINT_MAX),
  },
  { name: 'error_code', type: 'text', value: ({ usage }) => textOrNull(usage.errorCode) },
  { name: 'streamed', type: 'boolean', value: ({ usage }) => usage.streamed },
  { name: 'latency_ms', type: 'integer', value: ({ usage }) => count(usage.latencyMs) },
  { name: 'ttft_ms', type: 'integer', value: ({ usage }) => count(usage.ttftMs) },
  { name: 'ip', type: 'inet', value: ({ usage }) => storableIp(usage.ip) },
  { name: 'losses_in_answer', type: 'integer', value: ({ usage }) => count(usage.lossesInAnswer) },
  { name: 'attempts', type: 'jsonb', value: ({ usage }) => attemptsOf(usage)?.attempts ?? null },
  { name: 'attempts_omitted', type: 'integer', value: ({ usage }) => attemptsOf(usage)?.omitted ?? null },
  { name: 'repeats', type: 'integer', value: ({ usage }) => count(usage.repeats ?? 0) },
];

/**
 * SQL that inserts the rows, with one array for each column, which PostgreSQL reads faster than JSON. A
 * column that has the same value in all rows, as many have in practice, is sent as that value.
 */
export function insertEntries(stored: readonly StoredUsage[]): Statement {
  const columns = COLUMNS.map((column, at) => {
    const { name, type } = column;
    const parameter = `$${at + 1}::${type}`;
    const { isArray, value } = parameterOf(column, stored);
    return isArray
      ? { name, selected: `r.${name}`, array: `${parameter}[]`, value }
      : { name, selected: parameter, array: undefined, value };
  });
  const varied = columns.filter(({ array }) => array !== undefined);
  const [arrays, columnsOfRow] = [varied.map(({ array }) => array), varied.map(({ name }) => name)];
  return {
    text: `insert into usage_entry (${columns.map(({ name }) => name).join(', ')})
      select ${columns.map(({ selected }) => selected).join(', ')}
      from unnest(${arrays.join(', ')}) as r (${columnsOfRow.join(', ')})`,
    values: columns.map(({ value }) => value),
  };
}

/** The parameter of a column: one value for all rows, or an array with a value for each. */
interface Parameter {
  isArray: boolean;
  value: unknown;
}

function parameterOf(column: EntryColumn, stored: readonly StoredUsage[]): Parameter {
  switch (column.type) {
    case 'text':
      return listed(stored.map(column.value), textArray);
    case 'bigint':
      return listed(stored.map(column.value), bigintArray);
    case 'integer':
      return listed(stored.map(column.value), integerArray);
    default:
      return listed<Value>(stored.map<Value>(column.value), (list) => list);
  }
}

function listed<Item extends Value>(
  list: readonly Item[],
  arrayOf: (list: readonly Item[]) => unknown,
): Parameter {
  const [first] = list;
  if (!isUniform(list)) return { isArray: true, value: arrayOf(list) };
  // The driver sends no bigint.
  return { isArray: false, value: typeof first === 'bigint' ? first.toString() : first };
}

/** Whether all values are equal. The ids differ in each row, so that the SQL has at least one array. */
function isUniform(values: readonly Value[]): boolean {
  return values.length > 1 && values.every((value) => value === values[0]);
}

function attemptsOf({ tried }: ReportedUsage): { attempts: string; omitted: number } | undefined {
  if (!tried) return undefined;
  const { attempts, omitted } = storableTried(tried);
  return { attempts: JSON.stringify(attempts), omitted };
}

function textOrNull(text: string | null): string | null {
  return text === null ? null : storableText(text);
}

function count(value: number | null): number | null {
  return value === null ? null : storableCount(value, INTEGER_MAX);
}
