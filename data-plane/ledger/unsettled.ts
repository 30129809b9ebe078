/**
 * The charges that no report has settled, in order: kept in memory while they are few, read back from the
 * segments a piece at a time where an earlier process wrote them or they are too many.
 */
import type { Book } from './book.ts';
import type { Disk } from './disk.ts';
import { frameLength, readFrame } from './frames.ts';
import { pagedChargeOf } from './lines.ts';
import type { PagedCharge } from './lines.ts';
import { lastSeqOf, pageOf, splitPage } from './pages.ts';
import type { Page } from './pages.ts';
import type { Segment } from './replay.ts';

/** So many charges are kept in memory while they wait for their report, of about 0.7 kB each. */
export const KEPT_MAX = 40_000;
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
  readonly #kept: Page[] = [];
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
  add(pages: readonly Page[], at: Place): void {
    if (this.#unread) return;
    const count = pages.reduce((sum, page) => sum + page.count, 0);
    if (this.#keptCount() + count > KEPT_MAX) this.#unread = at;
    else this.#kept.push(...pages);
  }

  /** The oldest unsettled charges, as many as there are up to `limit`; the same until they are dropped. */
  async next(limit: number): Promise<readonly Page[]> {
    while (this.#unread && this.#keptCount() < limit) await this.#readOn(this.#unread);
    let room = limit;
    let taken = 0;
    for (let page = this.#kept[0]; page && room > 0; page = this.#kept[taken]) {
      if (page.count > room) this.#kept.splice(taken, 1, ...splitPage(page, room));
      room -= Math.min(room, page.count);
      taken += 1;
    }
    return this.#kept.slice(0, taken);
  }

  /** Forgets the charges up to `seq`. */
  drop(seq: number): void {
    const rest = this.#kept.findIndex((page) => lastSeqOf(page) > seq);
    this.#kept.splice(0, rest < 0 ? this.#kept.length : rest);
    const [first] = this.#kept;
    if (first && first.firstSeq <= seq) [, this.#kept[0]] = splitPage(first, seq - first.firstSeq + 1);
  }

  #keptCount(): number {
    const [first, last] = [this.#kept[0], this.#kept.at(-1)];
    return first && last ? lastSeqOf(last) - first.firstSeq + 1 : 0;
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
      if (at > 0) this.#notice(reading.frame.lines, endSeq);
      read = reading.frame.end;
      at += 1;
    }
    if (read === 0) throw new Error(`${segment.path} cannot be read at byte ${offset}`);
    return { segment: segment.number, offset: offset + read, group: at };
  }

  #notice(lines: readonly string[], endSeq: number): void {
    const { journalId, settledSeq } = this.#journal.book;
    const charges: PagedCharge[] = [];
    for (const line of lines) {
      const charge = pagedChargeOf(line, journalId);
      if (charge && charge.seq > settledSeq && charge.seq < endSeq) charges.push(charge);
    }
    if (charges.length > 0) this.#kept.push(pageOf(charges));
  }
}
