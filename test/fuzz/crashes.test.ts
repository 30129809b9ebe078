/** Every input that ever crashed a target is run again, and each target is fuzzed for a short while. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hunt } from './hunt.ts';
import { TARGETS, loadTarget } from './target.ts';
import type { TargetName } from './target.ts';

/** About a second of each target. The seed is fixed, so that the inputs are the same each time. */
const INPUTS = 1_500;
const SEED = 1;

/** Names and contents of the files in `crashes/TARGET`. */
function crashesOf(target: TargetName): { name: string; input: Buffer }[] {
  const folder = join(import.meta.dirname, 'crashes', target);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((name) => ({ name, input: readFileSync(join(folder, name)) }));
}

describe.each(TARGETS)('the fuzz target %s', (name) => {
  it('survives the inputs that once crashed it', async () => {
    const target = await loadTarget(name);
    for (const { name: file, input } of crashesOf(name)) {
      const run = async (): Promise<void> => target.run(input);
      await expect(run(), file).resolves.toBeUndefined();
    }
  });

  it('survives its seeds and random changes of them', async () => {
    const { crashes, progress } = await hunt({
      target: name,
      seed: SEED,
      milliseconds: Infinity,
      inputs: INPUTS,
      recorded: false,
    });
    expect(crashes.map(({ text }) => text)).toEqual([]);
    expect(progress.inputs).toBeGreaterThanOrEqual(INPUTS);
    // Without counters, the inputs would be changed blindly.
    expect(progress.reached).toBeGreaterThan(0);
  });
});
