/**
 * Reads a journal folder after a stop or a crash: what stands in it, or a clear word on why it cannot be
 * trusted.
 */
import { join } from 'node:path';
import { bookFromJson, enter } from './book.ts';
import type { Book } from './book.ts';
import type { Disk } from './disk.ts';
import { readFrame } from './frames.ts';
import { recordOf } from './lines.ts';

/** One file of the journal. */
export interface Segment {
  number: number;
  path: string;
  /** Seq after its last charge that counts; what stands behind was given up by a later segment. */
  endSeq: number;
  /** Bytes that count. */
  size: number;
}

export interface Replayed {
  book: Book | undefined;
  segments: Segment[];
}

const SEGMENT_NAME = /^journal-(\d{9})\.log$/;
/** A segment ends long before this; anything larger was not written by us, in bytes. */
const SEGMENT_BYTES_MAX = 64 * 1024 * 1024;

/**
 * The journal promised something that its files do not hold any more. Nothing may be spent or settled from
 * it.
 */
export class DamagedJournal extends Error {
  constructor(path: string, offset: number, reason: string) {
    super(
      `${path} is damaged at byte ${offset}: ${reason}. The node does not start, so that no charge is lost ` +
        'or made twice. Restore the file, or move the folder away to begin a new journal: ' +
        'the open leases then return after their deadline',
    );
    this.name = 'DamagedJournal';
  }
}

/** The file name of a segment. */
export function segmentName(number: number): string {
  return `journal-${String(number).padStart(9, '0')}.log`;
}

/** Replays all segments of the folder, oldest first. Throws DamagedJournal. */
export async function replayFolder(disk: Disk, folder: string): Promise<Replayed> {
  const names = (await disk.list(folder)).filter((name) => SEGMENT_NAME.test(name)).sort();
  const segments: Segment[] = [];
  let book: Book | undefined;
  for (const name of names) {
    const path = join(folder, name);
    const size = await disk.size(path);
    if (size > SEGMENT_BYTES_MAX) throw new DamagedJournal(path, 0, 'it is larger than any segment');
    // What is read here will be settled: it must not vanish in a power failure afterwards.
    await disk.syncFile(path);
    const { book: next, checkpoint, end } = replaySegment(path, await disk.read(path, 0, size));
    if (book) follows(book, checkpoint, path);
    const before = segments.at(-1);
    if (before) before.endSeq = checkpoint.nextSeq;
    segments.push({ number: Number(SEGMENT_NAME.exec(name)?.[1]), path, endSeq: next.nextSeq, size: end });
    book = next;
  }
  return { book, segments };
}

function follows(before: Book, checkpoint: Book, path: string): void {
  if (before.journalId !== checkpoint.journalId)
    throw new DamagedJournal(path, 0, 'it belongs to another journal');
  if (before.nextSeq < checkpoint.nextSeq) {
    throw new DamagedJournal(
      path,
      0,
      `the segment before it ends at charge ${before.nextSeq - 1}, not ${checkpoint.nextSeq - 1}`,
    );
  }
}

/** The book after the records of one segment, the book it began with, and where its last whole frame ends. */
export function replaySegment(path: string, bytes: Buffer): { book: Book; checkpoint: Book; end: number } {
  let books: { book: Book; checkpoint: Book } | undefined;
  let offset = 0;
  for (let group = 0; ; group += 1) {
    const reading = readFrame(bytes, offset, group);
    if (reading.kind === 'damaged')
      throw new DamagedJournal(path, offset, 'whole records stand behind a broken one');
    if (reading.kind === 'end') break;
    try {
      const { lines } = reading.frame;
      if (books) for (const line of lines) enter(books.book, recordOf(line, books.book.journalId));
      else books = { book: checkpointOf(lines), checkpoint: checkpointOf(lines) };
    } catch (error) {
      throw new DamagedJournal(path, offset, error instanceof Error ? error.message : 'it cannot be read');
    }
    offset = reading.frame.end;
  }
  // A segment gets its name only after its first frame was synced.
  if (!books) throw new DamagedJournal(path, 0, 'its first record is broken');
  return { ...books, end: offset };
}

function checkpointOf([line = '']: readonly string[]): Book {
  return bookFromJson(JSON.parse(line));
}
