/** Statements for ClickHouse. Values travel as query parameters, beside the text and never inside. */
import { toMicros } from './times.ts';

/** Types of parameters, https://clickhouse.com/docs/interfaces/cli#cli-queries-with-parameters-syntax. */
type ParameterType = 'String' | 'Array(String)' | 'Int64' | 'UInt32';

interface Parameter {
  type: ParameterType;
  value: string | number | readonly string[];
}

/** A text with `{p0:Type}` for each parameter. */
export interface ChStatement {
  text: string;
  parameters: readonly Parameter[];
}

/** Builds a statement from a template whose values are statements. */
export function ch(strings: TemplateStringsArray, ...parts: readonly ChStatement[]): ChStatement {
  let text = strings[0] ?? '';
  const parameters: Parameter[] = [];
  parts.forEach((part, at) => {
    text += part.text.replace(
      /\{p(\d+):/g,
      (_, number: string) => `{p${Number(number) + parameters.length}:`,
    );
    parameters.push(...part.parameters);
    text += strings[at + 1] ?? '';
  });
  return { text, parameters };
}

/** A parameter. */
function parameter(type: ParameterType, value: Parameter['value']): ChStatement {
  return { text: `{p0:${type}}`, parameters: [{ type, value }] };
}

export const textOf = (value: string): ChStatement => parameter('String', value);
export const textsOf = (values: readonly string[]): ChStatement => parameter('Array(String)', values);
export const countOf = (value: number): ChStatement => parameter('UInt32', value);
export const microsOf = (value: bigint): ChStatement => parameter('Int64', value.toString());

/** Limits of DateTime64, https://clickhouse.com/docs/sql-reference/data-types/datetime64: 1900 and 2299. */
const TIME_MIN = BigInt(Date.UTC(1900, 0)) * 1000n;
const TIME_MAX = BigInt(Date.UTC(2299, 0)) * 1000n;

/** A time with microseconds, in UTC; times that ClickHouse cannot hold are moved to its limits. */
export function timeOf(at: Date | string): ChStatement {
  const micros = toMicros(at);
  const held = micros < TIME_MIN ? TIME_MIN : micros > TIME_MAX ? TIME_MAX : micros;
  return ch`fromUnixTimestamp64Micro(${microsOf(held)}, 'UTC')`;
}

/** Joins conditions with `and`; true without conditions. */
export function allOf(conditions: readonly ChStatement[]): ChStatement {
  return conditions.reduce((left, right) => ch`${left} and ${right}`, ch`true`);
}

/** Joins statements with commas. */
export function listOf(statements: readonly ChStatement[]): ChStatement {
  return statements.reduce((left, right) => ch`${left}, ${right}`);
}

/** The name of a table. Throws an Error for a name that would need quotes. */
export function tableOf(name: string): ChStatement {
  if (!/^[a-z0-9_]{1,60}$/.test(name)) throw new Error(`Not a table of the export: ${name}`);
  return { text: name, parameters: [] };
}

/** Parameters by name, as the client sends them. */
export function parametersOf(statement: ChStatement): Record<string, Parameter['value']> {
  return Object.fromEntries(statement.parameters.map(({ value }, at) => [`p${at}`, value]));
}
