/** One minute of fuzzing over all targets, with a seed that changes every day. */
import { expect, it } from 'vitest';
import { hunt } from './hunt.ts';
import type { Hunted } from './hunt.ts';
import { TARGETS } from './target.ts';

const MINUTE_MS = 60_000;
const SEED = Number(process.env['PROOF_SEED'] ?? 1);
const TIMEOUT_MS = 10 * MINUTE_MS;

it(
  'finds no crash and no hang in one minute of all targets',
  async () => {
    const all: Record<string, Hunted> = {};
    const milliseconds = MINUTE_MS / TARGETS.length;
    for (const target of TARGETS)
      all[target] = await hunt({ target, seed: SEED, milliseconds, recorded: true });
    const crashes = Object.entries(all).flatMap(([target, { crashes }]) =>
      crashes.map(({ input, text }) => ({ target, text, input: Buffer.from(input).toString('base64') })),
    );
    expect(crashes).toEqual([]);
    for (const { progress } of Object.values(all)) expect(progress.inputs).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);
