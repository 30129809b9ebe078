/** The arguments by which a supervisor tells a process its task. They are no settings of operators. */
import { parseArgs } from 'node:util';
import { WORKERS_MAX } from '@gateway/shared/worker-token';
import type { Worker } from '../workers/worker.ts';

/** The task of a worker process. */
export type WorkerTask =
  /** Serves requests at the port that all workers share. */
  | { type: 'serve'; worker: Worker; port: number }
  /** Settles the journal of a worker that the node no longer has. */
  | { type: 'settle'; number: number };

/** The arguments of a worker process. */
export function argumentsOf(task: WorkerTask): string[] {
  if (task.type === 'settle') return ['--settle', String(task.number)];
  const { worker, port } = task;
  return ['--worker', String(worker.number), '--of', String(worker.of), '--port', String(port)];
}

/** The task of this process; undefined if no supervisor started it. Throws an Error for bad numbers. */
export function taskOf(args: readonly string[]): WorkerTask | undefined {
  const option = { type: 'string' } as const;
  const options = { worker: option, of: option, port: option, settle: option };
  const { values } = parseArgs({ args: [...args], options });
  if (values.settle !== undefined) return { type: 'settle', number: wholeNumber(values.settle, WORKERS_MAX) };
  if (values.worker === undefined) return undefined;
  const of = wholeNumber(values.of, WORKERS_MAX);
  const worker = { number: wholeNumber(values.worker, of), of };
  return { type: 'serve', worker, port: wholeNumber(values.port, 65_535) };
}

function wholeNumber(text: string | undefined, most: number): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1 || value > most)
    throw new Error(`"${text}" is no number from 1 to ${most}: set WORKERS instead of arguments`);
  return value;
}
