/**
 * Rows that arrive while the log is open. They are added when the user asks, so that the list does not jump.
 */
import { useMemo, useState } from 'react';
import { useSubscription } from 'urql';
import { meets, type UsageConditions } from './conditions.ts';
import { NewUsage, type UsageRow } from './documents.ts';

/** Maximum number of waiting rows; older ones appear when the page is reloaded. */
const WAITING_ROWS_MAX = 500;

/** Returns the rows to show, the number of waiting rows, and a function that shows them. */
export function useNewRows(loaded: readonly UsageRow[], filter: UsageConditions) {
  const [added, setAdded] = useState<readonly UsageRow[]>([]);
  const [arrived, setArrived] = useState<readonly UsageRow[]>([]);
  const [lastFilter, setLastFilter] = useState(filter);
  if (lastFilter !== filter) {
    setLastFilter(filter);
    setAdded([]);
    setArrived([]);
  }
  useSubscription({ query: NewUsage }, (_, data) => {
    const row = data.usageAdded;
    if (row && meets(row, filter)) setArrived((rows) => [row, ...rows].slice(0, WAITING_ROWS_MAX));
    return data;
  });
  const known = new Set([...loaded, ...added].map(({ id }) => id));
  const fresh = arrived.filter(
    ({ id }, index) => !known.has(id) && arrived.findIndex((row) => row.id === id) === index,
  );
  const shown = useMemo(() => {
    const loadedIds = new Set(loaded.map(({ id }) => id));
    return [...added.filter(({ id }) => !loadedIds.has(id)), ...loaded];
  }, [added, loaded]);
  return {
    shown,
    waiting: fresh.length,
    show: () => {
      setAdded([...fresh, ...added]);
      setArrived([]);
    },
  };
}
