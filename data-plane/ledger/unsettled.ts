/**
 * The unsettled charges of a journal, in order. A limited number is kept in memory; the others, and those of
 * earlier processes, are read back from the segments a piece at a time.
 */
import type { JournalState } from './journal-state.ts';
import type { Disk } from './disk.ts';
import { frameLength, readFrame } from './frames.ts';
import { pagedChargeOf } from './lines.ts';
import type { PagedCharge } from './lines.ts';
import { lastSeqOf, pageOf, splitPage } from './pages.ts';
import type { Page } from './pages.ts';
import type { Segment } from './replay.ts';

/** Maximum number of charges that are kept in memory, of about 0.7 kB each. */
export const IN_MEMORY_MAX = 40_000;
/** Size of one read from a segment, in bytes. */
const READ_BYTES = 1024 * 1024;

/** Position of a frame: segment number, offset in bytes, group number. */
interface FramePosition {
  segment: number;
  offset: number;
  group: number;
}

/** Follows a journal while records are appended and segments removed. */
export class UnsettledCharges {
  readonly #disk: Disk;
  readonly #journal: { state: JournalState; segments: readonly Segment[] };
  /** The oldest unsettled charges, without gaps. */
  readonly #inMemory: Page[] = [];
  /** Position of the first charge that is not in memory; undefined if all are. */
  #unread: FramePosition | undefined = { segment: 0, offset: 0, group: 0 };

  constructor(disk: Disk, journal: { state: JournalState; segments: readonly Segment[] }) {
    this.#disk = disk;
    this.#journal = journal;
  }

  /**
   * Adds the charges of a frame that became durable at this position. Call it in the same iteration of the
   * event loop in which the size of the segment is updated.
   */
  add(pages: readonly Page[], at: FramePosition): void {
    if (this.#unread) return;
    const count = pages.reduce((sum, page) => sum + page.count, 0);
    if (this.#inMemoryCount() + count > IN_MEMORY_MAX) this.#unread = at;
    else this.#inMemory.push(...pages);
  }

  /** The oldest unsettled charges, at most `limit`; the same ones until they are dropped. */
  async next(limit: number): Promise<readonly Page[]> {
    while (this.#unread && this.#inMemoryCount() < limit) await this.#readNextPiece(this.#unread);
    let room = limit;
    let taken = 0;
    for (let page = this.#inMemory[0]; page && room > 0; page = this.#inMemory[taken]) {
      if (page.count > room) this.#inMemory.splice(taken, 1, ...splitPage(page, room));
      room -= Math.min(room, page.count);
      taken += 1;
    }
    return this.#inMemory.slice(0, taken);
  }

  /** Removes the charges up to `seq`. */
  drop(seq: number): void {
    const rest = this.#inMemory.findIndex((page) => lastSeqOf(page) > seq);
    this.#inMemory.splice(0, rest < 0 ? this.#inMemory.length : rest);
    const [first] = this.#inMemory;
    if (first && first.firstSeq <= seq) [, this.#inMemory[0]] = splitPage(first, seq - first.firstSeq + 1);
  }

  #inMemoryCount(): number {
    const [first, last] = [this.#inMemory[0], this.#inMemory.at(-1)];
    return first && last ? lastSeqOf(last) - first.firstSeq + 1 : 0;
  }

  /** Reads one piece. After the last piece, all unsettled charges are in memory. */
  async #readNextPiece(position: FramePosition): Promise<void> {
    const { segments } = this.#journal;
    const segment = segments.find(({ number }) => number >= position.segment);
    if (segment?.number === position.segment && position.offset < segment.size) {
      this.#unread = await this.#readFrom(segment, position);
      return;
    }
    const next = segments.find(({ number }) => number > position.segment);
    this.#unread = next && { segment: next.number, offset: 0, group: 0 };
  }

  async #readFrom(segment: Segment, { offset, group }: FramePosition): Promise<FramePosition> {
    // Taken before the read, because the segment may grow meanwhile.
    const { size, endSeq } = segment;
    let bytes = await this.#disk.read(segment.path, offset, Math.min(READ_BYTES, size - offset));
    const needed = frameLength(bytes, 0) ?? 0;
    if (needed > bytes.length) bytes = await this.#disk.read(segment.path, offset, needed);
    let read = 0;
    let at = group;
    for (;;) {
      const reading = readFrame(bytes, read, at);
      if (reading.kind !== 'frame') break;
      if (at > 0) this.#collect(reading.frame.lines, endSeq);
      read = reading.frame.end;
      at += 1;
    }
    if (read === 0) throw new Error(`${segment.path} cannot be read at byte ${offset}`);
    return { segment: segment.number, offset: offset + read, group: at };
  }

  #collect(lines: readonly string[], endSeq: number): void {
    const { journalId, settledSeq } = this.#journal.state;
    const charges: PagedCharge[] = [];
    for (const line of lines) {
      const charge = pagedChargeOf(line, journalId);
      if (charge && charge.seq > settledSeq && charge.seq < endSeq) charges.push(charge);
    }
    if (charges.length > 0) this.#inMemory.push(pageOf(charges));
  }
}
