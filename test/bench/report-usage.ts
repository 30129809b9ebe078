/** Preloaded into every measured process: answers the parent's `usage` with the process's own accounting. */

process.on('message', (message: unknown) => {
  if (message !== 'usage') return;
  globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  process.send?.({ type: 'usage', cpuMicros: user + system, residentBytes: process.memoryUsage.rss() });
});
