/** Pages of a list, as the service hands them out. */

interface Page {
  first: number;
  after?: string | null;
  before?: string | null;
}

/** The page after a cursor. A cursor is a position in the list. */
export function connection<Row>(rows: readonly Row[], first: number, after: string | null) {
  return connectionAt(rows, { first, after });
}

/** The page after or before a cursor. */
export function connectionAt<Row>(rows: readonly Row[], { first, after, before = null }: Page) {
  const last = before === null ? rows.length : Number(before);
  const start = before === null ? Number(after ?? 0) : Math.max(0, last - first);
  const nodes = rows.slice(start, Math.min(start + first, last));
  const end = start + nodes.length;
  return {
    nodes,
    edges: nodes.map((node, index) => ({ node, cursor: String(start + index + 1) })),
    totalCount: rows.length,
    pageInfo: {
      hasNextPage: end < rows.length,
      hasPreviousPage: start > 0,
      startCursor: String(start),
      endCursor: String(end),
    },
  };
}
