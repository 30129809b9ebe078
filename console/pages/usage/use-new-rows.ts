/**
 * Rows that arrive while the log is open: they are counted, and join the list only when asked, so nothing
 * jumps.
 */
import { useState } from 'react';
import { useSubscription } from 'urql';
import { meets, type UsageConditions } from './conditions.ts';
import { NewUsage, type UsageRow } from './documents.ts';

/** More than this many new rows are not kept: loading the page again shows them. */
const WAITING_ROWS_MAX = 500;

/** The rows to show, how many wait, and the function that shows them. */
export function useNewRows(loaded: readonly UsageRow[], filter: UsageConditions) {
  const [asked, setAsked] = useState<readonly UsageRow[]>([]);
  const [arrived, setArrived] = useState<readonly UsageRow[]>([]);
  const [under, setUnder] = useState(filter);
  if (under !== filter) {
    setUnder(filter);
    setAsked([]);
    setArrived([]);
  }
  useSubscription({ query: NewUsage }, (_, data) => {
    const row = data.usageAdded;
    if (row && meets(row, filter)) setArrived((rows) => [row, ...rows].slice(0, WAITING_ROWS_MAX));
    return data;
  });
  const known = new Set([...loaded, ...asked].map(({ id }) => id));
  const fresh = arrived.filter(
    ({ id }, index) => !known.has(id) && arrived.findIndex((row) => row.id === id) === index,
  );
  const loadedIds = new Set(loaded.map(({ id }) => id));
  return {
    shown: [...asked.filter(({ id }) => !loadedIds.has(id)), ...loaded],
    waiting: fresh.length,
    show: () => {
      setAsked([...fresh, ...asked]);
      setArrived([]);
    },
  };
}
