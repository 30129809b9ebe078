/**
 * Preloaded into every measured process: answers the parent's `usage` with the process's own accounting, and
 * `settled usage` likewise once what is free was given back.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** The young generation shrinks at the second collection, and free memory is given back soon after, in ms. */
const GIVEN_BACK_MS = 3_000;

process.on('message', (message: unknown) => {
  if (message === 'usage') report();
  if (message === 'settled usage') void settle().then(report);
});

async function settle(): Promise<void> {
  globalThis.gc?.();
  await sleep(GIVEN_BACK_MS);
  globalThis.gc?.();
  await sleep(GIVEN_BACK_MS);
}

function report(): void {
  globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  process.send?.({
    type: 'usage',
    cpuMicros: user + system,
    residentBytes: process.memoryUsage.rss(),
    peakBytes: process.resourceUsage().maxRSS * 1024,
  });
}
