/** Writes one file of a partition, reads it back from the target, compares it with the log, records it. */
import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { readPage } from './log.ts';
import type { LogPosition, Partition } from './log.ts';
import { ParquetFile, readBack } from './parquet.ts';
import type { ArchiveValue } from './columns.ts';
import { noteUpload, recordFile, takenOver } from './state.ts';
import type { ArchiveTarget } from './target.ts';

/** Sizes of the files, in rows. They bound the memory and the time of one step. */
export interface ArchiveSizes {
  /** Rows of a row group; they are in memory at once. */
  group: number;
  /** Rows of a file; a crash loses at most the work on one file. */
  file: number;
}

/** Database, target and sizes with which files are made. */
export interface FileParts {
  /** A new database session. */
  em(): EntityManager;
  target: ArchiveTarget;
  sizes: ArchiveSizes;
  /** Id of the round that has the turn. */
  holder: string;
  /** Called between steps. Rejects if this instance must stop or another one archives. */
  proceed(): Promise<void>;
}

/** The next file of a partition: its number from 1, and the row after which it begins. */
export interface NextFile {
  partition: Partition;
  number: number;
  after: LogPosition | null;
}

/** Name of a file. */
export function nameOfFile(partition: string, number: number): string {
  return `${partition}-${String(number).padStart(4, '0')}.parquet`;
}

/**
 * Archives the next file, and returns its last row and whether it is the last file of the partition. A file
 * of this name that a killed process has finished is not written again, but read and compared as any other.
 */
export async function archiveFile(
  parts: FileParts,
  next: NextFile,
): Promise<{ last: LogPosition | null; isLast: boolean; rows: number; location: string }> {
  const name = nameOfFile(next.partition.name, next.number);
  const location = parts.target.locate(name);
  const isThere = (await parts.target.sizeOf(name)) !== undefined;
  const written = isThere ? undefined : await writeFile(parts, next, name);
  const found = await compare(parts, next, name);
  // The comparison of values does not see a change of a byte that no value depends on.
  if (written !== undefined && written !== found.sha256)
    throw differs(location, 'its bytes changed after they were written');
  await parts.proceed();
  const isLast = await recordFile(parts.em(), next, { ...found, number: next.number, location });
  if (isLast === undefined)
    throw differs(location, found.rows === 0 ? 'it is empty' : 'the rows of the log changed meanwhile');
  return { last: found.last, isLast, rows: found.rows, location };
}

/**
 * Writes the file and returns the SHA-256 of its bytes. If its end fails, the file may exist nevertheless:
 * the service's answer was lost, or another file has this name. The digest is undefined then, and the
 * comparison that follows accepts only the right content.
 */
async function writeFile(parts: FileParts, next: NextFile, name: string): Promise<string | undefined> {
  const { target, em, holder } = parts;
  const upload = await target.begin(name);
  const isNoted = await noteUpload(em(), holder, { location: target.locate(name), upload });
  const open = target.open(name, upload);
  const hash = createHash('sha256');
  let isWritten = false;
  try {
    if (!isNoted) throw takenOver();
    await writeRows(parts, next, (bytes) => {
      hash.update(bytes);
      return open.write(bytes);
    });
    await parts.proceed();
    isWritten = true;
    await open.finish();
  } catch (error) {
    await open.close();
    // If the target is away, the next round discards the upload.
    await target.discard(name, upload).then(
      () => noteUpload(em(), holder, null),
      () => undefined,
    );
    if (isWritten && (await exists(target, name))) return undefined;
    throw error;
  }
  await open.close();
  await noteUpload(em(), holder, null);
  return hash.digest('hex');
}

/** Whether the file exists; false if the target cannot say. */
async function exists(target: ArchiveTarget, name: string): Promise<boolean> {
  const size = await target.sizeOf(name).catch(() => undefined);
  return size !== undefined;
}

async function writeRows(
  { em, sizes, proceed }: FileParts,
  { partition, after }: NextFile,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  const file = new ParquetFile(write);
  let position = after;
  for (let left = sizes.file; left > 0;) {
    await proceed();
    const page = await readPage(em(), partition, { after: position, limit: Math.min(left, sizes.group) });
    if (page.rows > 0) await file.add(page.columns);
    if (page.rows < Math.min(left, sizes.group)) break;
    left -= page.rows;
    position = page.last;
  }
  await file.finish();
}

interface ComparedFile {
  rows: number;
  cost: bigint;
  bytes: number;
  sha256: string;
  last: LogPosition | null;
}

/** Reads the file from the target, and compares each value with the log. Rejects if one differs. */
async function compare(parts: FileParts, next: NextFile, name: string): Promise<ComparedFile> {
  const { target, em, proceed } = parts;
  const location = target.locate(name);
  const size = await target.sizeOf(name);
  if (size === undefined) throw differs(location, 'it disappeared');
  let position = next.after;
  let rows = 0;
  let cost = 0n;
  const sha256 = await readBack({ size, read: (range) => target.read(name, range) }, async (columns) => {
    await proceed();
    const page = await readPage(em(), next.partition, { after: position, limit: columns[0]?.length ?? 0 });
    if (!isSame(page.columns, columns)) throw differs(location, `a row after row ${rows} differs`);
    rows += page.rows;
    cost += page.cost;
    position = page.last;
  }).catch((error: unknown) => {
    if (error instanceof Error && isOfFile(error)) throw differs(location, error.message);
    throw error;
  });
  return { rows, cost, bytes: size, sha256, last: rows === 0 ? null : position };
}

function isSame(left: readonly ArchiveValue[][], right: readonly ArchiveValue[][]): boolean {
  return left.every((values, at) => {
    const others = right[at] ?? [];
    return values.length === others.length && values.every((value, row) => value === others[row]);
  });
}

/** Whether the content of the file is at fault, and not the way to it. */
function isOfFile(error: Error): boolean {
  return /^(the file |parquet )/.test(error.message) || error instanceof RangeError;
}

function differs(location: string, why: string): Error {
  const advice = 'Move the file away, or choose another target if another installation writes there.';
  return new Error(`${location} differs from the usage log: ${why}. Nothing was dropped. ${advice}`);
}
