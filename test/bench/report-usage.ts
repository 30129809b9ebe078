/**
 * Preloaded into every measured process. Answers the parent's message `usage` with the CPU time and memory of
 * the process, and `settled usage` likewise, after free memory was returned to the system.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** The young generation shrinks at the second collection; free pages are returned some seconds later. */
const COLLECTIONS = 4;
const RETURNED_MS = 4_000;

process.on('message', (message: unknown) => {
  if (message === 'usage') report();
  if (message === 'settled usage') void settle().then(report);
});

async function settle(): Promise<void> {
  for (let collection = 0; collection < COLLECTIONS; collection += 1) {
    globalThis.gc?.();
    await sleep(RETURNED_MS);
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
