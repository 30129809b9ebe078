/** A short storm with a fixed seed. The proof tier runs longer ones with other seeds. */
import { expect, test } from 'vitest';
import { FIXED_SEED } from '../seeds.ts';
import { failuresOf, tableOf } from './report.ts';
import { runChaos } from './run.ts';

const DURATION_MS = 5_000;

test('no micro-dollar is lost or created while processes are killed, frozen and disconnected', async () => {
  const options = { seed: FIXED_SEED, durationMs: DURATION_MS, nodes: 2, print: () => undefined };
  const report = await runChaos(options);
  expect(failuresOf(report), tableOf(report)).toEqual({});
  expect(report.comparison.finished).toBeGreaterThan(0);
  expect(report.faults.length).toBeGreaterThan(0);
}, 240_000);
