/** Supervises a child process: logs to a file, waits until it is ready, and restarts it when it exits. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { performance } from 'node:perf_hooks';

const READY_LIMIT_MS = 60_000;
const RESTART_FIRST_MS = 200;
const RESTART_MAX_MS = 10_000;
/** If a child ran longer than this, the delay of restarts starts over. */
const HEALTHY_AFTER_MS = 30_000;
const LOG_MAX_BYTES = 20 * 1024 * 1024;
const LOG_CHECK_MS = 60_000;
const LOG_TAIL_LINES = 8;

interface ChildPlan {
  /** Name in messages, e.g. `control plane`. */
  name: string;
  /** Arguments for node: the program and its arguments. */
  command: string[];
  /** The environment, read at every start because a restart may need new values. */
  environment: () => NodeJS.ProcessEnv;
  logFile: string;
  /** Receives one sentence when the child exited and is restarted. */
  onRestart: (sentence: string) => void;
}

/** A supervised child process. */
export interface Child {
  /** The ready message of the child's first start. Rejects if the child exits before it is ready. */
  ready: Promise<unknown>;
  /** Sends SIGTERM, and SIGKILL after `limitMs`. Resolves when the child has exited. */
  stop(limitMs: number): Promise<void>;
}

/**
 * Starts the child in its own process group, so that Ctrl-C reaches only this process, which decides the
 * order of stopping. The child must exit by itself when its IPC channel closes, because this process may be
 * killed.
 */
export function superviseChild(plan: ChildPlan): Child {
  return new SupervisedChild(plan);
}

class SupervisedChild implements Child {
  readonly ready: Promise<unknown>;
  private readonly plan: ChildPlan;
  private process: ChildProcess | undefined;
  private stopping = false;
  private failures = 0;
  private timer: NodeJS.Timeout | undefined;
  private readonly logTimer: NodeJS.Timeout;

  constructor(plan: ChildPlan) {
    this.plan = plan;
    this.ready = this.start();
    this.logTimer = setInterval(() => {
      limitLog(plan.logFile);
    }, LOG_CHECK_MS);
    this.logTimer.unref();
  }

  async stop(limitMs: number): Promise<void> {
    this.stopping = true;
    clearTimeout(this.timer);
    clearInterval(this.logTimer);
    const child = this.process;
    if (!child || hasEnded(child)) return;
    const ended = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
    });
    child.kill('SIGTERM');
    const kill = setTimeout(() => {
      child.kill('SIGKILL');
    }, limitMs);
    await ended;
    clearTimeout(kill);
  }

  /** Starts one process, and resolves with its ready message. */
  private start(): Promise<unknown> {
    const { plan } = this;
    limitLog(plan.logFile);
    const log = openSync(plan.logFile, 'a', 0o600);
    chmodSync(plan.logFile, 0o600);
    const begin = fstatSync(log).size;
    const startedAt = performance.now();
    const child = spawn(process.execPath, plan.command, {
      env: plan.environment(),
      detached: true,
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    this.process = child;
    return new Promise((resolve, reject) => {
      let isReady = false;
      const timer = setTimeout(() => {
        child.kill('SIGKILL');
      }, READY_LIMIT_MS);
      child.on('message', (message) => {
        if (isReady || !isReadyMessage(message)) return;
        isReady = true;
        clearTimeout(timer);
        resolve(message);
      });
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        clearTimeout(timer);
        reject(
          new Error(
            `The ${plan.name} did not start (${signal ?? `code ${code}`}). The end of ${plan.logFile}:\n` +
              tailOf(plan.logFile, begin),
          ),
        );
        if (isReady || this.failures > 0) this.restartLater(code, signal, performance.now() - startedAt);
      });
    });
  }

  private restartLater(code: number | null, signal: string | null, livedMs: number): void {
    if (this.stopping) return;
    if (livedMs > HEALTHY_AFTER_MS) this.failures = 0;
    const waitMs = Math.min(RESTART_FIRST_MS * 2 ** this.failures, RESTART_MAX_MS);
    this.failures += 1;
    const { name, logFile, onRestart } = this.plan;
    onRestart(`The ${name} exited (${signal ?? `code ${code}`}) and is restarted. See ${logFile}`);
    this.timer = setTimeout(() => {
      this.start().catch(() => undefined);
    }, waitMs);
  }
}

function isReadyMessage(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === 'ready';
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Copies a full log to `.1` and empties it; the child continues to append to the same file. */
function limitLog(file: string): void {
  if (!existsSync(file) || statSync(file).size < LOG_MAX_BYTES) return;
  copyFileSync(file, `${file}.1`);
  truncateSync(file);
}

/** The last lines that were written after the first `begin` bytes, without stack traces. */
function tailOf(file: string, begin: number): string {
  const lines = readFileSync(file).subarray(begin).toString('utf8').trimEnd().split('\n');
  return lines
    .filter((line) => !/^\s+at /.test(line))
    .slice(-LOG_TAIL_LINES)
    .join('\n');
}
