/** Reads the charges that are not settled yet from the segments, in order and a piece at a time. */
import type { Book, ChargeRecord, JournalRecord } from './book.ts';
import type { Disk } from './disk.ts';
import { frameLength, readFrame } from './frames.ts';
import type { Segment } from './replay.ts';

/** How much of a segment is read at once, in bytes. */
const READ_BYTES = 1024 * 1024;

interface Place {
  segment: number;
  offset: number;
  group: number;
}

/** Moves through the segments of a journal that goes on being written and shortened meanwhile. */
export class ChargeReader {
  readonly #disk: Disk;
  readonly #journal: { book: Book; segments: readonly Segment[] };
  #place: Place | undefined;
  #ahead: ChargeRecord[] = [];

  constructor(disk: Disk, journal: { book: Book; segments: readonly Segment[] }) {
    this.#disk = disk;
    this.#journal = journal;
  }

  /** The oldest unsettled charges, at most `limit`; the same ones until they are dropped. */
  async next(limit: number): Promise<readonly ChargeRecord[]> {
    while (this.#ahead.length < limit && (await this.#readOn())) {
      /* until there is enough or no more */
    }
    return this.#ahead.slice(0, limit);
  }

  /** Forgets the charges up to `seq`. */
  drop(seq: number): void {
    this.#ahead = this.#ahead.filter((charge) => charge.seq > seq);
  }

  /** Reads further charges of the segments; false when all durable ones were read. */
  async #readOn(): Promise<boolean> {
    const [oldest] = this.#journal.segments;
    if (!oldest) return false;
    this.#place ??= { segment: oldest.number, offset: 0, group: 0 };
    const place = this.#place;
    const segment = this.#journal.segments.find(({ number }) => number >= place.segment);
    if (!segment) return false;
    if (segment.number > place.segment || place.offset >= segment.size) {
      const next = this.#journal.segments.find(({ number }) => number > place.segment);
      if (!next) return false;
      this.#place = { segment: next.number, offset: 0, group: 0 };
      return true;
    }
    await this.#readFrom(segment, place);
    return true;
  }

  async #readFrom(segment: Segment, place: Place): Promise<void> {
    // The end as it is now: it moves while the disk is read.
    const { size, endSeq } = segment;
    let bytes = await this.#disk.read(segment.path, place.offset, Math.min(READ_BYTES, size - place.offset));
    const needed = frameLength(bytes, 0) ?? 0;
    if (needed > bytes.length) bytes = await this.#disk.read(segment.path, place.offset, needed);
    let offset = 0;
    for (;;) {
      const reading = readFrame(bytes, offset, place.group);
      if (reading.kind !== 'frame') break;
      if (place.group > 0) for (const line of reading.frame.lines) this.#noticeCharge(line, endSeq);
      offset = reading.frame.end;
      place.group += 1;
    }
    if (offset === 0) throw new Error(`${segment.path} cannot be read at byte ${place.offset}`);
    place.offset += offset;
  }

  #noticeCharge(line: string, endSeq: number): void {
    const record = JSON.parse(line) as JournalRecord;
    if (record.type === 'charge' && record.seq > this.#journal.book.settledSeq && record.seq < endSeq)
      this.#ahead.push(record);
  }
}
