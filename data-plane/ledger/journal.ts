/** The append-only journal that makes charges durable. Charges that come together share one write. */
import { join } from 'node:path';
import { applyRecord, emptyJournalState, toCheckpoint } from './journal-state.ts';
import type { JournalState, JournalRecord, BookkeepingRecord, SettledRecord } from './journal-state.ts';
import { createAtomically } from './disk.ts';
import type { Disk, AppendFile } from './disk.ts';
import { encodeFrame } from './frames.ts';
import { collectGroup } from './group.ts';
import { payloadOf } from './pages.ts';
import type { Page } from './pages.ts';
import { replayFolder, segmentName } from './replay.ts';
import type { Segment } from './replay.ts';
import { UnsettledCharges } from './unsettled.ts';
import { WriteStallDetector } from './write-stall.ts';

/** A new segment is started when the current one has this size, in bytes. */
const SEGMENT_BYTES = 16 * 1024 * 1024;
/** Maximum number of records in one group commit. */
const GROUP_MAX = 1_000;
/** Size of the reused frame buffer in bytes; larger frames are allocated. */
const FRAME_BUFFER_BYTES = 1024 * 1024;
/** Maximum number of records that wait for the disk; more charges are refused. */
const QUEUE_MAX = 20_000;
/** Interval of the attempts to start a new segment after a failed write, in ms. */
const RECOVERY_EVERY_MS = 500;

export interface JournalOptions {
  folder: string;
  disk: Disk;
  /** Id of a new journal, for a folder without one. */
  newId(): string;
  log: { warn(fields: object, message: string): void };
  segmentBytes?: number;
}

/** Exactly one of these is called, once, when a record is durable or has failed. Neither may throw. */
interface Completion {
  resolve(): void;
  reject(error: unknown): void;
}

interface Pending {
  record: JournalRecord;
  /** Absent for background records, which are kept after a failure and written later. */
  completion?: Completion;
}

/** Opens or creates the journal of a folder. The caller must hold its lock. Throws DamagedJournal. */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const { disk, folder } = options;
  await disk.makeFolder(folder);
  const { state, segments } = await replayFolder(disk, folder);
  const journal = new Journal(options, state ?? emptyJournalState(options.newId()), segments);
  await journal.startFirstSegment();
  return journal;
}

/** Appends records durably and returns unsettled charges. Create it with `openJournal`. */
export class Journal {
  /** The state that the durable records add up to. */
  readonly state: JournalState;
  /** Number of the first segment of this process. Later processes on the journal have higher numbers. */
  start = 0;
  /** Call its `check` once a second. */
  readonly stallDetector: WriteStallDetector;
  readonly #options: JournalOptions;
  readonly #segments: Segment[];
  #file: AppendFile | undefined;
  /** True from a failed write until a new segment is durable. */
  #failed = true;
  #group = 0;
  /** Buffer for frames: each frame is written before the next one is encoded. */
  readonly #frameBuffer = Buffer.allocUnsafeSlow(FRAME_BUFFER_BYTES);
  #queue: Pending[] = [];
  #nextSeq: number;
  #flushing: Promise<void> | undefined;
  #recoveryTimer: NodeJS.Timeout | undefined;
  #recovering: Promise<void> | undefined;
  #closed = false;
  readonly #unsettled: UnsettledCharges;

  constructor(options: JournalOptions, state: JournalState, segments: Segment[]) {
    this.#options = options;
    this.state = state;
    this.#segments = segments;
    this.#nextSeq = state.nextSeq;
    this.#unsettled = new UnsettledCharges(options.disk, { state, segments });
    this.stallDetector = new WriteStallDetector(options.log);
  }

  /** Whether a charge can be made durable now. While false, start no request that would be charged. */
  get writable(): boolean {
    return this.#accepts && !this.stallDetector.isStalled;
  }

