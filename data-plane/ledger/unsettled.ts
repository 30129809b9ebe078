/**
 * The charges that no report has settled, in order: kept in memory while they are few, read back from the
 * segments a piece at a time where an earlier process wrote them or they are too many.
 */
import type { Book, ChargeRecord } from './book.ts';
import type { Disk } from './disk.ts';
import { frameLength, readFrame } from './frames.ts';
import { recordOf } from './lines.ts';
import type { Segment } from './replay.ts';

/** So many charges are kept in memory while they wait for their report, of about 1 kB each. */
export const KEPT_MAX = 10_000;
/** How much of a segment is read at once, in bytes. */
const READ_BYTES = 1024 * 1024;

/** Where a frame begins: its segment, the byte in it, its group number. */
export interface Place {
  segment: number;
  offset: number;
  group: number;
}

/** Follows a journal that goes on being written and shortened meanwhile. */
export class Unsettled {
  readonly #disk: Disk;
  readonly #journal: { book: Book; segments: readonly Segment[] };
  /** The oldest unsettled charges, without a gap. */
  #kept: ChargeRecord[] = [];
  /** Where charges begin that are not kept; undefined while all of them are. */
  #unread: Place | undefined = { segment: 0, offset: 0, group: 0 };

  constructor(disk: Disk, journal: { book: Book; segments: readonly Segment[] }) {
    this.#disk = disk;
    this.#journal = journal;
  }

  /**
   * Takes the charges of a frame that has become durable at this place. Called in the same turn in which the
   * segment's size counts it.
   */
  add(charges: readonly ChargeRecord[], at: Place): void {
    if (this.#unread) return;
    if (this.#kept.length + charges.length > KEPT_MAX) this.#unread = at;
    else this.#kept.push(...charges);
  }

  /** The oldest unsettled charges, at most `limit`; the same ones until they are dropped. */
  async next(limit: number): Promise<readonly ChargeRecord[]> {
    while (this.#unread && this.#kept.length < limit) await this.#readOn(this.#unread);
    return this.#kept.slice(0, limit);
  }

  /** Forgets the charges up to `seq`. */
  drop(seq: number): void {
    const rest = this.#kept.findIndex((charge) => charge.seq > seq);
    this.#kept.splice(0, rest < 0 ? this.#kept.length : rest);
  }

  /** Reads a piece; after the last one all unsettled charges are kept. */
  async #readOn(place: Place): Promise<void> {
    const { segments } = this.#journal;
    const segment = segments.find(({ number }) => number >= place.segment);
    if (segment?.number === place.segment && place.offset < segment.size) {
      this.#unread = await this.#readFrom(segment, place);
      return;
    }
    const next = segments.find(({ number }) => number > place.segment);
    this.#unread = next && { segment: next.number, offset: 0, group: 0 };
  }

  async #readFrom(segment: Segment, { offset, group }: Place): Promise<Place> {
    // The end as it is now: it moves while the disk is read.
    const { size, endSeq } = segment;
    let bytes = await this.#disk.read(segment.path, offset, Math.min(READ_BYTES, size - offset));
    const needed = frameLength(bytes, 0) ?? 0;
    if (needed > bytes.length) bytes = await this.#disk.read(segment.path, offset, needed);
    let read = 0;
    let at = group;
    for (;;) {
      const reading = readFrame(bytes, read, at);
      if (reading.kind !== 'frame') break;
      if (at > 0) for (const line of reading.frame.lines) this.#notice(line, endSeq);
      read = reading.frame.end;
      at += 1;
    }
    if (read === 0) throw new Error(`${segment.path} cannot be read at byte ${offset}`);
    return { segment: segment.number, offset: offset + read, group: at };
  }

  #notice(line: string, endSeq: number): void {
    const { journalId, settledSeq } = this.#journal.book;
    const record = recordOf(line, journalId);
    if (record.type === 'charge' && record.seq > settledSeq && record.seq < endSeq)
      this.#kept.push(record);
  }
}
