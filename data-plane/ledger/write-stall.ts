/** Detects that the disk of a journal hangs: a write neither succeeds nor fails. */

/**
 * A write that is pending at this many consecutive checks, one second apart, counts as stalled: after 2 to
 * 3 s, where slow disks take some hundred ms. Counting checks needs no clock per write, and a process that
 * was frozen for an hour sees one check, not an hour.
 */
const STALLED_CHECKS = 3;

/** Watches the writes of a journal, which happen one at a time. */
export class WriteStallDetector {
  readonly #log: { warn(fields: object, message: string): void };
  #isWriting = false;
  #checks = 0;

  constructor(log: { warn(fields: object, message: string): void }) {
    this.#log = log;
  }

  /** Whether the pending write is stalled. It may still succeed or fail later. */
  get isStalled(): boolean {
    return this.#checks >= STALLED_CHECKS;
  }

  writeStarted(): void {
    this.#isWriting = true;
  }

  writeEnded(): void {
    this.#isWriting = false;
    if (this.isStalled) this.#log.warn({}, 'the disk of the journal responds again');
    this.#checks = 0;
  }

  /** Call once a second. */
  check(): void {
    if (!this.#isWriting) return;
    this.#checks += 1;
    if (this.#checks === STALLED_CHECKS)
      this.#log.warn(
        {},
        'the disk of the journal does not respond; paid requests are refused until it does: check the disk',
      );
  }
}
