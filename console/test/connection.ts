/** Pages of a list, as the service hands them out. */

/** The page after a cursor, which is a place in the list. */
export function connection<Row>(rows: readonly Row[], first: number, after: string | null) {
  const start = after === null ? 0 : Number(after);
  const nodes = rows.slice(start, start + first);
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
