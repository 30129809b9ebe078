/** The append-only journal of a node's money: commits share durable writes, what is settled is removed. */
import { join } from 'node:path';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { bookToJson, emptyBook, enter } from './book.ts';
import type { Book, JournalRecord, NoteRecord, SettledRecord } from './book.ts';
import { createWhole } from './disk.ts';
import type { Disk, GrowingFile } from './disk.ts';
import { encodeFrame } from './frames.ts';
import { payloadOf } from './pages.ts';
import type { Page } from './pages.ts';
import { replayFolder, segmentName } from './replay.ts';
import type { Segment } from './replay.ts';
import { Unsettled } from './unsettled.ts';
import { WriteWatch } from './write-watch.ts';

/** A segment is followed by a new one at this size, in bytes. */
const SEGMENT_BYTES = 16 * 1024 * 1024;
/** Records in one group commit. */
const GROUP_MAX = 1_000;
/** Frames up to this size need no memory of their own, in bytes. */
const ROOM_BYTES = 1024 * 1024;
/** Records that may wait for the disk; more are refused. */
const QUEUE_MAX = 20_000;
/** Pause between attempts to get a writable segment after a failure, in ms. */
const HEAL_EVERY_MS = 500;

export interface JournalOptions {
  folder: string;
  disk: Disk;
  /** Names a new journal when the folder holds none. */
  newId(): string;
  log: { warn(fields: object, message: string): void };
  segmentBytes?: number;
}

/** Who is told what became of a record, once. Neither may throw. */
interface Outcome {
  resolve(): void;
  reject(error: unknown): void;
}

interface Pending {
  record: JournalRecord;
  /** Absent for what must stand in the journal sooner or later, after a failure too. */
  outcome?: Outcome;
}

/**
 * Opens the journal of the folder, or begins one. Throws DamagedJournal. The caller holds the folder's lock.
 */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const { disk, folder } = options;
  await disk.makeFolder(folder);
  const { book, segments } = await replayFolder(disk, folder);
  const journal = new Journal(options, book ?? emptyBook(options.newId()), segments);
  await journal.begin();
  return journal;
}

/** Appends records durably, and hands out what is not settled. Made by `openJournal`. */
export class Journal {
  /** What the durable records add up to. */
  readonly book: Book;
  /** Numbers the processes on this journal upwards: that of the first segment of this one. */
  start = 0;
  /** Looks whether the disk hangs when it is told to. */
  readonly watch: WriteWatch;
  readonly #options: JournalOptions;
  readonly #segments: Segment[];
  #file: GrowingFile | undefined;
  /** True from a failed write until a new segment is durable. */
  #sick = true;
  #group = 0;
  /** Where groups become frames: each is written before the next is made. */
  readonly #room = Buffer.allocUnsafeSlow(ROOM_BYTES);
  #queue: Pending[] = [];
  #nextSeq: number;
  #flushing: Promise<void> | undefined;
  #healing: NodeJS.Timeout | undefined;
  #restarting: Promise<void> | undefined;
  #closed = false;
  readonly #unsettled: Unsettled;

  constructor(options: JournalOptions, book: Book, segments: Segment[]) {
    this.#options = options;
    this.book = book;
    this.#segments = segments;
    this.#nextSeq = book.nextSeq;
    this.#unsettled = new Unsettled(options.disk, { book, segments });
    this.watch = new WriteWatch(options.log);
  }

  /** Whether a charge could be made durable now: nothing should be begun that ends with one while not. */
  get writable(): boolean {
    return this.#takes && !this.watch.hangs;
  }

