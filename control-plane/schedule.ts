/** Work that is done again and again beside requests. */

/** What ends repeated work. */
export interface Repeated {
  /** Ends it, and waits for what is under way. */
  stop(): Promise<void>;
}

/** Runs `work` every `intervalMs`, never twice at once; a failure is told, and it goes on. */
export function every(
  intervalMs: number,
  work: () => Promise<unknown>,
  onError: (error: unknown) => void,
): Repeated {
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= work()
      .then(() => undefined, onError)
      .finally(() => {
        running = undefined;
      });
  }, intervalMs);
  return {
    stop: async () => {
      clearInterval(timer);
      await running;
    },
  };
}

/** Leaves out runs until `work` has rested for `times` what it took. */
export function restingAfter(work: () => Promise<unknown>, times: number): () => Promise<unknown> {
  let restUntil = 0;
  return async () => {
    const startedAt = performance.now();
    if (startedAt < restUntil) return;
    try {
      await work();
    } finally {
      restUntil = performance.now() + times * (performance.now() - startedAt);
    }
  };
}
