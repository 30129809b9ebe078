/** Replays a journal folder after a stop or a crash, or explains why the journal cannot be trusted. */
import { join } from 'node:path';
import { UnknownRecord, applyRecord, fromCheckpoint } from './journal-state.ts';
import type { JournalState } from './journal-state.ts';
import type { Disk } from './disk.ts';
import { readFrame } from './frames.ts';
import { recordOf } from './lines.ts';

/** One file of the journal. */
export interface Segment {
  number: number;
  path: string;
  /** Number after the last valid charge. Later charges in this file were discarded by a later segment. */
  endSeq: number;
  /** Length of the valid frames in bytes. */
  size: number;
}

/** Result of a replay. `state` is undefined if the folder has no segment. */
interface Replayed {
  state: JournalState | undefined;
  segments: Segment[];
}

const SEGMENT_NAME = /^journal-(\d{9})\.log$/;
/** Maximum size of a segment file in bytes. The journal starts a new segment long before. */
const SEGMENT_BYTES_MAX = 64 * 1024 * 1024;

/** Durable data of the journal is lost or damaged, so nothing may be spent or settled from it. */
export class DamagedJournal extends Error {
  constructor(path: string, offset: number, reason: string) {
    super(
      `${path} is damaged at byte ${offset}: ${reason}. The node does not start, so that no charge is lost ` +
        'or made twice. Restore the file, or move the folder away to start a new journal: ' +
        'the open leases then return to their wallets after their deadline',
    );
    this.name = 'DamagedJournal';
  }
}

/** The journal was written by a later release. Nothing in it is damaged. */
export class NewerJournal extends Error {
  constructor(path: string, record: string) {
    super(
      `${path} was written by a newer release: this one does not know its record "${record}". ` +
        'Start the newer release again; the journal is not damaged and must be kept',
    );
    this.name = 'NewerJournal';
  }
}

/** The file name of a segment. */
export function segmentName(number: number): string {
  return `journal-${String(number).padStart(9, '0')}.log`;
}

/** Replays all segments, oldest first. Throws DamagedJournal, NewerJournal, or the error of the disk. */
export async function replayFolder(disk: Disk, folder: string): Promise<Replayed> {
  const names = (await disk.list(folder)).filter((name) => SEGMENT_NAME.test(name)).sort();
  const segments: Segment[] = [];
  let state: JournalState | undefined;
  for (const name of names) {
    const path = join(folder, name);
    const size = await disk.size(path);
    if (size > SEGMENT_BYTES_MAX) throw new DamagedJournal(path, 0, 'it is larger than any segment');
    // The charges read here will be settled, so they must survive a power failure from now on.
    await disk.syncFile(path);
    const { state: next, checkpoint, end } = replaySegment(path, await disk.read(path, 0, size));
    if (state) checkFollows(state, checkpoint, path);
    const before = segments.at(-1);
    if (before) before.endSeq = checkpoint.nextSeq;
    segments.push({ number: Number(SEGMENT_NAME.exec(name)?.[1]), path, endSeq: next.nextSeq, size: end });
    state = next;
  }
  return { state, segments };
}

function checkFollows(before: JournalState, checkpoint: JournalState, path: string): void {
  if (before.journalId !== checkpoint.journalId)
    throw new DamagedJournal(path, 0, 'it belongs to another journal');
  if (before.nextSeq < checkpoint.nextSeq) {
    throw new DamagedJournal(
      path,
      0,
      `the previous segment ends at charge ${before.nextSeq - 1}, not ${checkpoint.nextSeq - 1}`,
    );
  }
}

/** State after the records of a segment, its checkpoint, and the offset after its last whole frame. */
export function replaySegment(
  path: string,
  bytes: Buffer,
): { state: JournalState; checkpoint: JournalState; end: number } {
  let states: { state: JournalState; checkpoint: JournalState } | undefined;
  let offset = 0;
  for (let group = 0; ; group += 1) {
    const reading = readFrame(bytes, offset, group);
    if (reading.kind === 'damaged')
      throw new DamagedJournal(path, offset, 'a broken frame precedes valid ones');
    if (reading.kind === 'end') break;
    try {
      const { lines } = reading.frame;
      if (states) for (const line of lines) applyRecord(states.state, recordOf(line, states.state.journalId));
      else states = { state: checkpointOf(lines), checkpoint: checkpointOf(lines) };
    } catch (error) {
      if (error instanceof UnknownRecord) throw new NewerJournal(path, error.type);
      throw new DamagedJournal(path, offset, error instanceof Error ? error.message : 'it cannot be read');
    }
    offset = reading.frame.end;
  }
  // A segment gets its name only after its first frame was synced.
  if (!states) throw new DamagedJournal(path, 0, 'its first frame is broken');
  return { ...states, end: offset };
}

function checkpointOf([line = '']: readonly string[]): JournalState {
  return fromCheckpoint(JSON.parse(line));
}