  /** What comes while the disk hangs waits as well: the write under way may still become durable. */
  get #takes(): boolean {
    return !this.#sick && this.#queue.length < QUEUE_MAX;
  }

  get journalId(): string {
    return this.book.journalId;
  }

  /** The number of the charge that is appended next. A charge that does not become durable leaves it free. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** Charges that no report has settled, those included that are parked. */
  get backlog(): number {
    return this.book.nextSeq - 1 - this.book.settledSeq + this.book.parked.size;
  }

  /** Starts the first segment of this process: files of former processes are only read. */
  async begin(): Promise<void> {
    this.start = await this.#startSegment();
    await this.#removeSettled();
  }

  /**
   * Appends a record; resolves when it is durable. Rejects when it is not: then it does not count, now or
   * after a restart. One case is beyond us: the failed write reached the disk after all, the disk refuses to
   * have it cut off, and the process dies before a new segment says that it does not count. A charge bears
   * `nextSeq`.
   */
  append(record: JournalRecord): Promise<void> {
    return new Promise((resolve, reject) => {
      this.enqueue(record, { resolve, reject });
    });
  }

  /** The same for who needs no promise of its own: each charge of a busy node. */
  enqueue(record: JournalRecord, outcome: Outcome): void {
    if (!this.#takes || this.#closed) return outcome.reject(new Error('the journal is not writable'));
    if (record.type === 'charge') {
      if (record.seq !== this.#nextSeq)
        return outcome.reject(new Error(`charge ${record.seq} came where ${this.#nextSeq} was due`));
      this.#nextSeq += 1;
    }
    this.#queue.push({ record, outcome });
    this.#startFlush();
  }

  /** Appends a record that nobody waits for: kept through failures, before all that is appended later. */
  note(record: NoteRecord): void {
    this.#queue.push({ record });
    this.#startFlush();
  }

  /** The oldest unsettled charges, in order, at most `limit`. Does not move: `settle` does. */
  unsettled(limit: number): Promise<readonly Page[]> {
    return this.#unsettled.next(limit);
  }

  /** Notes durably what became of all charges up to `seq`, and removes segments that nobody needs. */
  async settle(settled: Omit<SettledRecord, 'type'>): Promise<void> {
    await this.append({ type: 'settled', ...settled });
    this.#unsettled.drop(settled.seq);
    // A file that cannot be removed is only old: the next start removes it.
    await this.#removeSettled().catch((error: unknown) => {
      this.#options.log.warn({ reason: String(error) }, 'a settled segment could not be removed');
    });
  }

  /** Writes what waits, then closes. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#healing);
    // Else a segment could begin after the folder was let go.
    await this.#restarting;
    await this.#flushing;
    await this.#file?.close();
    this.#file = undefined;
  }

  /** Writes what waits, unless that goes on already. Where nothing waits no write may seem to go on. */
  #startFlush(): void {
    if (this.#flushing || this.#sick || this.#queue.length === 0) return;
    this.#flushing = this.#flush();
  }

  async #flush(): Promise<void> {
    while (this.#queue.length > 0 && !this.#sick) {
      // What is appended in the same turn of the event loop, by whichever request, shares one write.
      await endOfTurn();
      const group = this.#queue.splice(0, GROUP_MAX);
      this.watch.begin();
      try {
        await this.#write(group.map(({ record }) => record));
      } catch (error) {
        await this.#refuse(group, error);
        continue;
      } finally {
        this.watch.end();
      }
      for (const { outcome } of group) outcome?.resolve();
    }
    this.#flushing = undefined;
  }

  /** Nothing of a group, or of what came after it, is durable; what nobody waits for is kept. */
  async #refuse(group: readonly Pending[], error: unknown): Promise<void> {
    await this.#giveUp(error);
    const all = [...group, ...this.#queue];
    this.#queue = all.filter(({ outcome }) => !outcome);
    this.#nextSeq = this.book.nextSeq;
    for (const { outcome } of all) outcome?.reject(error);
  }

  /** Writes one group; once it is durable it counts in the book, and its charges wait for their report. */
  async #write(records: readonly JournalRecord[]): Promise<void> {
    const active = this.#segments.at(-1);
    if (active && active.size >= (this.#options.segmentBytes ?? SEGMENT_BYTES)) await this.#startSegment();
    const file = this.#file;
    const segment = this.#segments.at(-1);
    if (!file || !segment) throw new Error('the journal is not writable');
    const place = { segment: segment.number, offset: segment.size, group: this.#group };
    const { texts, pages } = payloadOf(records);
    const frame = encodeFrame(place.group, texts, this.#room);
    await file.append(frame);
    this.#group += 1;
    for (const record of records) enter(this.book, record);
    segment.size += frame.length;
    segment.endSeq = this.book.nextSeq;
    this.#unsettled.add(pages, place);
  }

  /**
   * A new segment begins with the whole book, so that older ones can go. It gets its name only when it is
   * durable, and from then on nothing that stands behind the counted end of the one before it counts.
   */
  async #startSegment(): Promise<number> {
    const { disk, folder } = this.#options;
    const old = this.#file;
    this.#file = undefined;
    await old?.close().catch(() => undefined);
    const number = (this.#segments.at(-1)?.number ?? 0) + 1;
    const path = join(folder, segmentName(number));
    const frame = encodeFrame(0, [JSON.stringify(bookToJson(this.book))]);
    this.#file = await createWhole(disk, path, frame);
    this.#segments.push({ number, path, endSeq: this.book.nextSeq, size: frame.length });
    this.#group = 1;
    this.#sick = false;
    return number;
  }

  /**
   * After a failed write nobody knows what the file holds: what does not count is cut off before anybody is
   * told of the failure, then the file is left alone, and a new one is tried for.
   */
  async #giveUp(cause: unknown): Promise<void> {
    const { log } = this.#options;
    log.warn(
      { reason: String(cause) },
      'the journal cannot be written; paid requests are refused until it can',
    );
    const file = this.#file;
    this.#file = undefined;
    this.#sick = true;
    try {
      await file?.cut(this.#segments.at(-1)?.size ?? 0);
    } catch (error) {
      log.warn(
        { reason: String(error) },
        'what the failed write left cannot be cut off: let this node run until its journal is writable',
      );
    }
    await file?.close().catch(() => undefined);
    // Not before: what is taken in between would wait behind a cut that hangs, and be refused with the rest.
    this.#heal();
  }

  #heal(): void {
    clearTimeout(this.#healing);
    if (this.#closed) return;
    this.#healing = setTimeout(() => {
      this.#restarting = this.#startSegment().then(
        () => {
          this.#options.log.warn({}, 'the journal is writable again');
          this.#startFlush();
        },
        () => this.#heal(),
      );
    }, HEAL_EVERY_MS);
  }

  async #removeSettled(): Promise<void> {
    while (this.#segments.length > 1) {
      const [oldest] = this.#segments;
      if (!oldest || oldest.endSeq - 1 > this.book.settledSeq) return;
      this.#segments.shift();
      await this.#options.disk.remove(oldest.path);
    }
  }
}
