/** Decides when usage is reported: seldom by a busy node, at once by a quiet one. */

/**
 * Time between the starts of two reports, in ms; less if the records that wait fill a report, or if a lease
 * must be closed. A report takes several ms of the node, the control plane and the database, and requests
 * that come meanwhile are slower.
 */
const REPORT_EVERY_MS = 1_000;
/**
 * Time after that in which a report waits for the next record, in ms: right after an answer the node most
 * likely has nothing else to do.
 */
const NEXT_RECORD_MS = 50;

/** The records that wait for a report. */
interface WaitingRecords {
  /** Number of them. */
  count(): number;
  /** Number of records that fill a report. */
  full(): number;
}

/** The pace of one settler, which waits here between its reports. */
export class ReportPace {
  readonly #waiting: WaitingRecords;
  #wake: (() => void) | undefined;
  #isHurried = false;
  #isStopped = false;
  /** Whether a record may start a report. Not after a failure: then the pauses grow. */
  #isGathering = false;
  /** From when on the next record starts a report, in ms of the monotonic clock. */
  #nextAt = Number.NEGATIVE_INFINITY;

  constructor(waiting: WaitingRecords) {
    this.#waiting = waiting;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Called before records are taken for a report. A call of `hurry` from now on leads to another one. */
  taking(): void {
    this.#isHurried = false;
  }

  /** Called when a report is sent. */
  sent(): void {
    this.#nextAt = performance.now() + REPORT_EVERY_MS;
  }

  /** Called when a record begins to wait. Ends the wait of `gather` if a report is due. */
  recorded(): void {
    if (!this.#isGathering) return;
    if (performance.now() < this.#nextAt && this.#waiting.count() < this.#waiting.full()) return;
    this.#isGathering = false;
    // Not now: the answer that waits for the charge is sent first. By then another wait may have begun.
    const wake = this.#wake;
    setImmediate(() => wake?.());
  }

  /** Ends the present wait, or prevents the next one of `gather`. */
  hurry(): void {
    this.#isHurried = true;
    this.#wake?.();
  }

  /** Ends the present wait, and prevents all later ones. */
  stop(): void {
    this.#isStopped = true;
    this.#wake?.();
  }

  /** Waits until a report is due. While no record waits, this takes at most `idleMs`, or has no limit. */
  async gather(idleMs: number | undefined): Promise<void> {
    if (this.#isHurried || this.#waiting.count() >= this.#waiting.full()) return;
    this.#isGathering = true;
    const restMs = this.#nextAt + NEXT_RECORD_MS - performance.now();
    if (restMs > 0) await this.pause(restMs);
    if (this.#waiting.count() < 1 && !this.#isHurried) await this.pause(idleMs);
    this.#isGathering = false;
  }

  /** Waits for `ms`, or without a limit. */
  pause(ms: number | undefined): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
