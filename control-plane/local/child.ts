/**
 * A child process that is watched: its log goes to a file, it says when it is ready, it is restarted when it
 * dies.
 */
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
/** A child that lived this long starts its series of restarts anew. */
const HEALTHY_AFTER_MS = 30_000;
const LOG_MAX_BYTES = 20 * 1024 * 1024;
const LOG_CHECK_MS = 60_000;
const LOG_TAIL_LINES = 8;

export interface ChildPlan {
  /** What people call it, e.g. `control plane`. */
  name: string;
  /** Arguments for node: the program and its own arguments. */
  command: string[];
  /** Asked at every start, since a restart may need newer values. */
  environment: () => NodeJS.ProcessEnv;
  logFile: string;
  /** Told in one sentence when the child died and is started again. */
  onRestart: (sentence: string) => void;
}

export interface Child {
  /** What the child said when it became ready for the first time. Rejects when it ends before that. */
  ready: Promise<unknown>;
  /** Asks the child to end and kills it when it has not after `limitMs`; returns when it is gone. */
  stop(limitMs: number): Promise<void>;
}

/**
 * Starts the child in a process group of its own, so that Ctrl-C in the terminal reaches us alone and we
 * decide the order of the stop. The child has to end by itself when the channel to us closes, as when we are
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

  /** Resolves with the ready message of this very process. */
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
            `The ${plan.name} did not start (${signal ?? `code ${code}`}).\n${tailOf(plan.logFile, begin)}`,
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
    onRestart(`The ${name} ended (${signal ?? `code ${code}`}); starting it again. Why: ${logFile}`);
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

/** Moves a full log aside, once; children append, so they go on at the beginning of the emptied file. */
function limitLog(file: string): void {
  if (!existsSync(file) || statSync(file).size < LOG_MAX_BYTES) return;
  copyFileSync(file, `${file}.1`);
  truncateSync(file);
}

/**
 * The last lines of the log that were written since it had `begin` bytes, without the places in the code,
 * which say nothing to who reads them in a terminal.
 */
function tailOf(file: string, begin: number): string {
  const lines = readFileSync(file).subarray(begin).toString('utf8').trimEnd().split('\n');
  return lines
    .filter((line) => !/^\s+at /.test(line))
    .slice(-LOG_TAIL_LINES)
    .join('\n');
}
