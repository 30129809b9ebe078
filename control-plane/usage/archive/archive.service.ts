/**
 * The archive of the usage log: writes the rows of each partition whose retention time is over to Parquet
 * files before the partition is dropped. One instance archives at a time. A step that is repeated after a
 * crash continues after the last recorded file.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import { archiveFile } from './archive-file.ts';
import type { ArchiveSizes, FileParts } from './archive-file.ts';
import type { Partition } from './log.ts';
import {
  archivedFiles,
  duePartitions,
  giveTurn,
  noteUpload,
  openUpload,
  requireArchive,
  takeTurn,
  takenOver,
} from './state.ts';
import type { ArchiveTarget } from './target.ts';

/** Rows in memory and rows of a file; a group takes less than 100 ms of the event loop. */
export const ARCHIVE_SIZES: ArchiveSizes = { group: 4096, file: 1_048_576 };
/** How long the turn of an instance lasts without a sign of life. */
const TURN_SECONDS = 300;
/** Signs of life in this time, also during one step: a part of an upload over a slow line takes minutes. */
const RENEWALS = 5;
/** After this time a round begins no further file, in ms, so that its result is seen. */
const ROUND_MS = 20 * 60_000;

/** Database, target and settings of a round. */
export interface ArchiveParts {
  /** A new database session. */
  em(): EntityManager;
  target: ArchiveTarget;
  /** Days after their end for which partitions stay in the log. */
  retentionDays: number;
  log?: ((line: Record<string, unknown>) => void) | undefined;
  /** Ends the round between two steps. */
  signal?: AbortSignal | undefined;
  sizes?: ArchiveSizes;
  /** How long the turn lasts after the process was killed. */
  turnSeconds?: number;
  /** This process's clock; a partition is due only if both clocks agree. */
  here?: Date;
}

/** How a round ended: BUSY if another instance archives, PAUSED if something is left to do. */
export type RoundResult = 'DONE' | 'PAUSED' | 'BUSY';

/** Archives what is due. Rejects with an Error that says what to do if the target cannot be used. */
export async function archiveDue(parts: ArchiveParts): Promise<RoundResult> {
  const turn = { holder: randomBytes(8).toString('hex'), seconds: parts.turnSeconds ?? TURN_SECONDS };
  await requireArchive(parts.em());
  if (!(await takeTurn(parts.em(), turn.holder, turn.seconds))) return 'BUSY';
  const ending = new AbortController();
  const renewed = renew(parts, turn, ending.signal);
  try {
    await discardOpen(parts, turn);
    await parts.target.check();
    return await archiveAll(parts, turn);
  } catch (error) {
    if (parts.signal?.aborted) return 'PAUSED';
    throw error;
  } finally {
    ending.abort();
    await renewed;
    await giveTurn(parts.em(), turn.holder);
  }
}

interface Turn {
  holder: string;
  seconds: number;
}

/** Renews the turn until the signal or until another holder has it. The database may be away meanwhile. */
async function renew({ em }: ArchiveParts, { holder, seconds }: Turn, signal: AbortSignal): Promise<void> {
  const pause = (seconds * 1000) / RENEWALS;
  let isHeld = true;
  while (isHeld && !signal.aborted) {
    await delay(pause, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    isHeld = await (async () => takeTurn(em(), holder, seconds))().catch(() => true);
  }
}

async function archiveAll(parts: ArchiveParts, { holder, seconds }: Turn): Promise<RoundResult> {
  const { em, target, signal, sizes = ARCHIVE_SIZES } = parts;
  const until = performance.now() + ROUND_MS;
  const proceed = async (): Promise<void> => {
    signal?.throwIfAborted();
    if (!(await takeTurn(em(), holder, seconds))) throw takenOver();
  };
  const fileParts: FileParts = { em, target, sizes, holder, proceed };
  for (const partition of await duePartitions(em(), parts.retentionDays, parts.here)) {
    const isComplete = await archivePartition(fileParts, partition, {
      log: parts.log,
      isLate: () => signal?.aborted === true || performance.now() > until,
    });
    if (!isComplete) return 'PAUSED';
  }
  return 'DONE';
}

/** Archives the files of a partition that are missing. Returns whether all are recorded. */
async function archivePartition(
  parts: FileParts,
  partition: Partition,
  { log, isLate }: Pick<ArchiveParts, 'log'> & { isLate(): boolean },
): Promise<boolean> {
  const found = await archivedFiles(parts.em(), partition.name);
  let after = found.at(-1)?.last ?? null;
  for (let number = found.length + 1; !isLate(); number += 1) {
    const { last, isLast, rows, location } = await archiveFile(parts, { partition, number, after });
    log?.({ level: 'info', message: 'Archived requests of the usage log.', file: location, rows });
    if (isLast) return true;
    after = last ?? after;
  }
  return false;
}

/** Removes what a killed process left at this target. */
async function discardOpen({ em, target }: ArchiveParts, { holder }: Turn): Promise<void> {
  const open = await openUpload(em());
  if (!open) return;
  const name = open.location.slice(open.location.lastIndexOf('/') + 1);
  // The settings may name another target by now.
  if (target.locate(name) === open.location) await target.discard(name, open.upload);
  await noteUpload(em(), holder, null);
}
