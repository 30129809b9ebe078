/** The workers of a node: their numbers, folders, and parts of the limits of the node. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** One worker among those of its node. */
export interface Worker {
  /** From 1 to `of`. */
  number: number;
  of: number;
}

/** The place of a node that is one process. */
export const ONLY_WORKER: Worker = { number: 1, of: 1 };

/** The folder of all workers except the first, whose files are in the folder of the node. */
export function workersFolder(dataDir: string): string {
  return join(dataDir, 'workers');
}

/** The folder of a worker: journal, stored configuration and marks. */
export function workerFolder(dataDir: string, number: number): string {
  return number === 1 ? dataDir : join(workersFolder(dataDir), String(number));
}

/** The file that says that nothing in the journal of this worker's folder is unsettled. */
export function settledMark(folder: string): string {
  return join(folder, 'settled');
}

/** Numbers of the workers above `workers` that an earlier start had, and whose journals may be unsettled. */
export function formerWorkers(dataDir: string, workers: number): number[] {
  const folder = workersFolder(dataDir);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .map(Number)
    .filter((number) => Number.isSafeInteger(number) && number > workers)
    .filter((number) => existsSync(join(folder, String(number), 'journal')))
    .filter((number) => !existsSync(settledMark(workerFolder(dataDir, number))))
    .toSorted((one, other) => one - other);
}

/**
 * This worker's part of a limit of the node. The parts of all workers add up to the limit, unless the limit
 * is smaller than the number of workers: then each has 1.
 */
export function partOf(limit: number, { number, of }: Worker): number {
  return Math.max(1, Math.floor(limit / of) + (number <= limit % of ? 1 : 0));
}
