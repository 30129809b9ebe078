/** One worker process of a node as its supervisor sees it: started, replaced when it dies, stopped. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Log } from '../log.ts';
import { isWorkerMessage } from './messages.ts';
import type { SupervisorMessage, WorkerMessage } from './messages.ts';

/** Back-off before a dead worker is replaced, in ms: doubled for each death until a worker lived long. */
const REPLACE_MS = { first: 100, most: 10_000 };
/** A worker that lived for this long is no crash loop, in ms. */
const HEALTHY_MS = 30_000;
/**
 * Messages of its condition that a ready worker may miss, one a second, before it is killed because it hangs.
 * They are counted by the supervisor's timer, so that time in which the machine was suspended does not count.
 */
const MISSED_MAX = 30;

interface WorkerOptions {
  /** Name in the log. */
  name: string;
  program: string;
  args: readonly string[];
  log: Log;
  /** Called for each message of the running process. */
  onMessage(message: WorkerMessage): void;
  /** Called when a process has exited, and before it is replaced. Returns whether to replace it. */
  onExit(exit: WorkerExit): boolean;
}

/** How a process ended. */
export interface WorkerExit {
  /** Null if a signal ended it. */
  code: number | null;
  /** Whether the process had been ready. */
  wasReady: boolean;
}

/** Keeps one process running until `stop`. */
export class WorkerProcess {
  readonly #options: WorkerOptions;
  #child: ChildProcess | undefined;
  #ready = false;
  #missed = 0;
  #failures = 0;
  #startedAt = 0;
  #restart: NodeJS.Timeout | undefined;
  #stopping = false;
  #ended: PromiseWithResolvers<void> = Promise.withResolvers<void>();

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#start();
  }

  /** Resolves when no process runs and none will be started. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Whether a process runs and has been ready. */
  get isReady(): boolean {
    return this.#ready;
  }

  /** Sends a message. A message to a process that ends at this moment is lost. */
  send(message: SupervisorMessage): void {
    if (this.#child?.connected) this.#child.send(message, () => undefined);
  }

  /** Asks the process to stop, and starts no other one. */
  stop(drainMs: number): void {
    this.#stopping = true;
    clearTimeout(this.#restart);
    if (this.#child) this.send({ type: 'stop', drainMs });
    else this.#ended.resolve();
  }

  /** Kills the process if it is ready and has not reported for long. Call it once a second. */
  checkLiveness(): void {
    if (!this.#ready || this.#stopping) return;
    this.#missed += 1;
    if (this.#missed <= MISSED_MAX) return;
    this.#missed = 0;
    this.#options.log.error({ worker: this.#options.name }, 'a worker hangs and is killed');
    this.#child?.kill('SIGKILL');
  }

  #start(): void {
    const { program, args } = this.#options;
    this.#startedAt = performance.now();
    // Structured clones, because JSON has no NaN, which metrics may be.
    const child = fork(program, args, { serialization: 'advanced' });
    this.#child = child;
    child.on('message', (message) => {
      if (!isWorkerMessage(message)) return;
      this.#missed = 0;
      if (message.type === 'ready') this.#ready = true;
      this.#options.onMessage(message);
    });
    child.once('error', (error) => this.#options.log.error({ reason: error.message }, 'a worker failed'));
    child.once('exit', (code, signal) => this.#exited(code, signal));
  }

  #exited(code: number | null, signal: NodeJS.Signals | null): void {
    const exit = { code, wasReady: this.#ready };
    this.#child = undefined;
    this.#ready = false;
    this.#missed = 0;
    if (performance.now() - this.#startedAt > HEALTHY_MS) this.#failures = 0;
    const isReplaced = this.#options.onExit(exit) && !this.#stopping;
    if (!isReplaced) return this.#ended.resolve();
    const afterMs = Math.min(REPLACE_MS.most, REPLACE_MS.first * 2 ** this.#failures);
    this.#failures += 1;
    const { name, log } = this.#options;
    log.warn({ worker: name, code, signal, afterMs }, 'a worker ended and is replaced');
    this.#restart = setTimeout(() => this.#start(), afterMs);
  }
}
