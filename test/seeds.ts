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
