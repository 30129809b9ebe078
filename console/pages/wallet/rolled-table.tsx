/** The ledger entries of the wallet page. Usage is rolled up by day and can be expanded. */
import { useState } from 'react';
import type { Entry } from './documents.ts';
import { EntryTable } from './entry-table.tsx';
import { isRolled, rollUp } from './roll-up.ts';

/** The entries of one page. */
export function RolledTable({ entries }: { entries: readonly Entry[] }) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (id: string) =>
    setOpen((ids) => new Set(ids.has(id) ? [...ids].filter((one) => one !== id) : [...ids, id]));
  const lines = rollUp(entries).flatMap((line) => {
    if (!isRolled(line)) return [line];
    const isOpen = open.has(line.id);
    const day = { ...line, isOpen, toggle: () => toggle(line.id) };
    return isOpen ? [day, ...line.entries] : [day];
  });
  return <EntryTable entries={lines} />;
}
