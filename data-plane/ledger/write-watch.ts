/** Notices that the disk of a journal hangs: it neither takes a write nor refuses it. */

/**
 * What so many looks in a row, a second apart, have found under way hangs: for 2 to 3 s, where slow disks
 * take some hundred ms. Looks are counted and not the time: a process that was frozen looks once for all of
 * it, and a write costs no reading of a clock.
 */
const LOOKS = 3;

/** Follows the writes of a journal, of which one is under way at a time. */
export class WriteWatch {
  readonly #log: { warn(fields: object, message: string): void };
  #isUnderWay = false;
  #looks = 0;

  constructor(log: { warn(fields: object, message: string): void }) {
    this.#log = log;
  }

  /** Whether what is under way hangs: nobody knows when it ends, or how. */
  get hangs(): boolean {
    return this.#looks >= LOOKS;
  }

  begin(): void {
    this.#isUnderWay = true;
  }

  end(): void {
    this.#isUnderWay = false;
    if (this.hangs) this.#log.warn({}, 'the disk of the journal answers again');
    this.#looks = 0;
  }

  /** To be called once a second. */
  look(): void {
    if (!this.#isUnderWay) return;
    this.#looks += 1;
    if (this.#looks === LOOKS)
      this.#log.warn({}, 'the disk of the journal does not answer; paid requests are refused until it does');
  }
}
