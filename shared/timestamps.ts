/** Formats timestamps fast, for the one timestamp that every usage record has. */

const SECOND_MS = 1_000;

/**
 * Writes timestamps as `Date.toISOString` does: RFC 3339 in UTC with milliseconds. Keeps the last text,
 * because most usage records of a busy node fall into the same second or even millisecond as the record
 * before.
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
