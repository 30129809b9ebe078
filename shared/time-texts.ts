/** Moments as text. */

const SECOND_MS = 1_000;

/**
 * Writes moments as RFC 3339 in UTC with ms, as `Date.toISOString` does, and throws RangeError where that
 * does. Each usage record has one, most of them in the second of the one before, on a busy node in its
 * millisecond: the texts of these are kept.
 */
export class TimeTexts {
  #second = Number.NaN;
  /** The text of that second, up to its point. */
  #text = '';
  #last = { at: Number.NaN, text: '' };

  /** The text of a moment in ms since the epoch. */
  of(at: number): string {
    if (at === this.#last.at) return this.#last.text;
    const second = Math.floor(at / SECOND_MS);
    if (second !== this.#second) {
      this.#text = new Date(second * SECOND_MS).toISOString().slice(0, -4);
      this.#second = second;
    }
    const ms = String(Math.floor(at) - second * SECOND_MS).padStart(3, '0');
    // Joined it is one string; put together otherwise it stays in pieces, which JSON.stringify is slow with.
    this.#last = { at, text: [this.#text, ms, 'Z'].join('') };
    return this.#last.text;
  }
}
