/**
 * Seeds of random tests. A push uses a fixed one, so that it cannot fail by chance; a proof uses a new one
 * every day.
 */

/** The seed of the push tier. */
export const FIXED_SEED = 20_261_122;

/** The seed of the proof tier: `PROOF_SEED`, or today's date as a number. */
export const PROOF_SEED = Number(
  process.env['PROOF_SEED'] ?? new Date().toISOString().slice(0, 10).replaceAll('-', ''),
);

/** Whether a proof that takes a slice of its cases takes all of them: `PROOF_CASES=all`. */
export const TAKES_ALL_CASES = process.env['PROOF_CASES'] === 'all';

/** Every n-th of the cases; the seed of the proof tier decides which ones. All if TAKES_ALL_CASES. */
export function sliceOf<Case>(cases: readonly Case[], every: number): Case[] {
  return cases.filter((_, at) => TAKES_ALL_CASES || at % every === PROOF_SEED % every);
}
