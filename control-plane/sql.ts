/**
 * Parameterised SQL in the transaction of an EntityManager: what money and the config log use instead of
 * the unit of work.
 */
import { CompiledQuery } from 'kysely';
import type { EntityManager } from '@mikro-orm/postgresql';

/** A statement whose values travel beside the text, never inside it. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** How often a transaction is repeated after PostgreSQL chose it as the victim of a deadlock. */
const ATTEMPTS = 4;
const REPEATABLE: ReadonlySet<unknown> = new Set(['40P01', '40001']);

/**
 * Ends a transaction that chose its locks by what has changed meanwhile: `inTransaction` begins it anew, as
 * after a serialization failure.
 */
export class Overtaken extends Error {
  readonly code = '40001';
}

/** Builds a statement from a template; a statement used as a value is spliced in with its own values. */
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

/** Joins conditions with `and`; no condition is true. */
export function all(conditions: readonly Statement[]): Statement {
  return conditions.reduce((left, right) => sql`${left} and ${right}`, sql`true`);
}

/**
 * Runs the statement in the transaction of `em`, if it has one. bigint and timestamp columns arrive as
 * strings.
 */
export async function query<Row>(em: EntityManager, statement: Statement): Promise<Row[]> {
  const compiled = CompiledQuery.raw(statement.text, [...statement.values]);
  const result = await em.getKysely().executeQuery(compiled);
  return result.rows as Row[];
}

/** The first row, or undefined. */
export async function queryOne<Row>(em: EntityManager, statement: Statement): Promise<Row | undefined> {
  return (await query<Row>(em, statement))[0];
}

/**
 * Runs `work` in a transaction (in that of `em`, if it has one) and repeats it when PostgreSQL ended it for
 * a deadlock, or it was overtaken. Only the outermost transaction can be repeated.
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
      if (attempt === ATTEMPTS || !isRepeatable(error)) throw error;
    }
  }
}

/** A timestamp as PostgreSQL prints it, as a Date. */
export function toDate(text: string): Date {
  return new Date(text.replace(' ', 'T').replace(/([+-]\d{2})$/, '$1:00'));
}

function isStatement(value: unknown): value is Statement {
  return typeof value === 'object' && value !== null && 'text' in value && 'values' in value;
}

function isRepeatable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && REPEATABLE.has(error.code);
}
