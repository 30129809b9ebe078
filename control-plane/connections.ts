/** Relay connections with keyset paging: page arguments, cursors, and the types around a list. */
import 'reflect-metadata';
import { ArgsType, Field, Int, ObjectType } from 'type-graphql';
import type { ClassType } from 'type-graphql';
import { requestError } from './errors.ts';

const PAGE_MAX = 100;
const CURSOR_LENGTH_MAX = 1024;

/** Where a page begins and ends in its list. */
@ObjectType({ description: 'Where a page begins and ends in its list.' })
export class PageInfo {
  @Field(() => Boolean, { description: 'Whether more items follow.' })
  hasNextPage!: boolean;

  @Field(() => Boolean, { description: 'Whether items precede this page.' })
  hasPreviousPage!: boolean;

  @Field(() => String, { nullable: true, description: 'Cursor of the first item.' })
  startCursor?: string | null;

  @Field(() => String, { nullable: true, description: 'Cursor of the last item; pass it as `after`.' })
  endCursor?: string | null;
}

/** `first` and `after` of a list, with a default page size of 20. */
@ArgsType()
export class PageArguments {
  @Field(() => Int, { defaultValue: 20, description: 'How many items, 1 to 100.' })
  first!: number;

  @Field(() => String, { nullable: true, description: 'Cursor of the item before the page.' })
  after?: string | null;
}

/** Like PageArguments, with 50 items unless asked otherwise: for catalogs, logs and administrators. */
@ArgsType()
export class LongPageArguments {
  @Field(() => Int, { defaultValue: 50, description: 'How many items, 1 to 100.' })
  first!: number;

  @Field(() => String, { nullable: true, description: 'Cursor of the item before the page.' })
  after?: string | null;
}

export interface Connection<T> {
  edges: { cursor: string; node: T }[];
  nodes: T[];
  pageInfo: PageInfo;
  /** Counts the items on all pages: asked only for lists whose `totalCount` is. */
  count(): Promise<number | null>;
}

/** The edge and connection types of a node type. `countable: false` makes totalCount nullable. */
export function connectionOf<T extends object>(
  name: string,
  node: ClassType<T>,
  { countable = true }: { countable?: boolean } = {},
): ClassType<Connection<T>> {
  @ObjectType(`${name}Edge`, { description: `One ${name} in a list.` })
  class Edge {
    @Field(() => String, { description: 'Opaque place of this item in the list.' })
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

    @Field(() => PageInfo, { description: 'Where the page begins and ends.' })
    pageInfo!: PageInfo;

    count!: () => Promise<number | null>;

    @Field(() => Int, {
      nullable: !countable,
      description: countable
        ? 'Items on all pages.'
        : 'Items on all pages; null when too many to count cheaply.',
    })
    totalCount(): Promise<number | null> {
      return this.count();
    }
  }
  return ConnectionType;
}

/** The page size asked for. Throws BAD_USER_INPUT outside 1 to 100. */
export function pageSize(first: number): number {
  if (first >= 1 && first <= PAGE_MAX) return first;
  throw requestError('BAD_USER_INPUT', `first must lie between 1 and ${PAGE_MAX}.`);
}

/** The sort values of an item as an opaque cursor. */
export function encodeCursor(values: readonly (string | number | null)[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

/**
 * The sort values in a cursor; undefined without one. Throws BAD_USER_INPUT for anything that we did not
 * make.
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
    // Falls through to the refusal: it was not JSON.
  }
  throw requestError('BAD_USER_INPUT', 'This cursor is not from this list. Start without `after`.');
}

/** A connection from one row more than the page holds: the extra row only says that there is a next page. */
export function connectionFrom<Row, T>(
  rows: readonly Row[],
  page: {
    first: number;
    after?: string | null | undefined;
    /** Items on all pages, or a function where counting them costs a question. */
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
