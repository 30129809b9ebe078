/**
 * Runs statements that are sent together. Statements sent one by one wait for each other: this process reads
 * an answer only after its other work, often some ms later.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
 */
import { CompiledQuery } from 'kysely';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Query } from 'pg';
import type { Connection } from 'pg';
import { parameterOf } from './array-literal.ts';
import { query } from './sql.ts';
import type { Statement } from './sql.ts';

/** A statement, and how its rows are read. */
export interface ReadStatement<Result> {
  statement: Statement;
  read(rows: readonly unknown[]): Result;
}

/** A statement whose rows have the members of `Row`, as the statement selects them. */
export function reading<Row, Result>(
  statement: Statement,
  read: (rows: readonly Row[]) => Result,
): ReadStatement<Result> {
  return { statement, read: (rows) => read(rows as readonly Row[]) };
}

/** A statement whose rows are not read. */
export function command(statement: Statement): ReadStatement<undefined> {
  return { statement, read: () => undefined };
}

/** Runs one statement, in the transaction of `em` if it has one, and returns its result. */
export async function run<Result>(
  em: EntityManager,
  { statement, read }: ReadStatement<Result>,
): Promise<Result> {
  return read(await query(em, statement));
}

/**
 * Runs the statements one after another in the transaction of `em`, and returns their results. Throws the
 * error of the first statement that fails; the statements after it do not run. Throws an Error without a
 * transaction.
 */
export async function runTogether<Results extends readonly unknown[]>(
  em: EntityManager,
  statements: { readonly [At in keyof Results]: ReadStatement<Results[At]> },
): Promise<Results> {
  const results: unknown = statements.length === 0 ? [] : await resultsOf(em, statements);
  return results as Results;
}

async function resultsOf(
  em: EntityManager,
  statements: readonly ReadStatement<unknown>[],
): Promise<unknown[]> {
  if (!em.isInTransaction()) throw new Error('Statements are sent together only in a transaction.');
  const { message, results } = messageOf(statements.map(({ statement }) => statement));
  // Kysely passes the text of a statement to the driver, which accepts an object in its place. It does not
  // wait for the results then: statements that follow in the transaction wait in the queue of the driver.
  const compiled = Object.assign({}, CompiledQuery.raw(''), { sql: message });
  const [rows] = await Promise.all([results, em.getKysely().executeQuery(compiled)]);
  if (rows.length !== statements.length)
    throw new Error(`PostgreSQL gave ${rows.length} results to ${statements.length} statements.`);
  return rows.map((list, at) => statements[at]?.read(list));
}

/** The driver gives one result alone, and several as a list. */
type Received = { rows: unknown[] } | { rows: unknown[] }[];

/** A query of the driver that sends several statements as one message, and the rows of each. */
function messageOf(statements: readonly Statement[]): { message: Query; results: Promise<unknown[][]> } {
  const { promise: results, resolve, reject } = Promise.withResolvers<unknown[][]>();
  const message = new Query('', (error, received: Received) => {
    if (error) reject(error);
    else resolve([received].flat().map(({ rows }) => rows));
  });
  const parts = statements.map(({ text, values }) => ({ text, values: values.map(wireValue) }));
  message.submit = (connection) => {
    const { stream } = connection;
    stream.cork();
    try {
      // The driver keeps this message until PostgreSQL has answered, and needs the values only until now.
      for (const part of parts.splice(0)) send(connection, part);
      connection.sync();
    } catch (error) {
      // Without the sync, PostgreSQL would wait for the rest for ever, inside the transaction.
      stream.destroy(error instanceof Error ? error : undefined);
    } finally {
      stream.uncork();
    }
  };
  return { message, results };
}

type WireValue = Buffer | string | null;

/** Sends a statement. PostgreSQL runs it, and answers after `sync` at the latest. */
function send(connection: Connection, { text, values }: { text: string; values: WireValue[] }): void {
  connection.parse({ name: '', text, types: [] }, true);
  connection.bind({ values }, true);
  connection.describe({ type: 'P' }, true);
  connection.execute(null, true);
}

function wireValue(value: unknown): WireValue {
  const parameter = parameterOf(value);
  if (parameter === null || parameter === undefined) return null;
  if (typeof parameter === 'string' || Buffer.isBuffer(parameter)) return parameter;
  if (typeof parameter === 'number' || typeof parameter === 'boolean') return String(parameter);
  throw new TypeError('A parameter is neither text, number, boolean, bytes nor a list of them.');
}
