/**
 * Shapes of values in a configuration file. Each shape reads an unknown value strictly and has a JSON Schema,
 * so that parser and schema cannot differ.
 */

/** A JSON Schema, draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Reads values of one type. `at` is the place of the value, for errors. Throws a DocumentError. */
export interface Shape<T> {
  readonly schema: JsonSchema;
  read(value: unknown, at: string): T;
}

/** A configuration file that cannot be read. The message names the place and says what to write. */
export class DocumentError extends Error {
  constructor(at: string, advice: string) {
    super(at === '' ? advice : `${at}: ${advice}`);
    this.name = 'DocumentError';
  }
}

/** Maximum number of elements of one list. */
const LIST_MAX = 5_000;

/** The same shape with a description in the schema. */
export function described<T>(description: string, { schema, read }: Shape<T>): Shape<T> {
  return { schema: { description, ...schema }, read };
}

/** A text of at most `max` characters, kept as it is. */
export function text(max: number): Shape<string> {
  return {
    schema: { type: 'string', maxLength: max },
    read: (value, at) => {
      if (typeof value === 'string' && value.length <= max) return value;
      throw new DocumentError(at, `Write a text of at most ${max} characters.`);
    },
  };
}

/** A text of 1 to `max` characters on one line, without spaces around it. */
export function line(max: number): Shape<string> {
  const pattern = /^\S(?:[^\r\n]*\S)?$/;
  return {
    schema: { type: 'string', minLength: 1, maxLength: max, pattern: pattern.source },
    read: (value, at) => {
      if (typeof value === 'string' && value.length <= max && pattern.test(value)) return value;
      throw new DocumentError(at, `Write one line of 1 to ${max} characters, without spaces around it.`);
    },
  };
}

/** A text of 1 to `max` characters; spaces and line ends around it are removed. */
export function paragraph(max: number): Shape<string> {
  return {
    schema: { type: 'string', minLength: 1, maxLength: max },
    read: (value, at) => {
      const trimmed = typeof value === 'string' ? value.trim() : '';
      if (trimmed !== '' && trimmed.length <= max) return trimmed;
      throw new DocumentError(at, `Write a text of 1 to ${max} characters.`);
    },
  };
}

/** A text that `parse` turns into its canonical form; undefined refuses it. */
export function canonical(
  parse: (value: string) => string | undefined,
  { advice, schema }: { advice: string; schema: JsonSchema },
): Shape<string> {
  return {
    schema,
    read: (value, at) => {
      const parsed =
        typeof value === 'string' || typeof value === 'number' ? parse(String(value)) : undefined;
      if (parsed !== undefined) return parsed;
      throw new DocumentError(at, advice);
    },
  };
}

/** A whole number from `minimum` to `maximum`. */
export function integer(minimum: number, maximum: number): Shape<number> {
  return {
    schema: { type: 'integer', minimum, maximum },
    read: (value, at) => {
      if (Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum)
        return Number(value);
      throw new DocumentError(at, `Write a whole number from ${minimum} to ${maximum}.`);
    },
  };
}

/** Any finite number. */
export const number: Shape<number> = {
  schema: { type: 'number' },
  read: (value, at) => {
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    throw new DocumentError(at, 'Write a number.');
  },
};

/** True or false. */
export const flag: Shape<boolean> = {
  schema: { type: 'boolean' },
  read: (value, at) => {
    if (typeof value === 'boolean') return value;
    throw new DocumentError(at, 'Write true or false.');
  },
};

/** One of these words or numbers. */
export function oneOf<const Word extends string | number | boolean>(words: readonly Word[]): Shape<Word> {
  return {
    schema: { enum: words },
    read: (value, at) => {
      const word = words.find((each) => each === value);
      if (word !== undefined) return word;
      throw new DocumentError(at, `Write one of ${words.join(', ')}.`);
    },
  };
}

/** The value, or null. */
export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return {
    schema: { anyOf: [shape.schema, { type: 'null' }] },
    read: (value, at) => (value === null ? null : shape.read(value, at)),
  };
}

/** A list. With `isSet` no element may be there twice. */
export function list<T>(shape: Shape<T>, { isSet = false, min = 0 } = {}): Shape<T[]> {
  return {
    schema: {
      type: 'array',
      items: shape.schema,
      maxItems: LIST_MAX,
      ...(min > 0 && { minItems: min }),
      ...(isSet && { uniqueItems: true }),
    },
    read: (value, at) => {
      if (!Array.isArray(value) || value.length > LIST_MAX || value.length < min)
        throw new DocumentError(at, `Write a list of ${min} to ${LIST_MAX} elements.`);
      const elements = value.map((element: unknown, index) => shape.read(element, `${at}/${index}`));
      if (isSet && new Set(elements).size < elements.length)
        throw new DocumentError(at, 'An element is in the list twice. Remove one of both.');
      return elements;
    },
  };
}

type Fields = Readonly<Record<string, Shape<unknown>>>;
type Read<S> = S extends Shape<infer T> ? T : never;
/** An object with these fields. Those that are not `Required` may be missing. */
type ObjectOf<F extends Fields, Required extends keyof F> = {
  [Name in Required]: Read<F[Name]>;
} & { [Name in Exclude<keyof F, Required>]?: Read<F[Name]> };

/** An object. Unknown fields are refused, because they are usually spelled wrongly. */
export function object<F extends Fields, const Required extends keyof F & string = never>(
  fields: F,
  required: readonly Required[] = [],
): Shape<ObjectOf<F, Required>> {
  const names = Object.keys(fields);
  const properties = Object.fromEntries(names.map((name) => [name, fields[name]?.schema]));
  return {
    schema: {
      type: 'object',
      properties,
      additionalProperties: false,
      ...(required.length > 0 && { required }),
    },
    read: (value, at) => {
      const given = membersOf(value, at);
      const unknown = Object.keys(given).find((name) => !Object.hasOwn(fields, name));
      if (unknown !== undefined)
        throw new DocumentError(at, `There is no field ${unknown}. Known fields: ${names.join(', ')}.`);
      const missing = required.find((name) => !Object.hasOwn(given, name));
      if (missing !== undefined) throw new DocumentError(at, `The field ${missing} is missing. Add it.`);
      const entries = Object.entries(given).map(([name, each]) => [
        name,
        fields[name]?.read(each, at === '' ? name : `${at}/${name}`),
      ]);
      return Object.fromEntries(entries) as ObjectOf<F, Required>;
    },
  };
}

function membersOf(value: unknown, at: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new DocumentError(at, 'Write fields with their values here.');
}

/** The value of a shape. */
export type ValueOf<S> = Read<S>;
