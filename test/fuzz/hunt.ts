/** Fuzzes one target in a thread of its own, and watches that no input takes longer than a second. */
import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Crash } from './crash.ts';
import { RunningInput } from './running-input.ts';
import type { TargetName } from './target.ts';

/** CPU time of one input after which it counts as a hang. CPU time, because the machine may be busy. */
const HANG_CPU_MICROS = 1_000_000;
/** Time without progress after which an input counts as a hang even if it uses no CPU. */
const HANG_MS = 20_000;
const WATCH_MS = 100;
/** Heap of the thread in MB. An input that needs more is a crash. */
const HEAP_MB = 1_024;

export interface HuntOptions {
  target: TargetName;
  seed: number;
  milliseconds: number;
  /** Number of inputs after which the run ends, instead of the time. */
  inputs?: number;
  /** Whether recorded traffic is added to the seeds. */
  recorded: boolean;
}

export interface Progress {
  inputs: number;
  seconds: number;
  /** Counters that were reached, out of `counters`. */
  reached: number;
  counters: number;
  /** Inputs that reached something new. */
  corpus: number;
  slowestMs: number;
}

export type WorkerMessage =
  | { type: 'progress' | 'done'; progress: Progress }
  | { type: 'crash'; crash: Crash };

export interface Hunted {
  progress: Progress;
  crashes: Crash[];
}

/** Fuzzes until the time is over. Every few seconds it calls `report`. */
export async function hunt(options: HuntOptions, report?: (progress: Progress) => void): Promise<Hunted> {
  const memory = RunningInput.memory();
  const running = new RunningInput(memory);
  const hunted: Hunted = { progress: NO_PROGRESS, crashes: [] };
  const worker = new Worker(join(import.meta.dirname, 'worker.ts'), {
    workerData: { ...options, running: memory },
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const end = once(worker, 'exit');
  let isDone = false;
  let hasFailed = false;
  const add = (signature: string, text: string): void => {
    hasFailed = true;
    hunted.crashes.push({ input: running.input, signature, text });
  };
  worker.on('message', (message: WorkerMessage) => {
    if (message.type === 'crash') hunted.crashes.push(message.crash);
    else hunted.progress = message.progress;
    if (message.type === 'done') isDone = true;
    if (message.type === 'progress') report?.(message.progress);
  });
  worker.on('error', (error: Error) =>
    add(`the thread died: ${error.message}`, error.stack ?? error.message),
  );
  const watch = watchForHang(running, () => {
    add('the input hangs', 'The input takes longer than a second.');
    void worker.terminate();
  });
  await end;
  // A promise that never settles leaves the thread without work, so it ends early.
  if (!isDone && !hasFailed) add('the input never ends', 'A promise never settled.');
  clearInterval(watch);
  return hunted;
}

const NO_PROGRESS: Progress = { inputs: 0, seconds: 0, reached: 0, counters: 0, corpus: 0, slowestMs: 0 };

/** Calls `onHang` once. This process runs nothing beside the thread, so its CPU time is the thread's. */
function watchForHang(running: RunningInput, onHang: () => void): NodeJS.Timeout {
  let count = 0;
  let cpu = process.cpuUsage();
  let since = performance.now();
  let isReported = false;
  return setInterval(() => {
    if (running.count !== count || count === 0) {
      count = running.count;
      cpu = process.cpuUsage();
      since = performance.now();
      return;
    }
    const used = process.cpuUsage(cpu);
    const hangs = used.user + used.system > HANG_CPU_MICROS || performance.now() - since > HANG_MS;
    if (!hangs || isReported) return;
    isReported = true;
    onHang();
  }, WATCH_MS);
}
