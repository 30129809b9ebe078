/** A fast formatter of timestamps: a node formats one timestamp for each usage record. */

const SECOND_MS = 1_000;

/**
 * Formats timestamps as `Date.toISOString` does: RFC 3339 in UTC with milliseconds. Caches the text of the
 * last second and of the last millisecond, because consecutive records of a busy node often share them.
 */
export class TimestampFormatter {
  #second = Number.NaN;
  /** The text of `#second`, up to and including the decimal point. */
  #prefix = '';
  #last = { at: Number.NaN, text: '' };

  /** The text of a time in ms since the epoch. Throws RangeError for an invalid time. */
  format(at: number): string {
    if (at === this.#last.at) return this.#last.text;
    const second = Math.floor(at / SECOND_MS);
    if (second !== this.#second) {
      this.#prefix = new Date(second * SECOND_MS).toISOString().slice(0, -4);
      this.#second = second;
    }
    const ms = String(Math.floor(at) - second * SECOND_MS).padStart(3, '0');
    // `join` makes a flat string; concatenation would make a rope, which JSON.stringify is slow with.
    this.#last = { at, text: [this.#prefix, ms, 'Z'].join('') };
    return this.#last.text;
  }
}
