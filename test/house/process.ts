/** A child process of the house: started with IPC, known to be ready, stopped or killed on demand. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { ALLOCATOR } from '../../control-plane/local/variables.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const READY_WITHIN_MS = 60_000;
const STOPPED_WITHIN_MS = 10_000;

/** Message of a plane when it is ready to serve. */
export interface Ready {
  type: 'ready';
  port: number;
}

export interface HouseProcess {
  child: ChildProcess;
  port: number;
  /** Everything it printed goes to this file. */
  logFile: string;
  /** SIGTERM, and waits until it is gone. */
  stop(): Promise<void>;
  /** SIGKILL, and waits until it is gone. */
  kill(): Promise<void>;
}

export interface ProcessOptions {
  entry: string;
  /** Arguments of the program. */
  args?: string[];
  env: Record<string, string>;
  logFile: string;
  execArgv?: string[];
}

/**
 * Starts an entry file and resolves when it says that it is ready; rejects with its output when it exits
 * instead.
 */
export async function startProcess(options: ProcessOptions): Promise<HouseProcess> {
  const child = fork(join(ROOT, options.entry), options.args ?? [], {
    cwd: ROOT,
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      // As in every way to start a plane.
      ...ALLOCATOR,
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    execArgv: options.execArgv ?? [],
  });
  let printed = '';
  const log = createWriteStream(options.logFile, { flags: 'a' });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      printed = (printed + chunk.toString()).slice(-20_000);
    });
    stream?.pipe(log, { end: false });
  }
  const { port } = await ready(child, () => printed).catch((error: unknown) => {
    // One that is late must not take the port of the next attempt.
    child.kill('SIGKILL');
    throw error;
  });
  return {
    child,
    port,
    logFile: options.logFile,
    stop: () => end(child, 'SIGTERM'),
    kill: () => end(child, 'SIGKILL'),
  };
}

function ready(child: ChildProcess, printed: () => string): Promise<Ready> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`not ready in time:\n${printed()}`)), READY_WITHIN_MS);
    child.on('message', (message: Ready) => {
      if (message.type !== 'ready') return;
      clearTimeout(late);
      resolve(message);
    });
    child.once('exit', (code, signal) => {
      clearTimeout(late);
      reject(new Error(`exited with ${code ?? signal} before it was ready:\n${printed()}`));
    });
  });
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  const late = setTimeout(() => child.kill('SIGKILL'), STOPPED_WITHIN_MS);
  await gone;
  clearTimeout(late);
}
