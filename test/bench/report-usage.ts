/**
 * Preloaded into every measured process. Answers messages of the parent: `times` with the CPU time of the
 * process, `usage` likewise with its memory after a collection of garbage, `settled usage` after free memory
 * was returned to the system, `profile` by starting the profiler, and `end of profile` with the functions
 * that took most time.
 */
import { Session } from 'node:inspector/promises';
import { PerformanceObserver, monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { heaviest } from './profile.ts';

/** The young generation shrinks at the second collection; free pages are returned some seconds later. */
const COLLECTIONS = 4;
const RETURNED_MS = 4_000;
/** Time after a report until pauses count again. */
const COUNTED_AGAIN_MS = 50;
/** Interval between two samples of the profiler, in µs. */
const SAMPLE_MICROS = 200;
const NANOS_PER_MS = 1e6;

let longestPauseMs = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) longestPauseMs = Math.max(longestPauseMs, duration);
}).observe({ entryTypes: ['gc'] });
const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();
const profiler = new Session();

process.on('message', (message: unknown) => {
  if (message === 'times') report();
  if (message === 'usage') {
    globalThis.gc?.();
    report();
  }
  if (message === 'settled usage') void settle().then(report);
  if (message === 'profile') void startProfile();
  if (message === 'end of profile') void endProfile();
});

async function settle(): Promise<void> {
  for (let collection = 0; collection < COLLECTIONS; collection += 1) {
    globalThis.gc?.();
    await sleep(RETURNED_MS);
  }
}

/** Pauses and delays are those since the last report. */
function report(): void {
  const pauseMs = longestPauseMs;
  const delayP99Ms = delay.percentile(99) / NANOS_PER_MS;
  const delayMaxMs = delay.max / NANOS_PER_MS;
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  process.send?.({
    type: 'usage',
    cpuMicros: user + system,
    residentBytes: rss,
    heapUsedBytes: heapUsed,
    peakBytes: process.resourceUsage().maxRSS * 1024,
    pauseMs,
    delayP99Ms,
    delayMaxMs,
  });
  // The monitor notes a collection right before the report only when its timer runs again.
  setTimeout(() => {
    longestPauseMs = 0;
    delay.reset();
  }, COUNTED_AGAIN_MS);
}

async function startProfile(): Promise<void> {
  profiler.connect();
  await profiler.post('Profiler.enable');
  await profiler.post('Profiler.setSamplingInterval', { interval: SAMPLE_MICROS });
  await profiler.post('Profiler.start');
  process.send?.({ type: 'profiling' });
}

async function endProfile(): Promise<void> {
  const { profile } = await profiler.post('Profiler.stop');
  profiler.disconnect();
  process.send?.({ type: 'profile', functions: heaviest(profile) });
}
