/**
 * Preloaded into every measured process: answers the parent's `usage` with the process's own accounting, and
 * `settled usage` likewise once what is free was given back.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** The young generation shrinks at the second collection, and free pages are given back some s after. */
const COLLECTIONS = 4;
const GIVEN_BACK_MS = 4_000;

process.on('message', (message: unknown) => {
  if (message === 'usage') report();
  if (message === 'settled usage') void settle().then(report);
});

async function settle(): Promise<void> {
  for (let collection = 0; collection < COLLECTIONS; collection += 1) {
    globalThis.gc?.();
    await sleep(GIVEN_BACK_MS);
  }
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
