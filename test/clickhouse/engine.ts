/**
 * ClickHouse for tests: the engine of the Python package chdb behind a small HTTP server. Tests that need it
 * are skipped on machines without it: `pip install chdb`, or `CHDB_PYTHON` with the path of a Python that has
 * it.
 */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const PYTHON = process.env['CHDB_PYTHON'] || 'python3';

/** Whether this machine has the engine. */
export function hasEngine(): boolean {
  const found = spawnSync(PYTHON, [
    '-c',
    'import importlib.util as u; exit(0 if u.find_spec("chdb") else 1)',
  ]);
  return found.status === 0;
}

/** A running engine with a folder of its own. */
export interface Engine {
  url: string;
  /** Ends the process with SIGKILL, as a crash does. */
  kill(): Promise<void>;
  /** Starts the process again on the same folder and port. */
  start(): Promise<void>;
  /** Ends the process and deletes the folder. */
  close(): Promise<void>;
}

/** Starts an engine without tables. */
export async function openEngine(): Promise<Engine> {
  const folder = mkdtempSync(path.join(tmpdir(), 'clickhouse-'));
  let { child, port } = await launch(folder, 0);
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    kill,
    start: async () => {
      ({ child, port } = await launch(folder, port));
    },
    close: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function launch(folder: string, wanted: number): Promise<{ child: ChildProcess; port: number }> {
  const script = path.join(import.meta.dirname, 'engine.py');
  const child = spawn(PYTHON, [script, folder, String(wanted)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout?.once('data', (text: Buffer) => resolve(Number(text.toString())));
    child.once('exit', (code) => reject(new Error(`The engine ended with ${code} before it was ready.`)));
  });
  return { child, port };
}
