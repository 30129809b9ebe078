/** Parameterised SQL in the transaction of an EntityManager, used instead of the ORM's unit of work. */
import { CompiledQuery } from 'kysely';
import type { EntityManager } from '@mikro-orm/postgresql';
import { parameterOf } from './array-literal.ts';

/** An SQL statement. Values are passed as parameters, never inside the text. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Maximum number of attempts of a transaction that fails with a deadlock or serialization failure. */
const ATTEMPTS_MAX = 4;
/**
 * https://www.postgresql.org/docs/current/errcodes-appendix.html: deadlock_detected, serialization_failure.
 */
const REPEATABLE: ReadonlySet<unknown> = new Set(['40P01', '40001']);

/**
 * Rolls a transaction back and makes `inTransaction` repeat it. Thrown when rows that decided which locks to
 * take have changed before the locks were held.
 */
export class RetryTransaction extends Error {
  readonly code = '40001';
}

/** Builds a statement from a template. A statement used as a value is inserted with its values. */
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Statement {
  let text = strings[0] ?? '';
  const collected: unknown[] = [];
  values.forEach((value, at) => {
    if (isStatement(value)) {
      text += value.text.replace(/\$(\d+)/g, (_, number: string) => `$${Number(number) + collected.length}`);
      collected.push(...value.values);
    } else {
      collected.push(typeof value === 'bigint' ? value.toString() : value);
      text += `$${collected.length}`;
    }
    text += strings[at + 1] ?? '';
  });
  return { text, values: collected };
}

/** Joins conditions with `and`; `true` without conditions. */
export function all(conditions: readonly Statement[]): Statement {
  return conditions.reduce((left, right) => sql`${left} and ${right}`, sql`true`);
}

/** Runs the statement, in the transaction of `em` if it has one. bigint and timestamp columns are strings. */
export async function query<Row>(em: EntityManager, statement: Statement): Promise<Row[]> {
  const compiled = CompiledQuery.raw(statement.text, statement.values.map(parameterOf));
  const result = await em.getKysely().executeQuery(compiled);
  return result.rows as Row[];
}

/** Runs the statement and returns its first row; undefined without rows. */
export async function queryOne<Row>(em: EntityManager, statement: Statement): Promise<Row | undefined> {
  return (await query<Row>(em, statement))[0];
}

/** Runs a statement that always has a row, as an aggregate does, and returns its first row. */
export async function queryRow<Row>(em: EntityManager, statement: Statement): Promise<Row> {
  const row = await queryOne<Row>(em, statement);
  if (!row) throw new Error(`A statement without rows: ${statement.text}`);
  return row;
}

/**
 * Runs `work` in the transaction of `em` if it has one, else in a new one, which is repeated after a
 * deadlock, serialization failure or RetryTransaction. `work` may therefore run several times.
 */
export async function inTransaction<T>(
  em: EntityManager,
  work: (em: EntityManager) => Promise<T>,
): Promise<T> {
  if (em.isInTransaction()) return work(em);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await em.fork().transactional((inner) => work(inner));
    } catch (error) {
      if (attempt === ATTEMPTS_MAX || !isRepeatable(error)) throw error;
    }
  }
}

/** Parses a timestamp in PostgreSQL's text format. */
export function toDate(text: string): Date {
  return new Date(text.replace(' ', 'T').replace(/([+-]\d{2})$/, '$1:00'));
}

function isStatement(value: unknown): value is Statement {
  return typeof value === 'object' && value !== null && 'text' in value && 'values' in value;
}

function isRepeatable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && REPEATABLE.has(error.code);
}
