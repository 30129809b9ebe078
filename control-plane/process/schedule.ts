/** Repeats work at intervals, for scheduled jobs. */

/** Work that is repeated until it is stopped. */
export interface RepeatedWork {
  /** Stops the repetition, and waits for the run in progress. */
  stop(): Promise<void>;
}

/** When work is done: every `intervalMs`, the first time after that and `offsetMs`. */
interface Times {
  intervalMs: number;
  offsetMs: number;
}

/**
 * Runs `work` at these times, never twice at once. After a failure, reports it and continues. Times that have
 * passed are left out.
 */
export function every(
  { intervalMs, offsetMs }: Times,
  work: () => Promise<unknown>,
  onError: (error: unknown) => void,
): RepeatedWork {
  let running: Promise<void> | undefined;
  const now = performance.now();
  let nextAt = now + offsetMs + intervalMs;
  const run = (): void => {
    // After a stall of the event loop, `setInterval` would lose the distance to other work.
    const lateMs = performance.now() - nextAt;
    nextAt += (1 + Math.floor(Math.max(0, lateMs) / intervalMs)) * intervalMs;
    timer = setTimeout(run, nextAt - performance.now());
    running ??= work()
      .then(() => undefined, onError)
      .finally(() => {
        running = undefined;
      });
  };
  let timer = setTimeout(run, nextAt - now);
  return {
    stop: async () => {
      clearTimeout(timer);
      await running;
    },
  };
}

/**
 * `work` with an idle time after each run of `factor` times its duration; calls during that time do nothing.
 */
export function withIdleTime(work: () => Promise<unknown>, factor: number): () => Promise<unknown> {
  let idleUntil = 0;
  return async () => {
    const startedAt = performance.now();
    if (startedAt < idleUntil) return;
    try {
      await work();
    } finally {
      idleUntil = performance.now() + factor * (performance.now() - startedAt);
    }
  };
}
