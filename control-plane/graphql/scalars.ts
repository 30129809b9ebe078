/** The scalars of the API. Each parses its input strictly into an internal type. */
import { GraphQLError, GraphQLScalarType, Kind } from 'graphql';
import type { ValueNode } from 'graphql';
import { AMOUNT_MAX, formatDollars, parseDollars } from '@gateway/shared/money';
import { parseEmail } from '../process/email-address.ts';

const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;
const DECIMAL = /^-?\d{1,20}(\.\d{1,10})?$/;
const URL_LENGTH_MAX = 2048;
const JSON_DEPTH_MAX = 20;

/** Dollars as text in the API, micro-USD (bigint) internally. Refuses amounts beyond one million dollars. */
export const Money = textScalar<bigint>({
  name: 'Money',
  description: 'Decimal string in US dollars, at most 6 fraction digits, e.g. "0.255". Never a float.',
  serialize: (value) => formatDollars(expectBigint(value)),
  parse: (text) => {
    const amount = parseDollars(text);
    return amount === undefined || amount > AMOUNT_MAX || amount < -AMOUNT_MAX ? undefined : amount;
  },
});

/** A decimal number, as text in the API and internally: ratios, and counts beyond 2^53. */
export const Decimal = textScalar<string>({
  name: 'Decimal',
  description: 'Decimal string without a unit, e.g. a ratio "0.9" or a count of tokens.',
  serialize: (value) =>
    typeof value === 'bigint' || typeof value === 'number' ? value.toString() : expectString(value),
  parse: (text) => (DECIMAL.test(text) ? text : undefined),
});

/** RFC 3339 in the API, Date internally. */
export const DateTime = textScalar<Date>({
  name: 'DateTime',
  description: 'RFC 3339 UTC timestamp with milliseconds.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
  serialize: (value) => {
    if (value instanceof Date) return value.toISOString();
    return new Date(typeof value === 'number' ? value : expectString(value)).toISOString();
  },
  parse: (text) => {
    const date = DATE_TIME.test(text) ? new Date(text) : undefined;
    return date && !Number.isNaN(date.getTime()) ? date : undefined;
  },
});

/** An absolute http or https address without user and password; its text is kept unchanged. */
export const WebAddress = textScalar<string>({
  name: 'URL',
  description: 'Absolute http or https address.',
  serialize: expectString,
  parse: (text) => (text.length <= URL_LENGTH_MAX && isWebAddress(text) ? text : undefined),
});

/** An e-mail address in lower case. */
export const EmailAddress = textScalar<string>({
  name: 'EmailAddress',
  description: 'E-mail address; converted to lower case.',
  serialize: expectString,
  parse: parseEmail,
});

/** Any JSON value; a literal may be at most 20 levels deep. */
export const AnyJson = new GraphQLScalarType({
  name: 'JSON',
  description: 'Any JSON value.',
  serialize: (value) => value,
  parseValue: (value) => value,
  parseLiteral: (node, variables) => literalOf(node, { variables: variables ?? {}, depth: 0 }),
});

interface TextScalar<T> {
  name: string;
  description: string;
  specifiedByURL?: string;
  serialize: (value: unknown) => string;
  /** Returns undefined for an invalid text. */
  parse: (text: string) => T | undefined;
}

function textScalar<T>({ parse, ...config }: TextScalar<T>): GraphQLScalarType<T, string> {
  const parseValue = (value: unknown): T => {
    const parsed = typeof value === 'string' ? parse(value) : undefined;
    if (parsed === undefined) throw refusal(`This is not a valid ${config.name}. ${config.description}`);
    return parsed;
  };
  return new GraphQLScalarType<T, string>({
    ...config,
    parseValue,
    parseLiteral: (node) => parseValue(node.kind === Kind.STRING ? node.value : undefined),
  });
}

function literalOf(node: ValueNode, at: { variables: Record<string, unknown>; depth: number }): unknown {
  if (at.depth > JSON_DEPTH_MAX)
    throw refusal(`This JSON value is nested too deeply: at most ${JSON_DEPTH_MAX} levels.`);
  const inner = { variables: at.variables, depth: at.depth + 1 };
  switch (node.kind) {
    case Kind.NULL:
      return null;
    case Kind.INT:
    case Kind.FLOAT:
      return Number(node.value);
    case Kind.LIST:
      return node.values.map((value) => literalOf(value, inner));
    case Kind.OBJECT:
      return Object.fromEntries(
        node.fields.map((field) => [field.name.value, literalOf(field.value, inner)]),
      );
    case Kind.VARIABLE:
      return at.variables[node.name.value];
    default:
      return node.value;
  }
}

function refusal(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT' } });
}

function isWebAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return (protocol === 'https:' || protocol === 'http:') && !username && !password;
}

function expectString(value: unknown): string {
  if (typeof value !== 'string')
    throw new TypeError(`A scalar must resolve to a string, not ${typeof value}.`);
  return value;
}

function expectBigint(value: unknown): bigint {
  if (typeof value !== 'bigint') throw new TypeError(`Money must resolve to a bigint, not ${typeof value}.`);
  return value;
}
