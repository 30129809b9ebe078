/** Relay connections with keyset pagination: page arguments, cursors, and connection types. */
import 'reflect-metadata';
import { ArgsType, Field, Int, ObjectType } from 'type-graphql';
import type { ClassType } from 'type-graphql';
import { PAGE_MAX } from '../limits.ts';
import type { RowPage } from '../database/page.ts';
import type { Cursors } from './cursors.ts';
import { requestError } from './errors.ts';

/** Position of a page in its list. */
@ObjectType({ description: 'Position of a page in its list.' })
export class PageInfo {
  @Field(() => Boolean, { description: 'Whether more items follow the page.' })
  hasNextPage!: boolean;

  @Field(() => Boolean, { description: 'Whether items precede the page.' })
  hasPreviousPage!: boolean;

  @Field(() => String, { nullable: true, description: 'Cursor of the first item; pass it as `before`.' })
  startCursor?: string | null;

  @Field(() => String, { nullable: true, description: 'Cursor of the last item; pass it as `after`.' })
  endCursor?: string | null;
}

/** `first`, `after` and `before` of a list, with a default page size of 20. */
@ArgsType()
export class PageArguments {
  @Field(() => Int, { defaultValue: 20, description: 'Page size, 1 to 100.' })
  first!: number;

  @Field(() => String, { nullable: true, description: 'Cursor of the item before the page.' })
  after?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Cursor of the item after the page, instead of `after`: the page ends right before it.',
  })
  before?: string | null;
}

/** Like PageArguments with a default page size of 50, for catalogs, logs and administrators. */
@ArgsType()
export class LongPageArguments {
  @Field(() => Int, { defaultValue: 50, description: 'Page size, 1 to 100.' })
  first!: number;

  @Field(() => String, { nullable: true, description: 'Cursor of the item before the page.' })
  after?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Cursor of the item after the page, instead of `after`: the page ends right before it.',
  })
  before?: string | null;
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

/** A page that a client asked for. */
export interface PageRequest {
  first: number;
  after?: string | null;
  before?: string | null;
}

/** A page with its cursor decoded. `limit` is one row above `first`; that row shows whether others follow. */
export interface PagePosition extends RowPage {
  first: number;
}

/**
 * The position of a page of the list with these cursors. Throws BAD_USER_INPUT for a page size outside 1 to
 * 100, for a cursor that is not of this list and order, and for two cursors.
 */
export function positionOf({ first, after, before }: PageRequest, cursors: Cursors): PagePosition {
  if (first < 1 || first > PAGE_MAX)
    throw requestError('BAD_USER_INPUT', `first must be between 1 and ${PAGE_MAX}.`);
  const decode = (cursor: string | null | undefined) =>
    cursor === null || cursor === undefined ? undefined : cursors.decode(cursor);
  const from = decode(after);
  const to = decode(before);
  if (from && to) throw requestError('BAD_USER_INPUT', 'Pass either after or before.');
  return { first, from: from ?? to, backward: to !== undefined, limit: first + 1 };
}

/**
 * A connection from the rows that were read for a page. The row beyond `first` only shows that there is a
 * further page.
 */
export function connectionFrom<Row, T>(
  rows: readonly Row[],
  page: {
    position: PagePosition;
    /** Number of items on all pages, or a function that queries it. */
    totalCount: number | null | (() => Promise<number | null>);
    cursor: (row: Row) => string;
    node: (row: Row) => T;
  },
): Connection<T> {
  const { first, from, backward } = page.position;
  const hasMore = rows.length > first;
  const read = rows.slice(0, first).map((row) => ({ cursor: page.cursor(row), node: page.node(row) }));
  const edges = backward ? read.toReversed() : read;
  return {
    edges,
    nodes: edges.map((edge) => edge.node),
    pageInfo: {
      hasNextPage: backward ? true : hasMore,
      hasPreviousPage: backward ? hasMore : from !== undefined,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    count: async () => (typeof page.totalCount === 'function' ? page.totalCount() : page.totalCount),
  };
}

/** The rows that a page of a whole list in memory needs; `isAt` finds the item next to the page. */
export function rowsAt<Row>(
  list: readonly Row[],
  { from, backward = false, limit }: PagePosition,
  isAt: (row: Row, from: NonNullable<RowPage['from']>) => boolean,
): Row[] {
  const at = from ? list.findIndex((row) => isAt(row, from)) : -1;
  if (!backward) return list.slice(at + 1, at + 1 + limit);
  return list.slice(Math.max(0, at - limit), Math.max(0, at)).toReversed();
}
