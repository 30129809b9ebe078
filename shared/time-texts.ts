/** Moments as text. */

const SECOND_MS = 1_000;

/**
 * Writes moments as RFC 3339 in UTC with ms, as `Date.toISOString` does, and throws RangeError where that
 * does. Each usage record has one, most of them in the second of the one before: its text is kept.
 */
export class TimeTexts {
  #second = Number.NaN;
  /** The text of that second, up to its point. */
  #text = '';

  /** The text of a moment in ms since the epoch. */
  of(at: number): string {
    const second = Math.floor(at / SECOND_MS);
    if (second !== this.#second) {
      this.#text = new Date(second * SECOND_MS).toISOString().slice(0, -4);
      this.#second = second;
    }
    const ms = String(Math.floor(at) - second * SECOND_MS).padStart(3, '0');
    // Joined it is one string; put together otherwise it stays in pieces, which JSON.stringify is slow with.
    return [this.#text, ms, 'Z'].join('');
  }
}
