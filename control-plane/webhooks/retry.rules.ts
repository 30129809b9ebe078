/** When a delivery is tried again. */

/** Pause after the first failure, in ms. It triples with each further one. */
const FIRST_PAUSE_MS = 15_000;
/** Longest pause, in ms. */
const PAUSE_MAX_MS = 4 * 60 * 60_000;
/** Attempts of a delivery. The last one is about 25 hours after the first. */
export const ATTEMPTS_MAX = 13;
/** Largest part of a pause that is added at random, so that repetitions do not come all at once. */
const SPREAD = 0.1;

/** The pause after this failed attempt, in ms; null after the last one. `random` is from 0 to 1. */
export function pauseAfter(attempt: number, random: number): number | null {
  if (attempt >= ATTEMPTS_MAX) return null;
  return Math.min(FIRST_PAUSE_MS * 3 ** (attempt - 1), PAUSE_MAX_MS) * (1 + SPREAD * random);
}
