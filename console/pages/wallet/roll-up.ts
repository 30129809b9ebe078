/** Rolls ledger entries of usage up, so that they do not bury purchases and top-ups. */
import { formatDollars, parseDollars } from '@gateway/shared/money';
import type { Entry } from './documents.ts';

/** Entries of usage on one UTC day that follow one another. */
export interface Rolled {
  /** The id of the newest entry. */
  id: string;
  /** "2026-11-20" */
  day: string;
  /** The newest first. */
  entries: readonly Entry[];
  /** Sum of the entries. */
  amount: string;
  /** The balance after the newest entry. */
  balanceAfter: string;
}

/** The entries, in their order. Two or more entries of usage of the same day become one line. */
export function rollUp(entries: readonly Entry[]): (Entry | Rolled)[] {
  const runs: Entry[][] = [];
  for (const entry of entries) {
    const run = runs.at(-1);
    if (run?.[0] && isSameDay(run[0], entry)) run.push(entry);
    else runs.push([entry]);
  }
  return runs.map(rolled);
}

/** Whether the line stands for several entries. */
export function isRolled(line: Entry | Rolled): line is Rolled {
  return 'entries' in line;
}

function isSameDay(one: Entry, other: Entry): boolean {
  return one.kind === 'USAGE' && other.kind === 'USAGE' && dayOf(one) === dayOf(other);
}

function dayOf({ createdAt }: Entry): string {
  return createdAt.slice(0, 'YYYY-MM-DD'.length);
}

function rolled(run: Entry[]): Entry | Rolled {
  const [newest, second] = run;
  if (!newest) throw new Error('A run has at least one entry.');
  if (!second) return newest;
  return {
    id: newest.id,
    day: dayOf(newest),
    entries: run,
    amount: formatDollars(run.reduce((sum, { amount }) => sum + (parseDollars(amount) ?? 0n), 0n)),
    balanceAfter: newest.balanceAfter,
  };
}
