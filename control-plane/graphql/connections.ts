/** Relay connections with keyset pagination: page arguments, cursors, and connection types. */
import 'reflect-metadata';
import { ArgsType, Field, Int, ObjectType } from 'type-graphql';
import type { ClassType } from 'type-graphql';
import { PAGE_MAX } from '../limits.ts';
import { requestError } from './errors.ts';

const CURSOR_LENGTH_MAX = 1024;

/** Position of a page in its list. */
@ObjectType({ description: 'Position of a page in its list.' })
export class PageInfo {
  @Field(() => Boolean, { description: 'Whether more items follow the page.' })
  hasNextPage!: boolean;

  @Field(() => Boolean, { description: 'Whether items precede the page.' })
  hasPreviousPage!: boolean;

  @Field(() => String, { nullable: true, description: 'Cursor of the first item.' })
  startCursor?: string | null;

  @Field(() => String, { nullable: true, description: 'Cursor of the last item; pass it as `after`.' })
  endCursor?: string | null;
}

/** `first` and `after` of a list, with a default page size of 20. */
@ArgsType()
export class PageArguments {
  @Field(() => Int, { defaultValue: 20, description: 'Page size, 1 to 100.' })
  first!: number;

  @Field(() => String, { nullable: true, description: 'Cursor of the item before the page.' })
  after?: string | null;
}

/** Like PageArguments with a default page size of 50, for catalogs, logs and administrators. */
@ArgsType()
export class LongPageArguments {
  @Field(() => Int, { defaultValue: 50, description: 'Page size, 1 to 100.' })
  first!: number;

  @Field(() => String, { nullable: true, description: 'Cursor of the item before the page.' })
  after?: string | null;
}

/** One page of a list, as connection types resolve it. */
export interface Connection<T> {
  edges: { cursor: string; node: T }[];
  nodes: T[];
  pageInfo: PageInfo;
  /** Counts the items on all pages; called only if the operation selects `totalCount`. */
  count(): Promise<number | null>;
}

/**
 * Creates the GraphQL connection and edge types of an item type. `countable: false` makes totalCount
 * nullable.
 */
export function connectionOf<T extends object>(
  name: string,
  node: ClassType<T>,
  { countable = true }: { countable?: boolean } = {},
): ClassType<Connection<T>> {
  @ObjectType(`${name}Edge`, { description: `One ${name} in a list.` })
  class Edge {
    @Field(() => String, { description: 'Opaque position of the item in the list.' })
    cursor!: string;

    @Field(() => node, { description: 'The item.' })
    node!: T;
  }

  @ObjectType(`${name}Connection`, { description: `A page of a list of ${name}.` })
  class ConnectionType {
    @Field(() => [Edge], { description: 'The items with their cursors.' })
    edges!: Edge[];

    @Field(() => [node], { description: 'The items.' })
    nodes!: T[];

    @Field(() => PageInfo, { description: 'Position of the page in the list.' })
    pageInfo!: PageInfo;

    count!: () => Promise<number | null>;

    @Field(() => Int, {
      nullable: !countable,
      description: countable
        ? 'Number of items on all pages.'
        : 'Number of items on all pages; null if counting is too expensive.',
    })
    totalCount(): Promise<number | null> {
      return this.count();
    }
  }
  return ConnectionType;
}

/** The page size `first`. Throws BAD_USER_INPUT outside 1 to 100. */
export function pageSize(first: number): number {
  if (first >= 1 && first <= PAGE_MAX) return first;
  throw requestError('BAD_USER_INPUT', `first must be between 1 and ${PAGE_MAX}.`);
}

/** Encodes the sort values of an item as an opaque cursor. */
export function encodeCursor(values: readonly (string | number | null)[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

/**
 * The `length` sort values in a cursor; undefined without one. Throws BAD_USER_INPUT for a malformed cursor.
 */
export function decodeCursor(
  cursor: string | null | undefined,
  length: number,
): (string | number | null)[] | undefined {
  if (cursor === null || cursor === undefined) return undefined;
  try {
    const values: unknown =
      cursor.length <= CURSOR_LENGTH_MAX ? JSON.parse(Buffer.from(cursor, 'base64url').toString()) : null;
    if (Array.isArray(values) && values.length === length && values.every(isCursorValue)) return values;
  } catch {
    // Not JSON: refused below.
  }
  throw requestError('BAD_USER_INPUT', 'This cursor does not belong to this list. Start without `after`.');
}

/** A connection from up to `first + 1` rows; the extra row only shows that there is a next page. */
export function connectionFrom<Row, T>(
  rows: readonly Row[],
  page: {
    first: number;
    after?: string | null | undefined;
    /** Number of items on all pages, or a function that queries it. */
    totalCount: number | null | (() => Promise<number | null>);
    cursor: (row: Row) => string;
    node: (row: Row) => T;
  },
): Connection<T> {
  const edges = rows.slice(0, page.first).map((row) => ({ cursor: page.cursor(row), node: page.node(row) }));
  return {
    edges,
    nodes: edges.map((edge) => edge.node),
    pageInfo: {
      hasNextPage: rows.length > page.first,
      hasPreviousPage: Boolean(page.after),
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    count: async () => (typeof page.totalCount === 'function' ? page.totalCount() : page.totalCount),
  };
}

function isCursorValue(value: unknown): value is string | number | null {
  return value === null || typeof value === 'string' || typeof value === 'number';
}
