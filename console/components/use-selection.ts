/** The chosen rows of a table. Rows that are no longer listed are not chosen. */
import { useMemo, useState } from 'react';

/** The chosen rows, and what the table needs to show and change them. */
export function useSelection<Row extends { id: string }>(rows: readonly Row[], nameOf: (row: Row) => string) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const chosen = useMemo(() => rows.filter(({ id }) => ids.has(id)), [rows, ids]);
  const selection = useMemo(
    () => ({ chosen: new Set(chosen.map(({ id }) => id)), onChoose: setIds, nameOf }),
    [chosen, nameOf],
  );
  return { chosen, clear: () => setIds(new Set()), selection };
}