  /** True while a write is stalled: it may still succeed, and charges can queue behind it. */
  get #accepts(): boolean {
    return !this.#failed && this.#queue.length < QUEUE_MAX;
  }

  get journalId(): string {
    return this.state.journalId;
  }

  /** Number for the next charge. The number of a charge that fails is used again. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** Number of unsettled charges, including quarantined ones. */
  get backlog(): number {
    return this.state.nextSeq - 1 - this.state.settledSeq + this.state.quarantined.size;
  }

  /** Starts the first segment of this process. Files of earlier processes are only read. */
  async startFirstSegment(): Promise<void> {
    this.start = await this.#startSegment();
    await this.#removeSettled();
  }

  /**
   * Appends a record and resolves when it is durable. If it rejects, the record does not count, now or after
   * a restart. One case cannot be excluded: the failed write reached the disk, the disk refuses to truncate
   * it, and the process dies before a new segment discards it. The `seq` of a charge must be `nextSeq`.
   */
  append(record: JournalRecord): Promise<void> {
    return new Promise((resolve, reject) => {
      this.enqueue(record, { resolve, reject });
    });
  }

  /** Like `append`, with callbacks: cheaper than a promise for each charge of a busy node. */
  enqueue(record: JournalRecord, completion: Completion): void {
    if (!this.#accepts || this.#closed) return completion.reject(new Error('the journal is not writable'));
    if (record.type === 'charge') {
      if (record.seq !== this.#nextSeq)
        return completion.reject(new Error(`got charge ${record.seq}, expected charge ${this.#nextSeq}`));
      this.#nextSeq += 1;
    }
    this.#queue.push({ record, completion });
    this.#startFlush();
  }

  /** Appends a record without waiting. The record is kept after a failed write, in its place. */
  appendInBackground(record: BookkeepingRecord): void {
    this.#queue.push({ record });
    this.#startFlush();
  }

  /** The oldest unsettled charges, in order, at most `limit`; the same ones until `settle` is called. */
  unsettled(limit: number): Promise<readonly Page[]> {
    return this.#unsettled.next(limit);
  }

  /** Records durably that all charges up to `seq` are reported, and removes segments without open charges. */
  async settle(settled: Omit<SettledRecord, 'type'>): Promise<void> {
    await this.append({ type: 'settled', ...settled });
    this.#unsettled.drop(settled.seq);
    // A file that cannot be removed does no harm: the next start removes it.
    await this.#removeSettled().catch((error: unknown) => {
      this.#options.log.warn(
        { reason: String(error) },
        'a settled journal segment could not be removed; the next start tries again',
      );
    });
  }

  /** Writes all queued records, then closes the file. Charges are refused from the call on. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#recoveryTimer);
    // Otherwise a segment could be started after the folder is unlocked.
    await this.#recovering;
    await this.#flushing;
    await this.#file?.close();
    this.#file = undefined;
  }

  /** Starts to write the queue unless it is empty or being written. */
  #startFlush(): void {
    if (this.#flushing || this.#failed || this.#queue.length === 0) return;
    this.#flushing = this.#flush();
  }

  async #flush(): Promise<void> {
    while (this.#queue.length > 0 && !this.#failed) {
      await collectGroup(() => this.#queue.length);
      const group = this.#queue.splice(0, GROUP_MAX);
      this.stallDetector.writeStarted();
      try {
        await this.#write(group.map(({ record }) => record));
      } catch (error) {
        await this.#rejectGroup(group, error);
        continue;
      } finally {
        this.stallDetector.writeEnded();
      }
      for (const { completion } of group) completion?.resolve();
    }
    this.#flushing = undefined;
  }

  /** Rejects a failed group and everything queued behind it. Background records stay in the queue. */
  async #rejectGroup(group: readonly Pending[], error: unknown): Promise<void> {
    await this.#abandonFile(error);
    const all = [...group, ...this.#queue];
    this.#queue = all.filter(({ completion }) => !completion);
    this.#nextSeq = this.state.nextSeq;
    for (const { completion } of all) completion?.reject(error);
  }

  /** Writes one group. When it is durable, applies its records and keeps its charges for their report. */
  async #write(records: readonly JournalRecord[]): Promise<void> {
    const active = this.#segments.at(-1);
    if (active && active.size >= (this.#options.segmentBytes ?? SEGMENT_BYTES)) await this.#startSegment();
    const file = this.#file;
    const segment = this.#segments.at(-1);
    if (!file || !segment) throw new Error('the journal is not writable');
    const position = { segment: segment.number, offset: segment.size, group: this.#group };
    const { texts, pages } = payloadOf(records);
    const frame = encodeFrame(position.group, texts, this.#frameBuffer);
    await file.append(frame);
    this.#group += 1;
    for (const record of records) applyRecord(this.state, record);
    segment.size += frame.length;
    segment.endSeq = this.state.nextSeq;
    this.#unsettled.add(pages, position);
  }

  /**
   * Starts a segment, whose first frame is a checkpoint of the state, so that older segments can be removed.
   * The file gets its name when the checkpoint is durable. From then on, bytes after the valid end of the
   * previous segment are ignored. Returns the number of the segment.
   */
  async #startSegment(): Promise<number> {
    const { disk, folder } = this.#options;
    const old = this.#file;
    this.#file = undefined;
    await old?.close().catch(() => undefined);
    const number = (this.#segments.at(-1)?.number ?? 0) + 1;
    const path = join(folder, segmentName(number));
    const frame = encodeFrame(0, [JSON.stringify(toCheckpoint(this.state))]);
    this.#file = await createAtomically(disk, path, frame);
    this.#segments.push({ number, path, endSeq: this.state.nextSeq, size: frame.length });
    this.#group = 1;
    this.#failed = false;
    return number;
  }

  /**
   * Handles a failed write, after which the content of the file is unknown: truncates the file to its valid
   * length before the failure is reported, closes it, and schedules a new segment.
   */
  async #abandonFile(cause: unknown): Promise<void> {
    const { log } = this.#options;
    log.warn(
      { reason: String(cause) },
      'the journal cannot be written; paid requests are refused until it can: check the disk',
    );
    const file = this.#file;
    this.#file = undefined;
    this.#failed = true;
    try {
      await file?.truncate(this.#segments.at(-1)?.size ?? 0);
    } catch (error) {
      log.warn(
        { reason: String(error) },
        'the failed write could not be truncated; do not stop this node before its journal is writable again',
      );
    }
    await file?.close().catch(() => undefined);
    // Not earlier: records accepted meanwhile would wait behind a stalled truncation and then be rejected.
    this.#scheduleRecovery();
  }

  #scheduleRecovery(): void {
    clearTimeout(this.#recoveryTimer);
    if (this.#closed) return;
    this.#recoveryTimer = setTimeout(() => {
      this.#recovering = this.#startSegment().then(
        () => {
          this.#options.log.warn({}, 'the journal is writable again');
          this.#startFlush();
        },
        () => this.#scheduleRecovery(),
      );
    }, RECOVERY_EVERY_MS);
  }

  async #removeSettled(): Promise<void> {
    while (this.#segments.length > 1) {
      const [oldest] = this.#segments;
      if (!oldest || oldest.endSeq - 1 > this.state.settledSeq) return;
      this.#segments.shift();
      await this.#options.disk.remove(oldest.path);
    }
  }
}
