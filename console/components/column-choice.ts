/** Which columns of a table are shown. The browser keeps the choice; columns that are added later appear. */
import { useCallback, useState } from 'react';
import { recall, remember } from './device-storage.ts';

interface ChoosableColumn {
  id: string;
  meta?: { optional?: boolean; silent?: boolean };
}

/** Tells which columns are shown, and changes it. */
export interface ColumnChoice {
  isShown: (column: ChoosableColumn) => boolean;
  show: (column: ChoosableColumn, on: boolean) => void;
}

const STORED = 'columns.';

/** The choice of the table with this name; without a name, the choice cannot be stored. */
export function useColumnChoice(name: string | undefined): ColumnChoice {
  const [changed, setChanged] = useState(() => readChoice(name === undefined ? '' : recall(STORED + name)));
  const isShown = useCallback(
    ({ id, meta }: ChoosableColumn) => changed.get(id) ?? meta?.optional !== true,
    [changed],
  );
  const show = ({ id }: ChoosableColumn, on: boolean) => {
    const next = new Map(changed).set(id, on);
    if (name !== undefined) remember(STORED + name, writeChoice(next));
    setChanged(next);
  };
  return { isShown, show };
}

/** Parses a stored choice such as "+cached,-source". Ignores everything else. */
function readChoice(text = ''): ReadonlyMap<string, boolean> {
  const parts = text.split(',').filter((part) => /^[+-]\w+$/.test(part));
  return new Map(parts.map((part) => [part.slice(1), part.startsWith('+')]));
}

function writeChoice(changed: ReadonlyMap<string, boolean>): string {
  return [...changed].map(([id, on]) => `${on ? '+' : '-'}${id}`).join(',');
}
